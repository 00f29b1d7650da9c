# SPDX-License-Identifier: Apache-2.0
"""Which locks each actor held at each of its operations.

A lock is a range of an object; byte-range locks that overlap only in part count as different. A
lock taken again by its holder is held until it was released as often. A release by an actor that
does not hold the lock changes nothing here: it is a misuse, and not ours to tell.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eitherway.model.trace import Table, Trace
from eitherway.model.words import OpFlag, OpKind

_ACQUIRE, _SHARED = int(OpKind.ACQUIRE), int(OpFlag.SHARED)

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
    """All holdings of a trace. Cost: sorting the lock operations."""

    def __init__(self, trace: Trace) -> None:
        """Looks at the operations of each actor on each lock."""
        self._actor = trace.operations["actor"]
        operations = lock_operations(trace)
        self._after = self._positions(operations)  # sorted: actor, operation
        self._spans = _spans_of(trace, operations)
        self.holdings = Holdings(self._spans, len(operations))

    def at(self, operations: npt.ArrayLike) -> Column:
        """The number of the holding when each operation began; 0 is the empty one."""
        return self.holdings.numbers(self.moves_before(operations))

    def moves_before(self, operations: npt.ArrayLike) -> Column:
        """How many lock operations come before each, actor by actor; 0 if none of its actor."""
        wanted = np.asarray(operations, dtype=np.int64)
        index = np.searchsorted(self._after, self._positions(wanted), side="left")
        known = np.r_[np.int64(-1), self._after][index] >> 32
        result: Column = np.where(known == self._actor[wanted], index, 0)
        return result

    def spans(self) -> Spans:
        """How long each lock was held each time."""
        return self._spans

    def held(self, operation: int) -> Holding:
        """What the actor of this operation held when it began."""
        return self.holdings[int(self.at([operation])[0])]

    def _positions(self, operations: Column) -> Column:
        result: Column = self._actor[operations].astype(np.int64) << 32 | operations
        return result


def _spans_of(trace: Trace, operations: Column) -> Spans:
    """From the operations by actor, then by time; each actor counts how often it has each lock."""
    rows = trace.operations[operations]
    move = np.arange(len(rows))
    by_lock = np.lexsort((move, rows["range"], rows["actor"]))
    rows, move = rows[by_lock], move[by_lock]
    takes = rows["kind"] == _ACQUIRE
    group = _groups(rows["actor"], rows["range"])
    before = _depths(takes, group)
    taken = np.flatnonzero(takes & (before == 0))
    given = np.flatnonzero(~takes & (before == 1))
    end = _ends(rows["actor"], move)[taken]
    closes = np.searchsorted(given, taken)  # the first behind it, if of the same lock and actor
    inside = closes < len(given)
    inside[inside] = group[given[closes[inside]]] == group[taken[inside]]
    end[inside] = move[given[closes[inside]]]
    lock = rows["range"][taken].astype(np.int64)
    shared = ((rows["flags"][taken] & _SHARED) != 0).astype(np.int64)
    since = operations[by_lock][taken]
    ordered = np.lexsort((move[taken], lock))
    columns = (lock, shared, since, move[taken] + 1, end + 1)
    return Spans(*(column[ordered] for column in columns))


def _groups(*columns: Table) -> Column:
    """Numbers of runs of equal rows."""
    begins = np.zeros(len(columns[0]), dtype=bool)
    for column in columns:
        begins[1:] |= column[1:] != column[:-1]
    result: Column = np.cumsum(begins)
    return result


def _depths(takes: npt.NDArray[np.bool_], group: Column) -> Column:
    """How often the lock was had before each operation; giving back what is not had does nothing.

    That is the sum of what was taken and given back, above the lowest that it has been at.
    """
    change = np.where(takes, 1, -1)
    total = np.cumsum(change)
    first = np.searchsorted(group, group)  # of the group of each
    total -= np.r_[0, total][first]
    apart = group * (2 * len(group) + 1)
    lowest = np.minimum(np.minimum.accumulate(total - apart) + apart, 0)
    after = total - lowest
    result: Column = np.where(np.arange(len(group)) == first, 0, np.r_[0, after[:-1]])
    return result


def _ends(actor: Table, move: Column) -> Column:
    """For each operation the number behind the last of its actor."""
    last = np.zeros(int(actor.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(last, actor, move + 1)
    result: Column = last[actor]
    return result


class Holdings:
    """What is held after each lock operation, put together from spans when it is asked for."""

    def __init__(self, spans: Spans, moves: int) -> None:
        """Number `n` is that after the first `n` lock operations, actor by actor; 0 is empty."""
        change = np.zeros(moves + 2, dtype=np.int64)
        np.add.at(change, spans.start, 1)
        np.add.at(change, spans.end, -1)
        self._count = np.cumsum(change)
        self._empty = np.flatnonzero(self._count == 0)
        by_start = np.argsort(spans.start, kind="stable")
        self._spans = Spans(*(column[by_start] for column in spans))
        self._made = lru_cache(maxsize=1 << 12)(self._make)

    def __len__(self) -> int:
        """Numbers go up to this."""
        return len(self._count) - 1

    def numbers(self, moves: Column) -> Column:
        """The number after so many lock operations: 0 where nothing is held."""
        result: Column = np.where(self._count[moves] > 0, moves, 0)
        return result

    def __getitem__(self, number: int) -> Holding:
        """In the order they were taken. Cost: one step per lock taken since nothing was held."""
        return self._made(number)

    def _make(self, number: int) -> Holding:
        if not self._count[number]:
            return ()
        since_nothing = self._empty[np.searchsorted(self._empty, number) - 1]
        low, high = np.searchsorted(self._spans.start, [since_nothing, number], side="right")
        some = Spans(*(column[low:high] for column in self._spans))
        held = some.end > number
        columns = (some.lock[held], some.shared[held] != 0, some.since[held])
        return tuple(map(Held, *(column.tolist() for column in columns)))


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
