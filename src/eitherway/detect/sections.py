# SPDX-License-Identifier: Apache-2.0
"""What is read in one section of a lock and stored in a later one, and what can come in between.

An access is in a section of a lock if the last ACQUIRE seen before it happened before it, and it
happened before the next RELEASE. Needs a LOAD c and a STORE u with c → u, in two sections of one
lock, and a STORE x of another actor in a third, all three of one range, with x ∥ c and x ∥ u: the
lock keeps each of them whole, and nothing keeps x out from between the two. In the order of
inherent edges.

Told are (c, x, u), whenever x came: of each three places, actors and object the nearest.

Cost: one look-up for each lock and access to a shared range; then the accesses in sections, a few
loads before and stores around each store.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eitherway.detect.accesses import Accesses, Mask, shared_accesses
from eitherway.model.order import Order
from eitherway.model.race import SECTIONS, Race
from eitherway.model.sections import SectionsOf, sections_of
from eitherway.model.trace import Trace
from eitherway.model.words import FILE, FILE_BYTES, Kind, OpFlag

_NEAR = 8  # loads before a store, and stores on either side of it, that are considered
_LOOKS = int(OpFlag.CHECK | OpFlag.FAILED)


class _Row(NamedTuple):
    """An access in a section."""

    operation: int
    begin: int  # ACQUIRE
    end: int  # RELEASE
    actor: int
    place: int
    lo: int
    hi: int
    store: bool

    def overlaps(self, other: "_Row") -> bool:
        return self.lo < other.hi and other.lo < self.hi


def find(order: Order) -> list[Race]:
    """Of each three places, actors and object the nearest."""
    accesses = shared_accesses(order.trace)
    threes = {
        (load.operation, store.operation, last.operation)
        for lock in sections_of(order.trace)
        for rows in _rows(order, accesses, lock)
        for load, store, last in _threes(order, rows)
    }
    return [Race(Kind.ATOMICITY, three, SECTIONS) for three in sorted(threes)]


def _rows(order: Order, accesses: Accesses, lock: SectionsOf) -> Iterator[list[_Row]]:
    """Those in sections of the lock, by object; looks at what is there count for nothing."""
    within, begin, end = lock.around(order, accesses.operation)
    counts = _counts(order.trace, accesses)[within]
    within, begin, end = within[counts], begin[counts], end[counts]
    ranges = accesses.ranges[accesses.range[within]]
    columns = (
        accesses.operation[within], begin, end, accesses.actor[within], accesses.place[within],
        ranges["lo"], ranges["hi"], accesses.stores[within],
    )  # fmt: skip
    found: dict[int, list[_Row]] = defaultdict(list)
    owners = ranges["object"].tolist()
    for owner, *row in zip(owners, *(column.tolist() for column in columns), strict=True):
        found[owner].append(_Row(*row))
    yield from found.values()


def _counts(trace: Trace, accesses: Accesses) -> Mask:
    """Stores, and loads of what is stored: not what is told of a file, its size and times."""
    ranges = accesses.ranges[accesses.range]
    kinds = [trace.strings[number] for number in trace.objects["kind"].tolist()]
    files = np.array([kind == FILE for kind in kinds])[ranges["object"]]
    looks = trace.operations["flags"][accesses.operation] & _LOOKS != 0
    counts: Mask = (accesses.stores | ~looks) & ~(files & (ranges["hi"] <= FILE_BYTES))
    return counts


def _threes(order: Order, rows: list[_Row]) -> Iterator[tuple[_Row, _Row, _Row]]:
    stores = [row for row in rows if row.store]
    loads = [row for row in rows if not row.store]
    known: set[tuple[int, ...]] = set()
    for last in stores:
        load = _read_before(order, loads, last)
        for store in _around(stores, last) if load else ():
            if load is None or not _can_come_between(order, load, store, last):
                continue
            key = *(row.actor for row in (load, store, last)), load.place, store.place, last.place
            if key not in known:
                known.add(key)
                yield load, store, last


def _read_before(order: Order, loads: list[_Row], last: _Row) -> _Row | None:
    """In an earlier section, by whoever led to the store."""
    at = bisect_left(loads, last.operation, key=lambda row: row.operation)
    for load in reversed(loads[max(at - _NEAR, 0) : at]):
        apart = load.end < last.begin and load.overlaps(last)
        if apart and order.before([load.operation], [last.operation])[0]:
            return load
    return None


def _around(stores: list[_Row], last: _Row) -> list[_Row]:
    at = bisect_left(stores, last.operation, key=lambda row: row.operation)
    near = stores[max(at - _NEAR, 0) : at + _NEAR]
    return sorted(near, key=lambda row: abs(row.operation - last.operation))


def _can_come_between(order: Order, load: _Row, store: _Row, last: _Row) -> bool:
    if store.actor in (load.actor, last.actor) or not store.overlaps(load):
        return False
    ends = [load.operation, last.operation]
    return bool(order.concurrent(ends, [store.operation] * 2).all()) and store.overlaps(last)
