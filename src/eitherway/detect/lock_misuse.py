# SPDX-License-Identifier: Apache-2.0
"""What is done with a lock that only its holder may do, or nobody.

| pattern | what is seen |
|---|---|
| not-held | a RELEASE by an actor that does not have the lock, and nobody has |
| anothers | a RELEASE by an actor that does not have the lock, while another has it |
| wait-not-held | one of these two just before a WAIT, which it belongs to |
| relock | an ACQUIRE that failed because the actor has the lock |
| destroyed-held | a DESTROY while somebody has the lock |
| use-after-destroy | an operation that failed because the lock was destroyed |
| two-mutexes | two WAITs on one object at a time, each begun with the RELEASE of another lock |

What an actor gives back after another did so for it is "not-held" too. Told once per pattern and
places. The trace must have all operations on locks since the run began. Cost: sorting these, and a
step for each on a lock with which anything unusual is done, and for each WAIT.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eitherway.detect.wakes import NOBODY, Column, previous
from eitherway.model.distinct import last_of_equal
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Table, Trace
from eitherway.model.words import Kind, OpFlag, OpKind

# As plain numbers: there are millions of operations.
_FAILED, _SHARED, _TRY = int(OpFlag.FAILED), int(OpFlag.SHARED), int(OpFlag.TRY)
_ON_LOCKS = (OpKind.ACQUIRE, OpKind.RELEASE, OpKind.INIT, OpKind.DESTROY)


def find(order: Order) -> list[Race]:
    """First witnesses."""
    told: dict[tuple[object, ...], Race] = {}
    waits = sorted(_waits(order.trace))
    one_by_one = _as_waits(_one_by_one(order.trace), {wait.start for wait in waits})
    for race in (*one_by_one, *_two_mutexes(order.trace, waits)):
        told.setdefault((race.pattern, *_places(order.trace, race)), race)
    return sorted(told.values(), key=lambda race: race.operations)


def _places(trace: Trace, race: Race) -> list[int]:
    places: list[int] = trace.stacks["place"][
        trace.operations["stack"][list(race.operations)]
    ].tolist()
    return places


def _as_waits(races: Iterable[Race], begins: Set[int]) -> Iterator[Race]:
    """A RELEASE that begins a WAIT is told as what it is a part of."""
    for race in races:
        released = race.pattern in ("not-held", "anothers")
        waits = released and race.operations[-1] in begins
        yield replace(race, pattern="wait-not-held") if waits else race


class _Lock:
    """Who has it, since which ACQUIRE, how often; and which DESTROY ended it."""

    def __init__(self) -> None:
        self.since: dict[int, int] = {}
        self.again: Counter[int] = Counter()
        self.destroyed: int | None = None

    def take(self, actor: int, index: int, *, shared: bool) -> None:
        """What succeeds says that nobody else has it: memory may have become another lock."""
        self.destroyed = None
        if actor in self.since:
            self.again[actor] += 1
            return
        if not shared:
            self.since.clear()
            self.again.clear()
        self.since[actor] = index

    def give(self, actor: int) -> None:
        if self.again[actor]:
            self.again[actor] -= 1
        else:
            self.since.pop(actor, None)

    def holder(self) -> tuple[int, ...]:
        """Where one of the holders took it."""
        return tuple(sorted(self.since.values())[:1])


def _one_by_one(trace: Trace) -> Iterator[Race]:
    """Every operation on a lock against what came before."""
    rows = trace.operations
    chosen = np.flatnonzero(np.isin(rows["kind"], _ON_LOCKS) & (rows["range"] != 0))
    chosen = chosen[(rows["flags"][chosen] & int(OpFlag.BLOCKED)) == 0]
    chosen = _not_regular(rows, chosen)
    locks: defaultdict[int, _Lock] = defaultdict(_Lock)
    columns = [chosen, *(rows[name][chosen] for name in ("range", "actor", "kind", "flags"))]
    for index, lock, actor, kind, flags in zip(*(c.tolist() for c in columns), strict=True):
        yield from _RULES[kind](locks[lock], index, actor, flags)


def _not_regular(rows: Table, chosen: Column) -> Column:
    """Without the locks that are only taken and given back by whoever took them: of a million
    locks, a million are.
    """
    order = np.lexsort((chosen, rows["range"][chosen]))
    ordered = rows[chosen[order]]
    takes, gives = (ordered["kind"] == int(kind) for kind in (OpKind.ACQUIRE, OpKind.RELEASE))
    odd = (ordered["flags"] & (_FAILED | _SHARED)) != 0
    same = ordered["range"][1:] == ordered["range"][:-1]
    mine = same & takes[:-1] & (ordered["actor"][1:] == ordered["actor"][:-1])
    odd[1:] |= gives[1:] != mine
    odd[1:] |= same & takes[:-1] & ~gives[1:]
    odd[:1] |= gives[:1]
    suspects = np.zeros(int(ordered["range"].max(initial=0)) + 1, dtype=bool)
    suspects[ordered["range"][odd]] = True
    result: Column = chosen[suspects[rows["range"][chosen]]]
    return result


def _acquire(lock: _Lock, index: int, actor: int, flags: int) -> Iterator[Race]:
    if not flags & _FAILED:
        lock.take(actor, index, shared=bool(flags & _SHARED))
    elif lock.destroyed is not None:
        yield _misuse("use-after-destroy", lock.destroyed, index)
    elif actor in lock.since and not flags & _TRY:
        yield _misuse("relock", lock.since[actor], index)


def _release(lock: _Lock, index: int, actor: int, flags: int) -> Iterator[Race]:
    if actor in lock.since:
        lock.give(actor)
    elif lock.destroyed is not None and flags & _FAILED:
        yield _misuse("use-after-destroy", lock.destroyed, index)
    else:
        holder = lock.holder()
        yield _misuse("anothers" if holder else "not-held", *holder, index)
        if not flags & _FAILED:
            lock.since.clear()


def _init(lock: _Lock, _index: int, _actor: int, _flags: int) -> Iterator[Race]:
    lock.since.clear()
    lock.again.clear()
    lock.destroyed = None
    return iter(())


def _destroy(lock: _Lock, index: int, _actor: int, flags: int) -> Iterator[Race]:
    if lock.destroyed is not None and flags & _FAILED:
        yield _misuse("use-after-destroy", lock.destroyed, index)
    elif flags & _FAILED:
        yield _misuse("destroyed-held", *lock.holder(), index)
    else:
        lock.destroyed = index


_RULES = {
    int(OpKind.ACQUIRE): _acquire,
    int(OpKind.RELEASE): _release,
    int(OpKind.INIT): _init,
    int(OpKind.DESTROY): _destroy,
}


class _Wait(NamedTuple):
    """A WAIT, from the RELEASE that it began with to the WAKE that ended it or its own end."""

    start: int
    end: int
    wait: int
    mutex: int  # number of a range


def _two_mutexes(trace: Trace, waits: Iterable[_Wait]) -> Iterator[Race]:
    by_object: defaultdict[int, list[_Wait]] = defaultdict(list)
    for wait in waits:
        number = int(trace.operations["range"][wait.wait])
        open_still = [w for w in by_object[number] if w.end > wait.start]
        for other in open_still:
            if other.mutex != wait.mutex:
                yield _misuse("two-mutexes", *sorted((other.wait, wait.wait)))
        by_object[number] = [*open_still, wait]


def _waits(trace: Trace) -> Iterator[_Wait]:
    """Those that begin by giving back a lock."""
    rows = trace.operations
    waits = np.flatnonzero(rows["kind"] == int(OpKind.WAIT))
    before = previous(trace, waits)
    gives = (before != NOBODY) & (rows["kind"][before] == int(OpKind.RELEASE))
    gives &= rows["stack"][before] == rows["stack"][waits]
    ends = _woken_by(trace)
    for wait, start in zip(waits[gives].tolist(), before[gives].tolist(), strict=True):
        yield _Wait(start, ends.get(wait, wait), wait, int(rows["range"][start]))


def _woken_by(trace: Trace) -> dict[int, int]:
    wakes = trace.operations["kind"][trace.edges["source"]] == int(OpKind.WAKE)
    edges = trace.edges[wakes]
    edges = edges[np.argsort(edges["target"], kind="stable")]
    last = edges[last_of_equal(edges["target"])]
    return dict(zip(last["target"].tolist(), last["source"].tolist(), strict=True))


def _misuse(pattern: str, *operations: int) -> Race:
    return Race(Kind.LOCK_MISUSE, operations, pattern)
