# SPDX-License-Identifier: Apache-2.0
"""Cuts a log into the blocks that are reports; everything else is passed over.

Memory does not grow with the log: one line and the block that is being read are held.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

LONGEST = 2000  # lines of a block: a report has a few stacks of some 200 frames
PROCESSES = 1000  # of Valgrind that write into one log at a time


class Tool(StrEnum):
    """Who wrote a report."""

    TSAN = "ThreadSanitizer"
    GO = "Go race detector"
    KCSAN = "KCSAN"
    HELGRIND = "Helgrind"
    DRD = "DRD"


@dataclass(slots=True)
class Block:
    """The lines of one report, without what a logger put before them."""

    tool: Tool
    lines: list[str] = field(default_factory=list)
    whole: bool = True
    created: Mapping[str, Sequence[str]] = field(default_factory=dict)  # stacks, by thread


_BEGINS = re.compile(
    r"(?P<TSAN>(?:WARNING|ERROR|FATAL): ThreadSanitizer|ThreadSanitizer: CHECK failed)"
    r"|(?P<GO>WARNING: DATA RACE$)|(?P<KCSAN>BUG: KCSAN: )"
)
_ENDS = {
    Tool.TSAN: re.compile(r"SUMMARY: ThreadSanitizer: |={18}$"),
    Tool.GO: re.compile(r"={18}$"),
    Tool.KCSAN: re.compile(r"={30,}$"),
}
_OF_VALGRIND = re.compile(r"(?<!=)==(\d+)==(?: (.*))?$")
_DIGITS = re.compile(r"\d")
_KERNEL_TIME = re.compile(r"(?:<\d+>)?\[ *\d+\.\d+\](?:\[ *[A-Z]?\d+\])? ?")


class Blocks:
    """Of one log; `known` says whether there was any sign of one of the tools."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self._open: Block | None = None
        self._prefix = _Prefix("")
        self._valgrind: dict[str, _Valgrind] = {}
        self.known = False

    def __iter__(self) -> Iterator[Block]:
        """Each block when its last line was read."""
        for line in self._lines:
            if "==" in line and (found := _OF_VALGRIND.search(line)):
                yield from self._of_valgrind(found[1], found[2] or "")
            elif "ThreadSanitizer" in line or "DATA RACE" in line or "KCSAN" in line:
                yield from self._maybe_new(line)
            elif self._open is not None:
                yield from self._more(line)
        yield from self._close(whole=False)
        for process in self._valgrind.values():
            yield from process.end(whole=False)

    def _maybe_new(self, line: str) -> Iterator[Block]:
        found = _BEGINS.search(line)
        if found is None:
            yield from self._more(line)
            return
        yield from self._close(whole=False)
        self.known = True
        self._prefix = _Prefix(line[: found.start()])
        self._open = Block(Tool[str(found.lastgroup)], [line[found.start() :]])

    def _more(self, line: str) -> Iterator[Block]:
        if self._open is None:
            return
        line = self._prefix.cut(line)
        if _ENDS[self._open.tool].match(line):
            yield from self._close(whole=True)
        elif len(self._open.lines) < LONGEST:
            self._open.lines.append(line)
        else:
            yield from self._close(whole=False)

    def _close(self, *, whole: bool) -> Iterator[Block]:
        if self._open is not None:
            self._open.whole = whole
            yield self._open
            self._open = None

    def _of_valgrind(self, process: str, line: str) -> Iterator[Block]:
        if process not in self._valgrind:
            if len(self._valgrind) >= PROCESSES:  # the oldest has not been heard of for long
                yield from self._valgrind.pop(next(iter(self._valgrind))).end(whole=False)
            self._valgrind[process] = _Valgrind()
        one = self._valgrind[process]
        yield from one.line(line)
        self.known |= one.tool is not None
        if line.startswith("ERROR SUMMARY: "):  # its last words
            yield from one.end(whole=True)
            del self._valgrind[process]


class _Prefix:
    """What a logger puts before each line of a report: a time, a name, the number of a test."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._shape = _DIGITS.sub("0", text)

    def cut(self, line: str) -> str:
        if not self._length:
            return line
        if _DIGITS.sub("0", line[: self._length]) == self._shape:
            return line[self._length :]
        if line.rstrip() == self._shape.rstrip():
            return ""
        return _KERNEL_TIME.sub("", line, count=1)


_OF_HELGRIND = re.compile(r"Possible data race during |Thread #\d+|---Thread-Announcement")
_OF_DRD = re.compile(r"Conflicting (?:load|store) by thread ")
_WHICH_THREAD = re.compile(r"Thread \d+:$")
_CREATED = re.compile(r"Thread #(\d+) was created")
_FRAME = re.compile(r"\s*at 0x")


class _Valgrind:
    """One process under Helgrind or DRD: errors are divided by empty lines and rules.

    An error of Helgrind goes over several paragraphs; those begin with a sign of their own. What
    has no stack is no error.
    """

    _CONTINUES = re.compile(
        r" ?(?:This conflicts with|Required order was|Observed \(incorrect\)| ?followed by a later"
        r"| ?Lock at 0x| ?Address 0x| ?Block was| ?Other segment| ?Locks? held)"
    )

    def __init__(self) -> None:
        self.tool: Tool | None = None
        self._open: Block | None = None
        self._paused = False
        self._created: dict[str, list[str]] = {}

    def line(self, line: str) -> Iterator[Block]:
        if not self._is_told(line):
            return
        if not line.strip() or line.startswith("---"):
            if line.startswith("---"):
                yield from self.end(whole=True)
            self._paused = True
            return
        if self._paused and self._open is not None and not self._CONTINUES.match(line):
            yield from self.end(whole=True)
        self._paused = False
        if _WHICH_THREAD.match(line):  # of DRD, before its error
            return
        self._open = self._open or Block(self.tool or Tool.HELGRIND)
        if len(self._open.lines) < LONGEST:
            self._open.lines.append(line)

    def _is_told(self, line: str) -> bool:
        """Whether it is known which tool this is; without its first words, by what it says."""
        if line.startswith(("Helgrind,", "drd,")):
            self.tool = Tool.HELGRIND if line.startswith("H") else Tool.DRD
            return False
        if self.tool is None and _OF_HELGRIND.match(line):
            self.tool = Tool.HELGRIND
        elif self.tool is None and _OF_DRD.match(line):
            self.tool = Tool.DRD
        return self.tool is not None

    def end(self, *, whole: bool) -> Iterator[Block]:
        block, self._open = self._open, None
        if block is None or not any(map(_FRAME.match, block.lines)):
            return
        if found := _CREATED.match(block.lines[0]):
            if len(self._created) < LONGEST:
                self._created[found[1]] = block.lines[1:]
            return
        block.whole, block.created = whole, self._created
        yield block
