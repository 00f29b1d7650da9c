# SPDX-License-Identifier: Apache-2.0
"""What the runtime found while programs ran, each once, until a trace has confirmed it."""

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from eitherway.find.ways import Way


class FoundKind(IntEnum):
    """The kinds of `family.FOUND`."""

    RACE = 1
    USE_AFTER_FREE = 2
    DEADLOCK = 3
    DOUBLE_FREE = 4
    INVALID_FREE = 5
    LOCK_MISUSE = 6


class Key(NamedTuple):
    """What is taken for one and the same before names are known."""

    slot: int
    kind: int
    place: int  # of the later access, in its module
    op: int
    past_op: int
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
    """Those of all runs so far."""

    # The runtime knows the earlier access by its thread, not its place: one place may race with
    # several, and with a few schedules of a key confirmed all of them have been seen. Where threads
    # come and go by the thousand, a place is done with when that brought nothing for some time.
    ENOUGH = 2
    FRUITLESS = 6

    def __init__(self) -> None:
        self._seen: Counter[Key] = Counter()
        self._fruitless: Counter[Key] = Counter()  # in a row, whoever came before
        self.total = 0

    def new(self, way: Way, row: np.void) -> Candidate | None:
        """The candidate, if it is worth a trace."""
        key = Key(
            int(row["slot"]),
            int(row["kind"]),
            int(row["pc"]) - int(row["module"]),
            int(row["op"]),
            int(row["past_op"]),
            int(row["past_thread"]),
        )
        self.total += 1
        self._seen[key] += 1
        if self._seen[key] > self.ENOUGH or self._fruitless[_any_past(key)] >= self.FRUITLESS:
            return None
        return Candidate(
            way, key, int(row["step"]), int(row["thread"]), int(row["address"]), int(row["size"])
        )

    def confirmed(self, candidate: Candidate, *, new: bool) -> None:
        """Whether the trace had something to tell that was not known."""
        place = _any_past(candidate.key)
        self._fruitless[place] = 0 if new else self._fruitless[place] + 1


def _any_past(key: Key) -> Key:
    return key._replace(past_thread=0)
