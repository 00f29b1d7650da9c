# SPDX-License-Identifier: Apache-2.0
"""Source lines around the places of a finding, read while the files are still what they were.

A log or a document that somebody sent may name any file, and a report is made to be passed on. So
only what is source code by its name is read.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

from eitherway.model.finding import Excerpt, Finding, Frame
from eitherway.model.names import in_library

LARGEST = 8 << 20  # bytes of a source file
WIDEST = 160  # signs of a line
_LINES = 160  # of one finding
_AROUND_FIRST, _AROUND = 4, 1  # lines before and behind that of a frame
_FRAMES = 6  # of a stack
_SOURCES = frozenset(
    {".c", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inc"}
    | {".inl", ".ipp", ".tcc", ".m", ".mm", ".s", ".S", ".y", ".l", ".i", ".ii", ".cu", ".go"}
    | {".rs", ".py", ".d", ".zig", ".swift", ".adb", ".ads", ".f", ".f90", ".f95", ".F90"}
)


class Sources:
    """Reads files that frames name: as they are named, or below one of these folders."""

    def __init__(self, folders: Sequence[str] = ()) -> None:
        self._folders = tuple(map(Path, folders))
        self.lines = lru_cache(maxsize=256)(self._lines)

    def _lines(self, file: str) -> tuple[str, ...]:
        """None of them when it cannot be read or is no source code."""
        if PurePosixPath(file).suffix not in _SOURCES or "\0" in file:
            return ()
        for path in self._candidates(file):
            if data := _content(path):
                return _text_lines(data)
        return ()

    def _candidates(self, file: str) -> Iterator[Path]:
        """As named; else the longest end of the name that is below a folder."""
        yield Path(file)
        parts = [part for part in PurePosixPath(file).parts if part not in ("/", "..")]
        for start in range(len(parts)):
            yield from (folder.joinpath(*parts[start:]) for folder in self._folders)


def with_code(findings: Iterable[Finding], sources: Sources) -> tuple[Finding, ...]:
    """The findings, those that have no source lines with them."""
    return tuple(
        finding if finding.code else replace(finding, code=tuple(_excerpts(finding, sources)))
        for finding in findings
    )


def _excerpts(finding: Finding, sources: Sources) -> Iterator[Excerpt]:
    room = _LINES
    for file, wanted in _wanted(finding).items():
        lines = sources.lines(file)
        numbers = [n for n in sorted(wanted) if n <= len(lines)][:room]
        room -= len(numbers)
        for first, last in _runs(numbers):
            text = tuple(line[:WIDEST] for line in lines[first - 1 : last])
            yield Excerpt(file, first, text)


def _wanted(finding: Finding) -> Mapping[str, set[int]]:
    """Numbers of lines, by file; what matters most is asked for first."""
    wanted: dict[str, set[int]] = {}

    def want(frame_file: str, line: int, around: int) -> None:
        if frame_file and line:
            numbers = range(max(1, line - around), line + around + 1)
            wanted.setdefault(frame_file, set()).update(numbers)

    for operation in finding.operations:
        for number, frame in enumerate(_own(operation.stack)):
            want(frame.file, frame.line, _AROUND if number else _AROUND_FIRST)
    for moment in finding.history.moments:
        want(moment.place.file, moment.place.line, 0)
    for operation in finding.operations:
        for frame in (*_own(operation.created)[:1], *_own(operation.allocated)[:1]):
            want(frame.file, frame.line, _AROUND)
    return wanted


def _own(stack: Sequence[Frame]) -> list[Frame]:
    return [frame for frame in stack if not in_library(frame)][:_FRAMES]


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each row of numbers without a gap."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            yield numbers[start], numbers[end - 1]
            start = end


def _content(path: Path) -> bytes:
    """Of an ordinary file; a pipe or a device of that name is not even opened."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return b""
        return path.read_bytes()
    except (OSError, ValueError):
        return b""


def _text_lines(data: bytes) -> tuple[str, ...]:
    if b"\0" in data:
        return ()
    text = data.decode("utf-8", errors="replace").expandtabs(4)
    return tuple(line.rstrip("\r") for line in text.split("\n"))
