# SPDX-License-Identifier: Apache-2.0
"""Which events of a traced run had to come before which, from what each kind of event means.

start ─▶ begin      end ─▶ join      wake ─▶ wait      inherent
release ─▶ acquire                                      chance: another run may swap them
releasing write ─▶ acquiring read of what it wrote      inherent
releasing fence, relaxed write ─▶ relaxed read of what it wrote, acquiring fence     inherent
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from eitherway.model.trace import EDGE, NO_OPERATION, Table
from eitherway.model.words import ACCESSES, EdgeKind, OpFlag, OpKind
from eitherway.worlds.threads.lock_edges import edges_of_locks, exclusive_locks

# The compiler's numbers for memory orders.
_ACQUIRING = frozenset({1, 2, 4, 5})  # consume, acquire, acq_rel, seq_cst
_RELEASING = frozenset({3, 4, 5})  # release, acq_rel, seq_cst

# Order nothing; what is freed ends what was synchronised with in it.
_PLAIN = [int(op) for op in ACCESSES - {OpKind.FREE}]
_NOTHING = [int(OpKind.INIT), int(OpKind.DESTROY)]

_NOT_ASKED_FOR = NO_OPERATION - 1

Sources = Iterator[int]

# As plain numbers: there are millions of events.
_NOT_DONE = int(OpFlag.FAILED | OpFlag.BLOCKED)
_SHARED, _CUMULATIVE = int(OpFlag.SHARED), int(OpFlag.CUMULATIVE)
_INHERENT = int(EdgeKind.INHERENT)
_KINDS = {int(OpKind.ACQUIRE): int(EdgeKind.CHANCE)}


class _Row(NamedTuple):
    op: int
    flags: int
    order: int
    thread: int
    address: int
    size: int
    follows: int


def _rows(events: Table) -> Iterator[_Row]:
    return map(_Row, *(events[name].tolist() for name in _Row._fields))


def edges_of(events: Table) -> Table:
    """All edges, by target. One pass over the events that are no plain access.

    Most events of most runs are on locks that only one thread has at a time: what these follow is
    found by sorting them.
    """
    follow = _Follow()
    found: list[tuple[int, int, int]] = []
    plain = np.isin(events["op"], _PLAIN) & (events["flags"] == 0)
    plain |= np.isin(events["op"], _NOTHING)
    on_locks = exclusive_locks(events)
    chosen = np.flatnonzero(~plain & ~on_locks & ~_early_loads(events))
    for index, row in zip(chosen.tolist(), _rows(events[chosen]), strict=True):
        kind = _KINDS.get(row.op, _INHERENT)
        found.extend([(source, index, kind) for source in follow.event(index, row)])
    edges = np.r_[np.array(found, dtype=EDGE), edges_of_locks(events, np.flatnonzero(on_locks))]
    by_target: Table = edges[np.argsort(edges["target"], kind="stable")]
    return by_target


def _early_loads(events: Table) -> Table:
    """Loads before the first of the stores to their place, which follow nothing.

    Of a thread that looks again and again there are thousands.
    """
    op, address = events["op"], events["address"]
    some = np.flatnonzero(events["flags"])
    loads = some[op[some] == int(OpKind.LOAD)]
    others = some[~np.isin(op[some], [int(OpKind.LOAD), *map(int, _Follow.RULES)])]
    places, first = np.unique(address[others], return_index=True)
    at = np.searchsorted(places, address[loads])
    there = np.append(places, 0).astype(np.uint64)[at] == address[loads]
    since = np.append(others[first], len(events))[np.where(there, at, len(places))]
    early: Table = np.zeros(len(events), dtype=bool)
    early[loads[loads < since]] = True
    return early


class _Follow:
    """What happened so far that later events may have to follow."""

    def __init__(self) -> None:
        self.places = _Places()  # of all that follows but threads
        self.lives: dict[tuple[OpKind, int], int] = {}  # start and end of each thread
        self.locks: defaultdict[int, _Lock] = defaultdict(_Lock)
        self.wakes: defaultdict[int, dict[int, int]] = defaultdict(dict)  # last of each thread
        self.cumulative: set[int] = set()
        self.sequences: defaultdict[int, _Sequences] = defaultdict(_Sequences)
        self.fences: dict[int, int] = {}  # the last releasing one of each thread
        self.read: defaultdict[int, dict[int, None]] = defaultdict(dict)  # relaxedly, since

    def event(self, index: int, row: _Row) -> Sources:
        """The events that this one follows; then it counts for the later ones."""
        rule = self.RULES.get(row.op, _Follow._access)
        if rule in _SYNCHRONISE:
            self.places.add(row.address)
        return rule(self, index, row)

    def _told(self, index: int, row: _Row) -> Sources:
        self.lives[OpKind(row.op), row.address] = index
        return iter(())

    def _begin(self, _index: int, row: _Row) -> Sources:
        return self._life(OpKind.START, row)

    def _join(self, _index: int, row: _Row) -> Sources:
        return self._life(OpKind.END, row)

    def _life(self, op: OpKind, row: _Row) -> Sources:
        source = self.lives.get((op, row.address))
        return iter(()) if source is None else iter((source,))

    def _acquire(self, _index: int, row: _Row) -> Sources:
        if row.flags & _NOT_DONE:
            return iter(())
        return self.locks[row.address].acquire(bool(row.flags & _SHARED))

    def _release(self, index: int, row: _Row) -> Sources:
        if row.flags & _NOT_DONE:
            return iter(())
        self.locks[row.address].release(index, bool(row.flags & _SHARED))
        return iter(())

    def _wake(self, index: int, row: _Row) -> Sources:
        self.wakes[row.address][row.thread] = index
        if row.flags & _CUMULATIVE:
            self.cumulative.add(index)
        return iter(())

    def _wait(self, _index: int, row: _Row) -> Sources:
        """The wake that ended it; or all, where they count together or it did not have to wait."""
        if row.flags & _NOT_DONE:
            return iter(())
        follows = row.follows
        if follows == _NOT_ASKED_FOR:
            return iter(())  # it is outside of what was asked for, as is all that came before it
        if follows != NO_OPERATION and follows not in self.cumulative:
            return iter((follows,))
        return iter(tuple(self.wakes[row.address].values()))

    def _access(self, index: int, row: _Row) -> Sources:
        """An acquiring read follows the releasing writes whose sequence it reads (C11 5.1.2.4).

        What a relaxed one releases is what was known at the last fence.
        """
        op, order, thread = row.op, row.order, row.thread
        sequences = self.sequences[row.address]
        acquires = op != OpKind.STORE and order in _ACQUIRING
        head = index if order in _RELEASING else self.fences.get(thread)
        sources = tuple(sequences.heads) if op != OpKind.STORE else ()
        if op == OpKind.STORE:
            sequences.store(thread, head)
        elif op != OpKind.LOAD:
            sequences.update(thread, head, follows_all=acquires and head == index)
        if not acquires:
            self.read[thread].update(dict.fromkeys(sources))
        return iter(sources if acquires else ())

    def _free(self, _index: int, row: _Row) -> Sources:
        """What threads synchronised with in there is gone: later there is something else."""
        for address in self.places.take(row.address, row.size):
            self.locks.pop(address, None)
            self.wakes.pop(address, None)
            self.sequences.pop(address, None)
        return iter(())

    def _other(self, index: int, row: _Row) -> Sources:
        """A fence (C11 7.17.4); or a block that ends outside of what was asked for."""
        if not row.flags & OpFlag.ATOMIC:
            return self._free(index, row)
        order, thread = row.order, row.thread
        if order in _RELEASING:
            self.fences[thread] = index
        return iter(self.read.pop(thread, {}) if order in _ACQUIRING else ())

    RULES: ClassVar[dict[int, Callable[["_Follow", int, "_Row"], Sources]]] = {
        OpKind.START: _told,
        OpKind.END: _told,
        OpKind.BEGIN: _begin,
        OpKind.JOIN: _join,
        OpKind.ACQUIRE: _acquire,
        OpKind.RELEASE: _release,
        OpKind.WAKE: _wake,
        OpKind.WAIT: _wait,
        OpKind.OTHER: _other,
        OpKind.FREE: _free,
    }


_SYNCHRONISE = (_Follow._acquire, _Follow._release, _Follow._wake, _Follow._wait, _Follow._access)


class _Places:
    """Addresses, by the line of memory that they lie in."""

    _LINE = 64

    def __init__(self) -> None:
        self.lines: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, address: int) -> None:
        self.lines[address // self._LINE].add(address)

    def take(self, start: int, size: int) -> list[int]:
        """Those in there, which are forgotten."""
        lines = range(start // self._LINE, (start + size - 1) // self._LINE + 1)
        few, many = (lines, self.lines) if len(lines) < len(self.lines) else (self.lines, lines)
        there = [line for line in few if line in many]
        taken = [a for line in there for a in self.lines[line] if start <= a < start + size]
        for address in taken:
            self.lines[address // self._LINE].remove(address)
        return taken


class _Sequences:
    """Which releases the value of an atomic variable comes from: heads of its release sequences.

    A store goes on with those of its own thread, and ends those of all others (so up to C17 and
    C++17; in C++20 it ends all). A read-modify-write goes on with all.
    """

    def __init__(self) -> None:
        self.heads: dict[int, None] = {}  # a set, in order
        self._own: dict[int, None] = {}  # those of the thread that stored last
        self._stored_by: int | None = None

    def store(self, thread: int, head: int | None) -> None:
        own = self._own if self._stored_by == thread else {}
        self._own = own if head is None else {**own, head: None}
        self._stored_by, self.heads = thread, self._own.copy()

    def update(self, thread: int, head: int | None, *, follows_all: bool) -> None:
        if follows_all:
            self.heads = {}
        if head is not None:
            self.heads[head] = None
        if head is not None and self._stored_by == thread:
            self._own[head] = None


class _Lock:
    """A reader follows the last writer; a writer follows it and the readers since."""

    def __init__(self) -> None:
        self.writer: list[int] = []
        self.readers: list[int] = []

    def acquire(self, shared: bool) -> Sources:
        return iter(self.writer if shared else [*self.writer, *self.readers])

    def release(self, index: int, shared: bool) -> None:
        if shared:
            self.readers.append(index)
        else:
            self.writer, self.readers = [index], []
