# SPDX-License-Identifier: Apache-2.0
"""Two unordered accesses to overlapping ranges, at least one of them a store.

Told once per pair of sides; a side is the place of the innermost frame and the kind of access; in
memory also the place of the innermost frame that is no library's, for what a library touches is the
business of its caller. There two atomic accesses never race; between processes there are none.

Cost: sorting the n operations, one sweep, and for each of the accesses that are distinct in
(segment, range, side) and touch something shared the steps that `meet` states.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from eitherway.detect.accesses import Accesses, Column, Mask, numbered, own_places, shared_accesses
from eitherway.detect.meet import Items, Pairs, Sorts, first_meetings
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Table, Trace
from eitherway.model.words import Kind, World

# Sorts of access: load, store, atomic load, atomic store.
_MEETS = ((1, 3), (0, 1, 2, 3), (1,), (0, 1))
_REPLACES = ((), (0, 1, 2, 3), (), (2, 3))  # a load could too, but readers would pay for looking
_AT_ONCE = 1 << 20  # pairs of accesses, for which the trace is gone through once


def find(order: Order, *, per_object: bool = False) -> list[Race]:
    """First witnesses per pair of sides, or per pair of sides and object."""
    world = order.trace.world
    kind = Kind.LOAD_STORE if world is World.PROCESSES else Kind.DATA_RACE
    accesses = shared_accesses(order.trace)
    sort = accesses.stores + 2 * (accesses.atomic & (world is not World.PROCESSES))
    side, example = _sides(order.trace, accesses, sort, per_object)
    items, operation = _items(order, accesses, side)
    sorts = Sorts(of_side=sort[example].tolist(), meets=_MEETS, replaces=_REPLACES)
    meetings = first_meetings(order, items, sorts, conflict=lambda one, other: True)
    return [Race(kind, (one, other)) for one, other in _as_seen(operation[meetings])]


def are_racing(order: Order, operations: Sequence[int]) -> Mask:
    """Of each of these accesses, whether any other races with it, told or not."""
    accesses = shared_accesses(order.trace)
    result: Mask = np.zeros(len(operations), dtype=bool)
    others: list[Column] = []
    for at, operation in enumerate(operations):
        others.append(_conflicting(order.trace, accesses, operation))
        if sum(map(len, others)) > _AT_ONCE or at + 1 == len(operations):
            begin = at + 1 - len(others)
            mine = np.repeat(np.arange(begin, at + 1), list(map(len, others)))
            ours = np.asarray(operations, dtype=np.int64)[mine]
            result[mine[order.concurrent(np.concatenate(others), ours)]] = True
            others = []
    return result


def _conflicting(trace: Trace, accesses: Accesses, operation: int) -> Column:
    """The accesses that race with this one where nothing orders the two."""
    found = np.flatnonzero(accesses.operation == operation)
    if not len(found):
        return accesses.operation[:0]
    mine, ranges = int(found[0]), accesses.ranges[accesses.range]
    stores = accesses.stores | accesses.stores[mine]
    atomic = accesses.atomic & accesses.atomic[mine] & (trace.world is not World.PROCESSES)
    theirs: Column = accesses.operation[stores & ~atomic & _overlap(ranges, ranges[mine])]
    return theirs


def _overlap(ranges: Table, wanted: np.void) -> Mask:
    same = ranges["object"] == wanted["object"]
    overlap: Mask = same & (ranges["lo"] < wanted["hi"]) & (wanted["lo"] < ranges["hi"])
    return overlap


def _sides(
    trace: Trace, accesses: Accesses, sort: Column, per_object: bool
) -> tuple[Column, Column]:
    """The side of each access, and an access of each side."""
    columns = [accesses.place, accesses.kind, sort]
    if trace.world is not World.PROCESSES:
        columns.append(own_places(trace)[trace.operations["stack"][accesses.operation]])
    if per_object:
        columns.append(accesses.ranges["object"][accesses.range])
    return numbered(*columns)


def _items(order: Order, accesses: Accesses, side: Column) -> tuple[Items, Column]:
    """The accesses distinct in (segment, range, side), by segment, with the first operation."""
    segment = order.segment[accesses.operation]
    _, first = numbered(segment, accesses.range, side)
    items = Items(
        segment=segment[first],
        number=order.number[segment[first]],
        range=accesses.range[first].astype(np.uint32),
        side=side[first].astype(np.uint32),
        ranges=accesses.ranges,
    )
    return items, accesses.operation[first]


def _as_seen(pairs: Pairs) -> Iterator[tuple[int, int]]:
    """The pairs, earlier operation first, sorted by the later one."""
    earlier, later = pairs.min(axis=1), pairs.max(axis=1)
    order = np.lexsort((earlier, later))
    return zip(earlier[order].tolist(), later[order].tolist(), strict=True)
