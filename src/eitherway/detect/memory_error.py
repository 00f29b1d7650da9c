# SPDX-License-Identifier: Apache-2.0
"""What is done with memory after it was given back, or with what never was a block.

| pattern | what is seen |
|---|---|
| use-after-free | an access to an object, behind the FREE that gave it back |
| double-free | a second FREE of one object, in whatever order |
| invalid-free | a FREE of a part of an object that does not begin where the object does |

An access that the FREE does not come before is a data race with it, and no affair of this one. Told
once per place of the FREE and place and kind of the other. Cost: a sort of the accesses to objects
that were freed, and a look at the order for each of those that came later.
"""

from collections.abc import Iterator

import numpy as np

from eitherway.detect.accesses import Column
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Table, Trace
from eitherway.model.words import ACCESSES, Kind, OpKind

_ACCESSES = [int(kind) for kind in ACCESSES]


def find(order: Order) -> list[Race]:
    """First witnesses."""
    told: dict[tuple[int, ...], Race] = {}
    for race in _all(order):
        told.setdefault(_sides(order.trace, race), race)
    return list(told.values())


def _all(order: Order) -> Iterator[Race]:
    trace = order.trace
    operation = np.flatnonzero(np.isin(trace.operations["kind"], _ACCESSES))
    ranges = trace.ranges[trace.operations["range"][operation]]
    freed: dict[int, int] = {}
    frees = trace.operations["kind"][operation] == int(OpKind.FREE)
    for index, part in zip(operation[frees].tolist(), ranges[frees], strict=True):
        if part["lo"] > 0:
            yield _error("invalid-free", index)
        elif int(part["object"]) in freed:
            yield _error("double-free", freed[int(part["object"])], index)
        else:
            freed[int(part["object"])] = index
    yield from _uses(order, freed, operation[~frees], ranges[~frees])


def _uses(order: Order, freed: dict[int, int], operation: Column, ranges: Table) -> Iterator[Race]:
    """Accesses behind the FREE of what they touch."""
    objects = np.array(sorted(freed), dtype=np.int64)
    touched = np.isin(ranges["object"], objects)
    later, ranges = operation[touched], ranges[touched]
    free = np.array([freed[number] for number in ranges["object"].tolist()], dtype=np.int64)
    size = order.trace.ranges[order.trace.operations["range"][free]]["hi"]
    inside = (free < later) & (ranges["lo"] < size)
    free, later = free[inside], later[inside]
    behind = order.before(free, later)
    for one, other in zip(free[behind].tolist(), later[behind].tolist(), strict=True):
        yield _error("use-after-free", one, other)


def _error(pattern: str, *operations: int) -> Race:
    return Race(Kind.MEMORY_ERROR, operations, pattern)


def _sides(trace: Trace, race: Race) -> tuple[int, ...]:
    rows = trace.operations[list(race.operations)]
    places = trace.stacks["place"][rows["stack"]]
    return (*places.tolist(), *rows["kind"].tolist())
