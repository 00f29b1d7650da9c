# SPDX-License-Identifier: Apache-2.0
"""What the runtime found while programs ran, each once, until a trace has confirmed it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eitherway.find.ways import Way


class Side(NamedTuple):
    """What is known of the later access, and of the earlier one besides its thread."""

    slot: int
    kind: int
    place: int  # of the later access, in its module
    op: int
    past_op: int


class Key(NamedTuple):
    """What is taken for one and the same before names are known."""

    side: Side
    past_thread: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """An access that conflicts with an earlier one, in one schedule."""

    way: Way
    key: Key
    step: int
    thread: int
    address: int
    size: int


class Candidates:
    """Those of all runs so far.

    The runtime knows the earlier access by its thread, not its place: one place may race with
    several, and on several variables. So a key is confirmed in a few schedules, and a place at
    addresses where it was not seen to race before, as long as that shows something new.
    """

    ENOUGH = 2  # schedules of a key
    IN_VAIN = 8  # confirmations of a side, one after the other
    ELSEWHERE_IN_VAIN = 32  # the same, at ever new addresses: of the heap, all may be

    def __init__(self) -> None:
        self._seen: Counter[Key] = Counter()
        self._in_vain: Counter[Side] = Counter()
        self._known: set[Side] = set()
        self._touched: set[tuple[Side, int]] = set()

    def new(self, way: Way, row: np.void, *, first_only: bool = False) -> Candidate | None:
        """The candidate, if it is worth a trace; `first_only`: if nothing is known of its side."""
        key = _key(row)
        touched = (key.side, int(row["address"]))
        if key.side in self._known if first_only else self._is_enough(key, touched):
            return None
        self._seen[key] += 1
        self._known.add(key.side)
        self._touched.add(touched)
        return _candidate(way, key, row)

    def _is_enough(self, key: Key, touched: tuple[Side, int]) -> bool:
        in_vain = self._in_vain[key.side]
        if touched not in self._touched:
            return in_vain >= self.ELSEWHERE_IN_VAIN
        return self._seen[key] >= self.ENOUGH or in_vain >= self.IN_VAIN

    def confirmed(self, candidates: Iterable[Candidate], *, new: bool) -> None:
        """These were; whether that showed anything new."""
        for side in {candidate.key.side for candidate in candidates}:
            self._in_vain[side] = 0 if new else self._in_vain[side] + 1

    def is_confirmed(self, side: Side) -> bool:
        """Whether one with this side was looked at in a trace."""
        return side in self._in_vain


def seen_again(candidates: Iterable[Candidate], rows: np.ndarray) -> list[Candidate]:
    """As another run of the same way saw them; without those that it did not see.

    What comes from outside may be other each time, the time of day to begin with; and so may be
    addresses.
    """
    again = {_key(row): row for row in reversed(rows)}  # the first of each
    there = {(_key(row), int(row["address"])): row for row in reversed(rows)}
    return [
        _candidate(one.way, one.key, there.get((one.key, one.address), again[one.key]))
        for one in candidates
        if one.key in again
    ]


def _candidate(way: Way, key: Key, row: np.void) -> Candidate:
    where = int(row["address"]), int(row["size"])
    return Candidate(way, key, int(row["step"]), int(row["thread"]), *where)


def _key(row: np.void) -> Key:
    side = Side(
        int(row["slot"]),
        int(row["kind"]),
        int(row["pc"]) - int(row["module"]),
        int(row["op"]),
        int(row["past_op"]),
    )
    return Key(side, int(row["past_thread"]))
