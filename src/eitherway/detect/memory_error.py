# SPDX-License-Identifier: Apache-2.0
"""What is done with memory after it was given back, or with what never was a block.

| pattern | what is seen |
|---|---|
| use-after-free | an access to an object that came after the FREE that gave it back |
| double-free | a second FREE of one object, in whatever order |
| invalid-free | a FREE that FAILED of what was not given back before: no block begins there |

An access that came before the FREE, and could have come after it, is a data race with it and no
affair of this one; one that came after it in this run is told, as unordered where it is. Told
once per place of the FREE and place and kind of the other. A FREE that did not fail of a part of an
object gives back a block nothing more is known of, and says nothing about the rest.

Cost: a sort of the accesses to objects that were freed, a look at the order for each that is told.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eitherway.detect.accesses import Column
from eitherway.model.order import Order
from eitherway.model.race import UNORDERED, Race
from eitherway.model.trace import Table, Trace
from eitherway.model.words import ACCESSES, Kind, OpFlag, OpKind

_ACCESSES = [int(kind) for kind in ACCESSES]


def find(order: Order) -> list[Race]:
    """First witnesses."""
    told: dict[tuple[int, ...], Race] = {}
    for race in _all(order):
        told.setdefault(_sides(order.trace, race), race)
    return [_with_order(order, race) for race in told.values()]


def _all(order: Order) -> Iterator[Race]:
    trace = order.trace
    if not np.any(trace.operations["kind"] == int(OpKind.FREE)):
        return
    operation = np.flatnonzero(np.isin(trace.operations["kind"], _ACCESSES))
    ranges = trace.ranges[trace.operations["range"][operation]]
    freed: dict[int, int] = {}
    frees = trace.operations["kind"][operation] == int(OpKind.FREE)
    failed = trace.operations["flags"][operation[frees]] & int(OpFlag.FAILED) > 0
    for index, part, wrong in zip(operation[frees].tolist(), ranges[frees], failed, strict=True):
        number, whole = int(part["object"]), part["lo"] == 0
        if whole and number in freed:
            yield _error("double-free", freed[number], index)
        elif wrong:
            yield _error("invalid-free", index)
        elif whole:
            freed[number] = index
    yield from _uses(order, freed, operation[~frees], ranges[~frees])


def _uses(order: Order, freed: dict[int, int], operation: Column, ranges: Table) -> Iterator[Race]:
    """Accesses that came after the FREE of what they touch."""
    objects = np.array(sorted(freed), dtype=np.int64)
    touched = np.isin(ranges["object"], objects)
    later, ranges = operation[touched], ranges[touched]
    free = np.array([freed[number] for number in ranges["object"].tolist()], dtype=np.int64)
    size = order.trace.ranges[order.trace.operations["range"][free]]["hi"]
    inside = (free < later) & (ranges["lo"] < size)
    free, later = free[inside], later[inside]
    for one, other in zip(free.tolist(), later.tolist(), strict=True):
        yield _error("use-after-free", one, other)


def _error(pattern: str, *operations: int) -> Race:
    return Race(Kind.MEMORY_ERROR, operations, pattern)


def _with_order(order: Order, race: Race) -> Race:
    first, last = np.array(race.operations[:1]), np.array(race.operations[-1:])
    by_chance = len(race.operations) > 1 and bool(order.concurrent(first, last)[0])
    return replace(race, pattern=f"{UNORDERED}{race.pattern}") if by_chance else race


def _sides(trace: Trace, race: Race) -> tuple[int, ...]:
    rows = trace.operations[list(race.operations)]
    places = trace.stacks["place"][rows["stack"]]
    return (*places.tolist(), *rows["kind"].tolist())
