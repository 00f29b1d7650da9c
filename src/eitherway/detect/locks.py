# SPDX-License-Identifier: Apache-2.0
"""Which locks each actor held at each of its operations.

A lock is a range of an object; byte-range locks that overlap only in part count as different. A
lock taken again by its holder is held until it was released as often. A release by an actor that
does not hold the lock changes nothing here: it is a misuse, and not ours to tell.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eitherway.model.trace import Trace
from eitherway.model.words import OpFlag, OpKind

Column = npt.NDArray[np.int64]


class Held(NamedTuple):
    """A lock in the hands of an actor since one operation."""

    lock: int  # number of a range
    shared: bool
    since: int  # the ACQUIRE


Holding = tuple[Held, ...]


class Locks:
    """All holdings of a trace; number 0 is the empty one. Cost: one step per lock operation."""

    def __init__(self, trace: Trace) -> None:
        """Goes through the lock operations of each actor."""
        self.holdings: list[Holding] = [()]
        self._actor = trace.operations["actor"]
        operations = lock_operations(trace)
        self._after = self._positions(operations)  # sorted: actor, operation
        self._number = np.array([0, *self._numbers(trace, operations)], dtype=np.int64)

    def at(self, operations: npt.ArrayLike) -> Column:
        """The number of the holding when each operation began."""
        wanted = np.asarray(operations, dtype=np.int64)
        index = np.searchsorted(self._after, self._positions(wanted), side="left")
        known = np.r_[np.int64(-1), self._after][index] >> 32
        result: Column = np.where(known == self._actor[wanted], self._number[index], 0)
        return result

    def held(self, operation: int) -> Holding:
        """What the actor of this operation held when it began."""
        return self.holdings[int(self.at([operation])[0])]

    def _positions(self, operations: Column) -> Column:
        result: Column = self._actor[operations].astype(np.int64) << 32 | operations
        return result

    def _numbers(self, trace: Trace, operations: Column) -> Iterator[int]:
        """The number of the holding after each lock operation."""
        rows = trace.operations[operations]
        columns = (operations, rows["actor"], rows["kind"], rows["range"], rows["flags"])
        holder, hands = -1, _Hands()
        for operation, actor, kind, lock, flags in zip(*(c.tolist() for c in columns), strict=True):
            if actor != holder:
                holder, hands = actor, _Hands()
            if kind == OpKind.ACQUIRE:
                hands.take(Held(lock, bool(flags & OpFlag.SHARED), operation))
            else:
                hands.give(lock)
            yield self._numbered(hands)

    def _numbered(self, hands: "_Hands") -> int:
        if not hands.held:
            return 0
        self.holdings.append(tuple(hands.held.values()))
        return len(self.holdings) - 1


class _Hands:
    """The locks one actor holds, with how often."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self.again: dict[int, int] = {}

    def take(self, held: Held) -> None:
        if held.lock in self.held:
            self.again[held.lock] = self.again.get(held.lock, 0) + 1
        else:
            self.held[held.lock] = held

    def give(self, lock: int) -> None:
        if self.again.get(lock):
            self.again[lock] -= 1
        else:
            self.held.pop(lock, None)


def lock_operations(trace: Trace) -> Column:
    """The operations that took or gave back a lock, by actor."""
    rows = trace.operations
    undone = int(OpFlag.FAILED | OpFlag.BLOCKED)
    moves = (rows["kind"] == int(OpKind.ACQUIRE)) | (rows["kind"] == int(OpKind.RELEASE))
    moves &= (rows["range"] != 0) & ((rows["flags"] & undone) == 0)
    operations = np.flatnonzero(moves)
    return operations[np.argsort(rows["actor"][operations], kind="stable")]


def exclude(one: Holding, other: Holding) -> bool:
    """Whether two actors cannot have these holdings at once: a common lock, not shared by both."""
    mine = {held.lock: held.shared for held in one}
    return any(not (held.shared and mine[held.lock]) for held in other if held.lock in mine)
