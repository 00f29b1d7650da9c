# SPDX-License-Identifier: Apache-2.0
"""Findings out of one log, whichever tools wrote into it; what was not to be read is told."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import BinaryIO

from eitherway.errors import BadInput
from eitherway.findings.merge import stamped
from eitherway.logs import go, kcsan, tsan, valgrind
from eitherway.logs.blocks import Block, Blocks, Tool
from eitherway.logs.valgrind_xml import ValgrindXml, is_xml
from eitherway.model.finding import Finding, Source
from eitherway.model.identity import identified
from eitherway.model.text import printable

_LINE = 1 << 16  # bytes: what is longer goes on as a line of its own

_READERS: dict[Tool, Callable[[Block], Finding | None]] = {
    Tool.TSAN: tsan.finding_of,
    Tool.GO: go.finding_of,
    Tool.KCSAN: kcsan.finding_of,
    Tool.HELGRIND: valgrind.finding_of,
    Tool.DRD: valgrind.finding_of,
}
KNOWN = "ThreadSanitizer (C, C++, Go), Helgrind, DRD or KCSAN"


class Log:
    """One log. After its findings were taken, `notes` and `problem` say what else there was."""

    def __init__(self, stream: BinaryIO, name: str, *, head: bytes, when: str) -> None:
        """`head` is what the stream begins with; `when` is the time of the log."""
        self._stream = stream
        self._name = name
        self._head = head
        self._when = when
        self._reports: Counter[Tool] = Counter()
        self._unread = self._cut = 0
        self._trouble = ""
        self._known = False

    def findings(self) -> Iterator[Finding]:
        """As they are read: memory does not grow with the log."""
        return self._from_xml() if is_xml(self._head) else self._from_text()

    def _from_text(self) -> Iterator[Finding]:
        blocks = Blocks(_lines(self._stream))
        for block in blocks:
            found = _READERS[block.tool](block)
            self._cut += not block.whole and found is not None
            yield from self._told(found, block.tool)
        self._known = blocks.known

    def _from_xml(self) -> Iterator[Finding]:
        document = ValgrindXml(self._stream)
        for found in document:
            yield from self._told(found, document.tool or Tool.HELGRIND)
        self._known, self._trouble = document.tool is not None, document.trouble

    def _told(self, found: Finding | None, tool: Tool) -> Iterator[Finding]:
        self._reports[tool] += 1
        if found is None:
            self._unread += 1
            return
        source = Source(tool.value, printable(self._name))
        yield stamped(identified(replace(found, sources=(source,))), self._when)

    @property
    def notes(self) -> list[str]:
        """What was read, and what was not."""
        told = [f"{count:,} of {tool.value}" for tool, count in sorted(self._reports.items())]
        also = {
            f"not to be read, or about something else: {self._unread:,} of them": self._unread,
            f"cut off, and read as far as they go: {self._cut:,} of them": self._cut,
            f"it could be read only up to a point: {self._trouble}": self._trouble,
        }
        words = [f"reports: {', '.join(told) or 'none'}", *(w for w, so in also.items() if so)]
        return [f"{self._name}: {one}" for one in words]

    @property
    def problem(self) -> BadInput | None:
        """Why nothing could be made of it at all."""
        if self._known:
            return None
        if not self._head:
            return BadInput(f"{self._name} is empty", fix=_ACCEPT)
        if self._trouble:
            return BadInput(f"{self._name} is XML, and none of Helgrind or DRD: {self._trouble}")
        for begins, what, command in _ELSEWISE:
            if self._head.startswith(begins):
                return BadInput(
                    f"{self._name} is {what}", fix=f"{command} {self._name} | eitherway report -"
                )
        what = "is binary, and has" if b"\0" in self._head else "has"
        return BadInput(
            f"{self._name} {what} no report of {KNOWN}; it is no findings document either",
            fix=_ACCEPT,
        )


_ACCEPT = "add --allow-clean, if logs without any report are fine"
_ELSEWISE = (  # how a file begins, what it is, and what makes a log of it
    (b"\x1f\x8b", "compressed", "zcat"),
    (b"\xfd7zXZ\0", "compressed", "xzcat"),
    (b"BZh", "compressed", "bzcat"),
    (b"\x28\xb5\x2f\xfd", "compressed", "zstdcat"),
    (b"\xff\xfe", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8"),
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[mK]")


def _lines(stream: BinaryIO) -> Iterator[str]:
    """Without their ends and colours; bytes that are not UTF-8 stay told apart."""
    for line in iter(partial(stream.readline, _LINE), b""):
        text = line.decode("utf-8", errors="surrogateescape")
        yield (_COLOUR.sub("", text) if "\x1b" in text else text).rstrip()
