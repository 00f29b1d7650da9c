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

FEW = 16  # locks in a holding that is kept whole; at least 1, which changes can begin with

_ACQUIRE, _SHARED = int(OpKind.ACQUIRE), int(OpFlag.SHARED)  # plain: there are millions

Column = npt.NDArray[np.int64]


class Held(NamedTuple):
    """A lock in the hands of an actor since one operation."""

    lock: int  # number of a range
    shared: bool
    since: int  # the ACQUIRE


Holding = tuple[Held, ...]


class Spans(NamedTuple):
    """From taking a lock to giving it back, in columns; by lock, then by time.

    `start` and `end` (behind it) count the lock operations of all actors, actor by actor: an
    operation lies in the span if `Locks.moves_before` it is in [start, end). No two spans of one
    lock have such a number in common.
    """

    lock: Column
    shared: Column
    since: Column
    start: Column
    end: Column


class Locks:
    """All holdings of a trace; number 0 is the empty one. Cost: one step per lock operation."""

    def __init__(self, trace: Trace) -> None:
        """Goes through the lock operations of each actor."""
        self.holdings = Holdings()
        self._spans: list[tuple[int, int, int, int, int]] = []
        self._actor = trace.operations["actor"]
        operations = lock_operations(trace)
        self._after = self._positions(operations)  # sorted: actor, operation
        self._number = np.array([0, *self._numbers(trace, operations)], dtype=np.int64)

    def at(self, operations: npt.ArrayLike) -> Column:
        """The number of the holding when each operation began."""
        result: Column = self._number[self.moves_before(operations)]
        return result

    def moves_before(self, operations: npt.ArrayLike) -> Column:
        """How many lock operations come before each, actor by actor; 0 if none of its actor."""
        wanted = np.asarray(operations, dtype=np.int64)
        index = np.searchsorted(self._after, self._positions(wanted), side="left")
        known = np.r_[np.int64(-1), self._after][index] >> 32
        result: Column = np.where(known == self._actor[wanted], index, 0)
        return result

    def spans(self) -> Spans:
        """How long each lock was held each time."""
        table = np.array(sorted(self._spans), dtype=np.int64).reshape(-1, 5)
        lock, start, end, shared, since = table.T
        return Spans(lock, shared, since, start, end)

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
        holder, hands, move = -1, _Hands(), -1
        for move, (operation, actor, kind, lock, flags) in enumerate(
            zip(*(c.tolist() for c in columns), strict=True)
        ):
            if actor != holder:
                self._end(hands, move)
                holder, hands = actor, _Hands()
            if kind == _ACQUIRE:
                hands.take(Held(lock, bool(flags & _SHARED), operation))
                hands.start.setdefault(lock, move + 1)
            elif given := hands.give(lock):
                self._span(given, hands.start.pop(lock), move + 1)
            yield self.holdings.add(hands.held, lock)
        self._end(hands, move + 1)

    def _end(self, hands: "_Hands", move: int) -> None:
        for lock, held in hands.held.items():
            self._span(held, hands.start[lock], move + 1)

    def _span(self, held: Held, start: int, end: int) -> None:
        self._spans.append((held.lock, start, end, held.shared, held.since))


class Holdings:
    """Holdings by number. Those of many locks are kept as what changed since an earlier one.

    So they take memory for each lock operation, not for each lock held at each of them.
    """

    def __init__(self) -> None:
        """With the empty one."""
        self._kept: list[Holding | _Change] = [()]
        self._changes = 0  # since the last that is kept whole

    def __len__(self) -> int:
        """Numbers go up to this."""
        return len(self._kept)

    def __getitem__(self, number: int) -> Holding:
        """In the order they were taken. Cost: one step per lock."""
        changes: list[_Change] = []
        kept = self._kept[number]
        while isinstance(kept, _Change):
            changes.append(kept)
            number -= 1
            kept = self._kept[number]
        if not changes:
            return kept
        holding = {held.lock: held for held in kept}
        for lock, held in reversed(changes):
            holding.pop(lock, None)
            if held is not None:
                holding[lock] = held
        return tuple(sorted(holding.values(), key=_since))

    def add(self, held: dict[int, Held], lock: int) -> int:
        """The number of what is held now, after this lock was taken or given back."""
        if not held:
            return 0
        self._changes += 1
        if len(held) <= FEW or self._changes > len(held):
            self._kept.append(tuple(held.values()))
            self._changes = 0
        else:
            self._kept.append(_Change(lock, held.get(lock)))
        return len(self._kept) - 1


class _Change(NamedTuple):
    """How a lock is held behind a lock operation."""

    lock: int
    held: Held | None


def _since(held: Held) -> int:
    return held.since


class _Hands:
    """The locks one actor holds, with how often."""

    def __init__(self) -> None:
        self.held: dict[int, Held] = {}
        self.again: dict[int, int] = {}
        self.start: dict[int, int] = {}  # of the span of each

    def take(self, held: Held) -> None:
        if held.lock in self.held:
            self.again[held.lock] = self.again.get(held.lock, 0) + 1
        else:
            self.held[held.lock] = held

    def give(self, lock: int) -> Held | None:
        """What is no longer held."""
        if not self.again.get(lock):
            return self.held.pop(lock, None)
        self.again[lock] -= 1
        return None


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
