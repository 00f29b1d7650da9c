# SPDX-License-Identifier: Apache-2.0
"""What a program wrote: all of it compared, only the beginning kept.

Of the rest there is a chain: digests of all up to so many bytes. Two of them tell in which part two
outputs begin to differ; who wants to see it does the run again and keeps that part.
"""

import hashlib
import zlib
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import numpy as np

KEPT = 1 << 20  # bytes
_COUNTS = 256 * 8
_BLOCK = 1 << 16  # bytes, at first
_MARKS = 256  # of a chain, at most: then its blocks become twice as large
_SHOWN = 60  # bytes of a line


class Mark(NamedTuple):
    """All up to the end of a block."""

    digest: bytes
    lines: int


@dataclass(frozen=True, slots=True)
class Chain:
    """A mark behind each whole block."""

    block: int = _BLOCK  # bytes
    marks: tuple[Mark, ...] = ()

    def common(self, other: "Chain") -> tuple[int, int]:
        """Bytes that are known to be the same, and the lines that they have."""
        block = max(self.block, other.block)
        pairs = zip(self._each(block), other._each(block), strict=False)
        same = [one for one, _ in takewhile(lambda two: two[0] == two[1], pairs)]
        return len(same) * block, same[-1].lines if same else 0

    def _each(self, block: int) -> tuple[Mark, ...]:
        every = block // self.block
        return self.marks[every - 1 :: every]


@dataclass(frozen=True, slots=True)
class Captured:
    """Equal when every byte was equal."""

    size: int = 0
    digest: str = hashlib.sha256(b"").hexdigest()
    unordered: str = hashlib.sha256(bytes(_COUNTS)).hexdigest()  # how often each byte came
    beginning: bytes = field(default=b"", compare=False)
    crc: int = field(default=0, compare=False)  # as a survey tells it
    chain: Chain = field(default=Chain(), compare=False)
    later: bytes = field(default=b"", compare=False)  # another part that was to be kept
    start: int = field(default=0, compare=False)  # of that part

    def up_to(self, other: "Captured", cut: bool) -> "Captured":
        """The other, when these are `cut` and the one begins as the whole of the other."""
        shorter = min(len(self.beginning), len(other.beginning))
        same = self.beginning[:shorter] == other.beginning[:shorter]
        return other if cut and same else self

    @property
    def lines(self) -> str:
        """The same for every order of the same lines; of much output, only for one order."""
        if self.size > len(self.beginning):
            return self.digest
        return lines_of(self.beginning)

    def seen(self, several: bool) -> str:
        """What is the same in every run that is; `several` may have written in any order."""
        return self.unordered if several else self.digest


class Apart(NamedTuple):
    """Where two outputs begin to differ."""

    byte: int
    line: int
    lines: tuple[str, str] | None  # None: somewhere behind, in what was not kept

    def told(self, one: str, other: str) -> str:
        """With words for the one and the other."""
        if self.lines is None:
            return f"differs somewhere behind byte {self.byte}, in line {self.line} or later"
        words = f"{one} {self.lines[0]}, {other} {self.lines[1]}"
        return f"differs from byte {self.byte} on, in line {self.line}: {words}"


def apart(one: Captured, other: Captured) -> Apart:
    """Of two that are not the same."""
    both = one.beginning, other.beginning
    place = _first_apart(*both)
    if place < max(map(len, both)):
        return _apart_at(both, place)
    common, lines = one.chain.common(other.chain)
    common, lines = max((common, lines), (place, one.beginning.count(b"\n")))
    both = one.later, other.later
    place = _first_apart(*both)
    if one.start != other.start or place == max(map(len, both)):
        return Apart(common, lines + 1, None)
    byte, line, shown = _apart_at(both, place)
    return Apart(one.start + byte, lines + line, shown)


def _first_apart(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    unequal = np.flatnonzero(
        np.frombuffer(one, np.uint8, shorter) != np.frombuffer(other, np.uint8, shorter)
    )
    return int(unequal[0]) if len(unequal) else shorter


def _apart_at(both: tuple[bytes, bytes], place: int) -> Apart:
    one, other = both
    line = one.count(b"\n", 0, place) + 1
    return Apart(place, line, (_line(one, place), _line(other, place)))


def _line(data: bytes, place: int) -> str:
    if place >= len(data):
        return "at its end"
    start = data.rfind(b"\n", 0, place) + 1
    return repr(data[start:].split(b"\n", 1)[0][:_SHOWN])[1:]


def lines_of(data: bytes) -> str:
    """A digest that is the same for every order of lines."""
    return hashlib.sha256(b"\n".join(sorted(data.split(b"\n")))).hexdigest()


class Capture:
    """Takes output as it comes."""

    def __init__(self, start: int = 0) -> None:
        """Of what comes from there on, a part is kept beside the beginning."""
        self._hash = hashlib.sha256()
        self._crc = 0
        self.size = 0
        self._counts = np.zeros(256, dtype="<u8")
        self._beginning = bytearray()
        self._later = bytearray()
        self._start = start
        self._block, self._marks, self._lines = _BLOCK, list[Mark](), 0

    def add(self, data: bytes) -> None:
        """The next part."""
        while data:
            left = self._block - self.size % self._block
            self._add(data[:left])
            data = data[left:]

    def _add(self, data: bytes) -> None:
        """No more than there is up to the end of a block."""
        if self._start and self.size + len(data) > self._start:
            room = KEPT - len(self._later)
            self._later += data[max(0, self._start - self.size) :][:room]
        self._hash.update(data)
        self._crc = zlib.crc32(data, self._crc)
        self.size += len(data)
        self._counts += np.bincount(np.frombuffer(data, np.uint8), minlength=256).astype("<u8")
        self._beginning += data[: KEPT - len(self._beginning)]
        self._lines += data.count(b"\n")
        if self.size % self._block == 0:
            self._mark()

    def _mark(self) -> None:
        self._marks.append(Mark(self._hash.digest()[:8], self._lines))
        if len(self._marks) == _MARKS:
            self._marks, self._block = self._marks[1::2], 2 * self._block

    def captured(self) -> Captured:
        """All of it."""
        unordered = hashlib.sha256(self._counts.tobytes()).hexdigest()
        beginning = bytes(self._beginning)
        return Captured(
            self.size,
            self._hash.hexdigest(),
            unordered,
            beginning,
            self._crc,
            Chain(self._block, tuple(self._marks)),
            bytes(self._later),
            self._start,
        )
