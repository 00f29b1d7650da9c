# SPDX-License-Identifier: Apache-2.0
"""What other tools tell of a program of the corpus: gcc's libtsan and Valgrind's Helgrind.

They watch runs as they come, so each is given the same time and runs the program again and again. A
run that dies or does not end has told something too. They are held to less than we are: see
`is_the_same_bug`.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.corpus.checked import FLAGS, compiled
from tests.corpus.expect import Expectation, Truth
from tests.corpus.told import Comparison, Told, line_in

from eitherway.model.finding import Frame
from eitherway.model.words import Kind

HUNG = 3.0  # seconds after which a run does not end any more
_COMPILERS = {".c": "gcc", ".cc": "g++"}
_QUIET = "exitcode=0:report_thread_leaks=0:second_deadlock_stack=1"


@dataclass(frozen=True, slots=True)
class Rival:
    """A tool."""

    name: str
    flags: tuple[str, ...]
    run: Callable[[Path, Truth], Iterator[Told]]

    def build(self, source: Path, program: Path) -> None:
        """As its manual says."""
        command = [_COMPILERS[source.suffix], *FLAGS[source.suffix], "-pthread", *self.flags]
        compiled(command, source, program)

    def told(self, program: Path, truth: Truth, seconds: float) -> set[Told]:
        """All that it tells in this time; at least of one run."""
        until = monotonic() + seconds
        told = set(self.run(program, truth))
        while monotonic() < until:
            told.update(self.run(program, truth))
        return told


def rivals() -> list[Rival]:
    """Those that this machine has."""
    every = [Rival("libtsan", ("-fsanitize=thread",), _libtsan)]
    if shutil.which("valgrind"):
        every.append(Rival("Helgrind", (), _helgrind))
    return every


def judged(truth: Truth, told: Iterable[Told]) -> Comparison:
    """What of it is true, generously: one report may tell of several things, and often."""
    told = list(told)
    known = (*truth.expected, *truth.allowed)
    found = [e for e in truth.expected if any(is_the_same_bug(e, one) for one in told)]
    missed = [e for e in truth.expected if e not in found]
    false = [one for one in told if not any(is_the_same_bug(e, one) for e in known)]
    return Comparison(tuple(found), tuple(missed), tuple(false))


_ALIKE = (
    {Kind.DATA_RACE, Kind.MEMORY_ERROR},
    {Kind.DEADLOCK, Kind.LOST_WAKEUP, Kind.HANG, Kind.LOCK_MISUSE},
    {Kind.FAILURE},
)


def is_the_same_bug(expected: Expectation, told: Told) -> bool:
    """A sort of thing that is near enough, and one of its lines; a run that hung needs none."""
    alike = any(told.kind in kinds and expected.kinds & kinds for kinds in _ALIKE)
    if told.kind is Kind.FAILURE:
        return alike and told.words == expected.ending
    marked = frozenset[int]().union(*expected.sites)
    return alike and (told.kind is Kind.HANG or bool(marked.intersection(told.lines)))


def _ended(command: list[str], **environment: str) -> tuple[str, list[Told]]:
    """What a run wrote to standard error, and what its end tells."""
    with subprocess.Popen(
        ["/usr/bin/env", *(f"{name}={value}" for name, value in environment.items()), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            _, said = process.communicate(timeout=HUNG)
        except subprocess.TimeoutExpired:
            _kill(process.pid)
            _, said = process.communicate()
            return said, [Told(Kind.HANG, ())]
    _kill(process.pid)  # what it forked and left
    return said, _end_of(process.returncode)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _end_of(code: int) -> list[Told]:
    if code == 0:
        return []
    words = signal.Signals(-code).name if code < 0 else f"exit:{code}"
    return [Told(Kind.FAILURE, (), words=words)]


# --- libtsan

_TSAN_KINDS = (
    ("data race", Kind.DATA_RACE),
    ("heap-use-after-free", Kind.MEMORY_ERROR),
    ("race on external object", Kind.DATA_RACE),
    ("lock-order-inversion", Kind.DEADLOCK),
    ("double lock", Kind.DEADLOCK),
    ("mutex", Kind.LOCK_MISUSE),
)
_TSAN_FRAME = re.compile(r"^    #\d+ (\S+).* (\S+?):(\d+)(?::\d+)? \(")
_TSAN_GLOBAL = re.compile(r"Location is global '([^']+)'")


def _libtsan(program: Path, truth: Truth) -> Iterator[Told]:
    said, ended = _ended([str(program)], TSAN_OPTIONS=_QUIET)
    yield from ended
    for report in said.split("==================\n"):
        if (kind := _tsan_kind(report)) is not None:
            yield _tsan_told(kind, report, truth.source)


def _tsan_kind(report: str) -> Kind | None:
    title = re.search(r"WARNING: ThreadSanitizer: (.*) \(pid", report)
    return next((k for words, k in _TSAN_KINDS if title and words in title[1]), None)


def _tsan_told(kind: Kind, report: str, source: Path) -> Told:
    names = frozenset(_TSAN_GLOBAL.findall(report))
    lines = [
        line
        for part in report.split("\n\n")
        if not _is_background(part)
        for line in [line_in(_tsan_frames(part), source)]
        if line
    ]
    return Told(kind, tuple(sorted(lines)), names)


def _is_background(part: str) -> bool:
    """Where threads, blocks and locks come from is not where it happened."""
    head = next((line for line in part.splitlines() if line.startswith("  ")), "")
    return "created" in head or "Location is" in head


def _tsan_frames(part: str) -> Iterator[Frame]:
    for text in part.splitlines():
        if match := _TSAN_FRAME.match(text):
            yield Frame(function=match[1], file=match[2], line=int(match[3]))


# --- Helgrind

_HELGRIND_KINDS = {"Race": Kind.DATA_RACE, "LockOrder": Kind.DEADLOCK}


def _helgrind(program: Path, truth: Truth) -> Iterator[Told]:
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        log = Path(folder) / "log.%p.xml"
        command = ["valgrind", "--tool=helgrind", "--xml=yes", f"--xml-file={log}", str(program)]
        _, ended = _ended(command)
        yield from ended
        for file in Path(folder).glob("*.xml"):
            text = file.read_text(encoding="utf-8", errors="replace")
            for error in re.findall(r"<error>.*?</error>", text, re.DOTALL):
                yield _helgrind_told(ET.fromstring(error), truth.source)  # noqa: S314 (valgrind's)


def _helgrind_told(error: ET.Element, source: Path) -> Told:
    kind = _HELGRIND_KINDS.get(error.findtext("kind", ""), Kind.LOCK_MISUSE)
    stacks = [list(_helgrind_frames(stack)) for stack in error.findall("stack")]
    lines = [line for stack in stacks[:2] if (line := line_in(stack, source))]
    return Told(kind, tuple(sorted(lines)))


def _helgrind_frames(stack: ET.Element) -> Iterator[Frame]:
    for frame in stack.findall("frame"):
        yield Frame(
            function=frame.findtext("fn", ""),
            file=frame.findtext("file", ""),
            line=int(frame.findtext("line", "0")),
        )
