# SPDX-License-Identifier: Apache-2.0
"""Unordered accesses to overlapping ranges that are near each other, at least one of them a store.

Between processes two instances of one pair of places are two things to try: processes that run one
program are different actors, and which of ten reads sees a write decides what happens. So each
access is held against the `WINDOW` accesses to the same object before it, and of each pair of
actors, places and objects the `KEPT` nearest are told; of a process that for each of the files in
/proc that tell of it, as what one of them says is no other's.

Cost: `WINDOW` passes over the n accesses to shared objects, in numpy, and one sweep.
"""

import numpy as np
import numpy.typing as npt

from eitherway.detect.accesses import Accesses, Column, numbered, shared_accesses
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind

WINDOW = 64
KEPT = 4

Pairs = npt.NDArray[np.int64]  # rows of accesses, two columns, the earlier first


def find(order: Order) -> list[Race]:
    """Of each pair of actors, places and objects the nearest."""
    accesses = shared_accesses(order.trace)
    pairs = _conflicts(accesses)
    one, other = accesses.operation[pairs[:, 0]], accesses.operation[pairs[:, 1]]
    racing = order.concurrent(one, other) if len(pairs) else np.zeros(0, dtype=bool)
    chosen = _nearest(accesses, _parts(order.trace, accesses), pairs[racing])
    told = sorted(map(tuple, np.sort(accesses.operation[chosen], axis=1).tolist()))
    return [Race(Kind.LOAD_STORE, pair) for pair in told]


def _conflicts(accesses: Accesses) -> Pairs:
    """Rows of different actors that overlap, one of them a store."""
    ranges = accesses.ranges[accesses.range]
    rows = np.lexsort((accesses.operation, ranges["object"]))
    found = [np.zeros((0, 2), dtype=np.int64)]
    for distance in range(1, min(WINDOW, len(rows) - 1) + 1):
        a, b = rows[:-distance], rows[distance:]
        meets = ranges["object"][a] == ranges["object"][b]
        meets &= accesses.actor[a] != accesses.actor[b]
        meets &= accesses.stores[a] | accesses.stores[b]
        meets &= (ranges["lo"][a] < ranges["hi"][b]) & (ranges["lo"][b] < ranges["hi"][a])
        found.append(np.stack([a[meets], b[meets]], axis=1))
    return np.concatenate(found)


def _parts(trace: Trace, accesses: Accesses) -> Column:
    """What of its object each access touches, where that has a name of its own; else 0."""
    owner = trace.objects["kind"][accesses.ranges["object"]].tolist()
    named = np.array([trace.strings[kind] == "process" for kind in owner], dtype=bool)
    parts: Column = np.where(named, np.arange(1, len(named) + 1), 0)[accesses.range]
    return parts


def _nearest(accesses: Accesses, parts: Column, pairs: Pairs) -> Pairs:
    """Of each pair of actors, places, objects and parts a few, and all of them by distance."""
    a, b = pairs[:, 0], pairs[:, 1]
    distance: Column = np.abs(accesses.operation[b] - accesses.operation[a])
    by_distance = np.argsort(distance, kind="stable")
    a, b = a[by_distance], b[by_distance]
    owner = accesses.ranges["object"][accesses.range]
    columns = [c[side] for side in (a, b) for c in (accesses.actor, accesses.place, parts)]
    group, _ = numbered(*columns, owner[a]) if len(a) else (a, a)
    kept = _rank(group) < KEPT
    return np.stack([a[kept], b[kept]], axis=1)


def _rank(group: Column) -> Column:
    """0, 1, 2, ... within each group, in the order of the rows."""
    rows = np.argsort(group, kind="stable")
    ordered = group[rows]
    position = np.arange(len(ordered))
    begins = np.ones(len(ordered), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    rank = np.empty(len(ordered), dtype=np.int64)
    rank[rows] = position - np.maximum.accumulate(np.where(begins, position, 0))
    return rank
