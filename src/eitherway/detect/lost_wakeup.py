# SPDX-License-Identifier: Apache-2.0
"""A WAKE that nobody hears because the WAIT it is meant for has not begun.

*seen*: a WAKE that ended nothing, then a WAIT on the same range that never returned, and nothing
orders the two.

*possible*: a WAKE U ended a WAIT W, but nothing orders U and the begin of W, and no lock sees to it
that the waiter notices what U would have told it. W begins with the operation of its actor just
before it; if that is a RELEASE, the lock released is the mutex of the wait. The waiter would have
noticed if, since it took the mutex, it had looked at something that the waker stored

* before U, with the mutex held at that store or at U, or
* within one holding of the mutex with U;

or if it had looked at what the waker stored before U, under another lock that the waiter gave back
only when it had the mutex, and that the waker had at the store, and the waker had the mutex at U;

or if it had looked at what a third actor stored behind the begin of W, in a section of the mutex
from which the waker read before U, with the mutex too (or from one that read from it, and so on):
that section cannot come behind U.

Nor can U come too early when it happens behind the waiter's taking of the mutex, in a section of
it: that section can only be behind the waiter's, which ends with the begin of W.

Nor is anything lost when the waiter, woken by U, looks and waits again: what U told was not for it.

Told once per pair of places; the operations are the begin of the WAIT if possible, U and W. WAKEs
that are kept until somebody waits (CUMULATIVE) are never lost; a WAIT that gives up by itself (TRY)
loses nothing. The order given must be that of inherent edges.

Cost: one sweep, and for each pair (U, W) what the waiter loaded since it took the mutex.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from eitherway.detect.predicates import Asked, Predicates
from eitherway.detect.wakes import NOBODY, Column, Wakes, clocks_of, previous, wakes_of
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind, OpFlag, OpKind


def find(order: Order) -> list[Race]:
    """First witnesses per pair of places, seen ones before possible ones."""
    wakes = wakes_of(order.trace)
    told = set[tuple[int, int]]()
    races = [*_seen(order, wakes, told), *_possible(order, wakes, told)]
    return sorted(races, key=lambda race: race.operations)


def find_seen(order: Order) -> list[Race]:
    """Only those that were seen to be lost, which a trace without accesses shows too."""
    return sorted(_seen(order, wakes_of(order.trace), set()), key=lambda race: race.operations)


def are_open(order: Order) -> bool:
    """Whether it depends on accesses if some WAKE can be lost: it was not ordered with the WAIT."""
    return bool(len(_unordered_pairs(order, wakes_of(order.trace))[0]))


def _new(trace: Trace, wake: int, wait: int, told: set[tuple[int, int]]) -> bool:
    """Whether nothing was told of these places, which is now."""
    places = trace.stacks["place"][trace.operations["stack"][[wake, wait]]]
    key = int(places[0]), int(places[1])
    new = key not in told
    told.add(key)
    return new


def _seen(order: Order, wakes: Wakes, told: set[tuple[int, int]]) -> Iterator[Race]:
    unheard = _not_flagged(order.trace, np.setdiff1d(wakes.wakes, wakes.wake), OpFlag.CUMULATIVE)
    stuck = np.setdiff1d(wakes.waits, _not_flagged(order.trace, wakes.waits, OpFlag.BLOCKED))
    for wait, earlier in _unordered_before(order, unheard, stuck):
        for wake in _first_of_each_place(order.trace, earlier):
            if _new(order.trace, wake, wait, told):
                yield Race(Kind.LOST_WAKEUP, (wake, wait), "seen")


def _not_flagged(trace: Trace, operations: Column, flag: OpFlag) -> Column:
    chosen: Column = operations[(trace.operations["flags"][operations] & int(flag)) == 0]
    return chosen


def _unordered_before(order: Order, wakes: Column, waits: Column) -> Iterator[tuple[int, Column]]:
    """For each WAIT the WAKEs on its range, seen before it, that did not happen before it."""
    trace = order.trace
    for wait, clock in clocks_of(order, waits):
        earlier = _on_range(trace, wakes[wakes < wait], int(trace.operations["range"][wait]))
        theirs = order.segment[earlier]
        actor = order.actor[theirs]
        free = (order.number[theirs] > clock[actor]) & (actor != trace.operations["actor"][wait])
        yield wait, earlier[free]


def _on_range(trace: Trace, operations: Column, number: int) -> Column:
    wanted, ranges = trace.ranges[number], trace.ranges[trace.operations["range"][operations]]
    same = ranges["object"] == wanted["object"]
    chosen: Column = operations[
        same & (ranges["lo"] < wanted["hi"]) & (wanted["lo"] < ranges["hi"])
    ]
    return chosen


def _first_of_each_place(trace: Trace, operations: Column) -> list[int]:
    places = trace.stacks["place"][trace.operations["stack"][operations]]
    first: list[int] = operations[np.sort(np.unique(places, return_index=True)[1])].tolist()
    return first


def _possible(order: Order, wakes: Wakes, told: set[tuple[int, int]]) -> Iterator[Race]:
    trace = order.trace
    pairs, begin = _unordered_pairs(order, wakes)
    asked = list(zip(*pairs.T.tolist(), begin.tolist(), strict=True))
    predicates = Predicates(trace, asked) if asked else None
    late = _behind_its_mutex(order, predicates, asked) if predicates else ()
    for (wake, wait, start), is_late in zip(asked, late, strict=True):
        if predicates is None or is_late or predicates.noticed(wake, start):
            continue
        if _waits_again(trace, wait):
            continue
        if _new(trace, wake, wait, told):
            yield Race(Kind.LOST_WAKEUP, tuple(_known(start, wake, wait)), "possible")


def _behind_its_mutex(order: Order, predicates: Predicates, asked: Asked) -> list[bool]:
    """Of each, whether the WAKE is in a section of the mutex that can only come later."""
    taken = np.array([predicates.taken(wake, start) for wake, _, start in asked], dtype=np.int64)
    wakes = np.array([wake for wake, _, _ in asked], dtype=np.int64)
    late = (taken != NOBODY) & (taken < wakes)
    late[late] = order.before(taken[late], wakes[late])
    behind: list[bool] = late.tolist()
    return behind


def _unordered_pairs(order: Order, wakes: Wakes) -> tuple[Column, Column]:
    """Rows (WAKE, WAIT it ended) that nothing orders, and where each of these WAITs began."""
    pairs = _losable(order.trace, wakes)
    begin = previous(order.trace, pairs[:, 1])
    free = begin == NOBODY
    free[~free] = order.concurrent(begin[~free], pairs[~free, 0])
    return pairs[free], begin[free]


_NEAR, _FEW = 1 << 16, 1 << 8  # operations of all, and of the waiter, that are looked at
_LOOKS = (int(OpKind.ACQUIRE), int(OpKind.RELEASE), int(OpKind.LOAD))


def _waits_again(trace: Trace, wait: int) -> bool:
    """Whether the actor looked, and did nothing that others see, before it waited once more."""
    rows, looked = trace.operations, False
    near = rows["actor"][wait + 1 : wait + _NEAR]
    later = np.flatnonzero(near == rows["actor"][wait]) + wait + 1
    for index in later[:_FEW].tolist():
        if rows["kind"][index] == int(OpKind.WAIT):
            return looked and bool(rows["range"][index] == rows["range"][wait])
        looked |= rows["kind"][index] == int(OpKind.LOAD)
        if rows["kind"][index] not in _LOOKS and not _is_own_store(trace, index):
            return False
    return False


def _is_own_store(trace: Trace, index: int) -> bool:
    """To something that nobody else touches."""
    row, rows = trace.operations[index], trace.operations
    others = (rows["range"] == row["range"]) & (rows["actor"] != row["actor"])
    return row["kind"] == int(OpKind.STORE) and not np.any(others)


def _losable(trace: Trace, wakes: Wakes) -> Column:
    """Rows (WAKE, WAIT it ended) where the WAKE is not kept and the WAIT does not give up."""
    flags = trace.operations["flags"]
    kept = (flags[wakes.wake] & int(OpFlag.CUMULATIVE)) != 0
    gives_up = (flags[wakes.wait] & int(OpFlag.TRY)) != 0
    losable: Column = np.stack([wakes.wake, wakes.wait], axis=1)[~kept & ~gives_up]
    return losable


def _known(*operations: int) -> Iterable[int]:
    return sorted(operation for operation in operations if operation != NOBODY)
