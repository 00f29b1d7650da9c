# SPDX-License-Identifier: Apache-2.0
"""In what two branches of one cut differ, by what they have left in memory.

A block that came behind the cut holds what the memory held before, until somebody writes to it:
where nobody did in either branch, that is no difference. Blocks that only one has are not compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eitherway.model.trace import Table
from eitherway.worlds.threads.left_memory import WORD, AtEnd, Fresh, Home

Spot = tuple[object, int]  # a byte: where it is told from, and how far from there
Twins = tuple[int, int]  # addresses of one byte in two branches


def compared(one: AtEnd | None, other: AtEnd | None) -> "Compared | None":
    """None: of one of them it is not known."""
    return Compared(one, other) if one is not None and other is not None else None


@dataclass(frozen=True)
class Compared:
    """Two of them."""

    one: AtEnd
    other: AtEnd

    @cached_property
    def differs(self) -> dict[Spot, Twins]:
        """Byte by byte."""
        return {**dict(self._in_place()), **dict(self._in_fresh())}

    def knows(self, spot: Spot) -> bool:
        """Whether such a byte is compared."""
        name, at = spot
        if name:
            both = (self.one.fresh.get(name), self.other.fresh.get(name))
            return all(block is not None and at < block.size for block in both)
        word = np.array([at & -WORD], dtype=np.uint64)
        homes = next(self.one.homes(word)), next(self.other.homes(word))
        return self._counts(at & -WORD, *homes) is not None

    def _counts(self, word: int, one: Home | None, other: Home | None) -> Home | None:
        """Where a word lies, if that is the program's in both and the same."""
        same = one is not None and one == other and not one.name
        locked = word in self.one.locks or word in self.other.locks
        return one if same and not locked else None

    # --- what was there before the cut

    def _in_place(self) -> Iterator[tuple[Spot, Twins]]:
        words = np.union1d(self.one.addresses, self.other.addresses)
        mine, theirs = _values(self.one, self.other, words), _values(self.other, self.one, words)
        open_ = np.flatnonzero((mine.raw != theirs.raw) | mine.points | theirs.points)
        homes = zip(self.one.homes(words[open_]), self.other.homes(words[open_]), strict=True)
        for at, (home, twin) in zip(open_.tolist(), homes, strict=True):
            word = int(words[at])
            if (there := self._counts(word, home, twin)) is None:
                continue
            for byte in _apart(mine.value(at), theirs.value(at)):
                if there.low <= word + byte < there.high:
                    yield ("", word + byte), (word + byte, word + byte)

    # --- what came behind it

    def _in_fresh(self) -> Iterator[tuple[Spot, Twins]]:
        for name in self.one.fresh.keys() & self.other.fresh.keys():
            mine, theirs = self.one.fresh[name], self.other.fresh[name]
            for at in self._in_block(mine, theirs):
                yield (name, at), (mine.start + at, theirs.start + at)

    def _in_block(self, mine: Fresh, theirs: Fresh) -> Iterator[int]:
        size = min(mine.size, theirs.size)
        one, other = _rows(self.one, mine.start, size), _rows(self.other, theirs.start, size)
        if one is None or other is None:
            return
        raw = self.one.after[one] != self.other.after[other]
        points = (self.one.pointed[one] >= 0) | (self.other.pointed[other] >= 0)
        for word in np.flatnonzero(raw | points).tolist():
            at = word * WORD
            if mine.start + at in self.one.locks or theirs.start + at in self.other.locks:
                continue
            rows = one.start + word, other.start + word
            for byte in _apart(self.one.value(rows[0]), self.other.value(rows[1])):
                place = at + byte
                if place < size and (
                    mine.has_changed(place, _byte(self.one.after[rows[0]], byte))
                    or theirs.has_changed(place, _byte(self.other.after[rows[1]], byte))
                ):
                    yield place


@dataclass(frozen=True)
class _Values:
    """Words of a branch, also of those that only the other one has changed."""

    arm: AtEnd
    raw: Table
    rows: Table  # -1: as it was at the cut
    points: Table  # into what came behind the cut

    def value(self, at: int) -> object:
        row = int(self.rows[at])
        return self.arm.value(row) if row >= 0 else int(self.raw[at])


def _values(arm: AtEnd, other: AtEnd, words: Table) -> _Values:
    rows, theirs = _find(arm.addresses, words), _find(other.addresses, words)
    own = rows >= 0
    raw = np.zeros(len(words), dtype=np.uint64)
    raw[own] = arm.after[rows[own]]
    raw[~own] = other.before[theirs[~own]]
    points = np.zeros(len(words), dtype=bool)
    points[own] = arm.pointed[rows[own]] >= 0
    return _Values(arm, raw, rows, points)


def _find(addresses: Table, words: Table) -> Table:
    """The row of each, or -1."""
    at = np.searchsorted(addresses, words)
    there = at < len(addresses)
    there[there] = addresses[at[there]] == words[there]
    found: Table = np.where(there, at, -1)
    return found


def _rows(arm: AtEnd, start: int, size: int) -> slice | None:
    """Of the words of a block; None: not all of them were told."""
    count = -(-size // WORD)
    first = int(np.searchsorted(arm.addresses, np.uint64(start)))
    part = arm.addresses[first : first + count]
    last = start + (count - 1) * WORD
    whole = 0 < len(part) == count and (int(part[0]), int(part[-1])) == (start, last)
    return slice(first, first + count) if whole else None


def _apart(one: object, other: object) -> list[int]:
    """Bytes of a word in which two values are not the same; of a pointer, all."""
    if not isinstance(one, int) or not isinstance(other, int):
        return [] if one == other else list(range(WORD))
    return [byte for byte in range(WORD) if _byte(one, byte) != _byte(other, byte)]


def _byte(value: int, number: int) -> int:
    return int(value) >> 8 * number & 0xFF
