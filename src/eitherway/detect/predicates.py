# SPDX-License-Identifier: Apache-2.0
"""Whether a waiter would have noticed what a WAKE announces, had the WAKE come first.

It would, if it looked, while holding the mutex of its wait, at something the waker had stored, and
the mutex keeps the two from passing each other; or under a lock that it gave back only when it had
the mutex; or at something that a third one stored who had to come before the WAKE. See
`lost_wakeup` for the four cases.
"""

from collections.abc import Iterator

import numpy as np

from eitherway.detect.accesses import Accesses, shared_accesses
from eitherway.detect.locks import Held, Locks
from eitherway.detect.overlap import overlaps
from eitherway.detect.wakes import NOBODY
from eitherway.model.trace import Trace
from eitherway.model.words import OpKind

_LOADS = (int(OpKind.LOAD), int(OpKind.UPDATE))

Asked = list[tuple[int, int, int]]  # WAKE, WAIT, begin of the WAIT or NOBODY


class Predicates:
    """What waiters looked at and wakers stored, as far as both touch it."""

    def __init__(self, trace: Trace, asked: Asked) -> None:
        """One step per store to what some waiter looked at, and per lock held there."""
        self._trace, self._locks = trace, Locks(trace)
        self._accesses = shared_accesses(trace)
        self._slots = overlaps(self._accesses.ranges)
        self._rows = _by_actor(self._accesses)
        self._first: dict[tuple[int, int], int] = {}  # (actor, slot) -> its first store
        self._under: dict[tuple[int, int, int, bool], int] = {}  # the same with a lock held
        self._within = set[tuple[int, int]]()  # (slot, since): stored during that holding
        self._index(
            {slot for _, _, begin in asked for slots in self._all_looks(begin) for slot in slots}
        )

    def taken(self, wake: int, begin: int) -> int:
        """Where the waiter took the mutex, if the waker has it at the WAKE too; else NOBODY."""
        mutex = self._mutex(begin)
        shares = mutex is not None and any(_excludes(h, mutex) for h in self._locks.held(wake))
        return mutex.since if mutex is not None and shares else NOBODY

    def noticed(self, wake: int, begin: int) -> bool:
        """Whether a waiter that begins to wait there would have noticed this WAKE."""
        mutex = self._mutex(begin)
        if mutex is None:
            return False
        actor = int(self._trace.operations["actor"][wake])
        theirs = [h for h in self._locks.held(wake) if _excludes(h, mutex)]
        looked = self._looked(mutex.since, begin)
        if any(self._stored(slot, actor, wake, mutex, theirs) for slot in looked):
            return True
        if self._told_by_another(looked, mutex, begin, wake):
            return True
        handed = self._handed(mutex) if theirs else ()
        return any(self._stored_under(s, actor, wake, lock) for lock, mine in handed for s in mine)

    def _stored(self, slot: int, actor: int, wake: int, mutex: Held, theirs: list[Held]) -> bool:
        if theirs:
            before = self._first.get((actor, slot), wake) < wake
            return before or any((slot, held.since) in self._within for held in theirs)
        return self._stored_under(slot, actor, wake, mutex)

    def _stored_under(self, slot: int, actor: int, wake: int, lock: Held) -> bool:
        """Before the WAKE, in a section that excludes that of this lock."""
        shared = (False,) if lock.shared else (False, True)
        keys = ((actor, slot, lock.lock, how) for how in shared)
        return any(self._under.get(key, wake) < wake for key in keys)

    def _told_by_another(self, looked: set[int], mutex: Held, begin: int, wake: int) -> bool:
        """Whether the waker read what a third one stored where that one stored what is looked at.

        Each in a section of the mutex, behind the begin of the WAIT; or what a fourth one stored
        that had read from that section, and so on.
        """
        waker = int(self._trace.operations["actor"][wake])
        last: dict[int, tuple[int, int]] = {}  # of a slot: its last store, and the section
        telling = set[int]()
        for row, since in self._within_sections(mutex.lock, begin, wake):
            actor, number = int(self._accesses.actor[row]), int(self._accesses.range[row])
            if self._accesses.kind[row] in _LOADS:
                stored = (last[slot] for slot in self._slots.looks[number] if slot in last)
                if max(stored, default=(NOBODY, NOBODY))[1] in telling:
                    if actor == waker:
                        return True
                    telling.add(since)  # it has to come behind that one
            if self._accesses.stores[row]:
                entered = self._slots.enters[number]
                last.update(dict.fromkeys(entered, (row, since)))
                if actor != waker and not looked.isdisjoint(entered):
                    telling.add(since)
        return False

    def _within_sections(self, lock: int, after: int, before: int) -> Iterator[tuple[int, int]]:
        """Rows of accesses with this lock in hand, not shared, and where it was taken."""
        i, j = np.searchsorted(self._accesses.operation, [after + 1, before]).tolist()
        holdings = self._locks.at(self._accesses.operation[i:j])
        numbers = np.unique(holdings).tolist()
        since = {
            number: held.since
            for number in numbers
            for held in self._locks.holdings[number]
            if held.lock == lock and not held.shared
        }
        for row in (np.flatnonzero(np.isin(holdings, list(since))) + i).tolist():
            yield row, since[int(holdings[row - i])]

    def _mutex(self, begin: int) -> Held | None:
        """The lock that the waiter gives back when it begins to wait."""
        if begin < 0 or self._trace.operations["kind"][begin] != int(OpKind.RELEASE):
            return None
        lock = int(self._trace.operations["range"][begin])
        return next((held for held in self._locks.held(begin) if held.lock == lock), None)

    def _all_looks(self, begin: int) -> Iterator[set[int]]:
        mutex = self._mutex(begin)
        if mutex is not None:
            yield self._looked(mutex.since, begin)
            yield from (slots for _, slots in self._handed(mutex))

    def _handed(self, mutex: Held) -> Iterator[tuple[Held, set[int]]]:
        """Locks held when the mutex was taken, with what had been loaded under each."""
        for lock in self._locks.held(mutex.since):
            yield lock, self._looked(lock.since, mutex.since)

    def _looked(self, since: int, until: int) -> set[int]:
        """Slots of what the actor loaded between two of its operations."""
        rows = self._rows.get(int(self._trace.operations["actor"][until]), np.zeros(0, np.int64))
        operations = self._accesses.operation[rows]
        i, j = np.searchsorted(operations, [since, until]).tolist()
        loads = rows[i:j][np.isin(self._accesses.kind[rows[i:j]], _LOADS)]
        ranges = np.unique(self._accesses.range[loads]).tolist()
        return {slot for number in ranges for slot in self._slots.looks[number]}

    def _index(self, slots: set[int]) -> None:
        for slot, actor, operation, holding in self._stores(slots):
            self._first.setdefault((actor, slot), operation)
            for held in self._locks.holdings[holding]:
                self._under.setdefault((actor, slot, held.lock, held.shared), operation)
                self._within.add((slot, held.since))

    def _stores(self, slots: set[int]) -> Iterator[tuple[int, int, int, int]]:
        """(slot, actor, operation, holding) of each store into these slots, in order."""
        entered = [[s for s in mine if s in slots] for mine in self._slots.enters]
        useful = np.array([bool(mine) for mine in entered], dtype=bool)
        rows = np.flatnonzero(self._accesses.stores & useful[self._accesses.range])
        operations = self._accesses.operation[rows]
        columns = (operations, self._accesses.actor[rows], self._accesses.range[rows])
        holdings = self._locks.at(operations).tolist()
        for *row, holding in zip(*(c.tolist() for c in columns), holdings, strict=True):
            operation, actor, range_ = row
            for slot in entered[range_]:
                yield slot, actor, operation, holding


def _excludes(one: Held, other: Held) -> bool:
    return one.lock == other.lock and not (one.shared and other.shared)


def _by_actor(accesses: Accesses) -> dict[int, "np.typing.NDArray[np.int64]"]:
    """Rows of each actor, in order."""
    order = np.argsort(accesses.actor, kind="stable")
    actors, starts = np.unique(accesses.actor[order], return_index=True)
    return dict(zip(actors.tolist(), np.split(order, starts[1:]), strict=False))
