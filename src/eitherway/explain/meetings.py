# SPDX-License-Identifier: Apache-2.0
"""Where the actors of a run met: two operations on one object that could matter to each other.

Whoever looks for the cause of what a run did looks at these, the last first: what came long before
the end is seldom to blame.
"""

from collections.abc import Iterator

import numpy as np

from eitherway.model.trace import Table, Trace
from eitherway.model.words import OpFlag, OpKind

_ACCESSES = (OpKind.LOAD, OpKind.STORE, OpKind.UPDATE, OpKind.FREE)
_MEETING = (*_ACCESSES, OpKind.ACQUIRE)
_BACK = 1000  # operations on the same object that are looked at for a partner


def meetings(trace: Trace) -> Iterator[tuple[int, int]]:
    """Pairs of operations in the order seen; of two actors each pair of places in the code once."""
    known: set[tuple[tuple[int, ...], ...]] = set()
    for one, other in _all(trace):
        sides = _side(trace, one), _side(trace, other)
        if sides not in known:
            known.add(sides)
            yield one, other


def _side(trace: Trace, operation: int) -> tuple[int, ...]:
    row = trace.operations[operation]
    return int(row["actor"]), int(row["kind"]), int(trace.stacks["place"][row["stack"]])


def _all(trace: Trace) -> Iterator[tuple[int, int]]:
    """Each operation with the last one before it that it meets, from the end of the run."""
    order, place = _by_object(trace)
    for later in sorted(place, reverse=True):
        at = place[later]
        for earlier in reversed(order[max(0, at - _BACK) : at]):
            if _object(trace, earlier) != _object(trace, later):
                break
            if _meet(trace, earlier, later):
                yield earlier, later
                break


def _by_object(trace: Trace) -> tuple[list[int], dict[int, int]]:
    """Operations on objects that several actors touch, by object and time; and where each is."""
    rows = trace.operations
    own = np.flatnonzero(np.isin(rows["kind"], [int(kind) for kind in _MEETING]))
    objects = trace.ranges["object"][rows["range"][own]]
    own = own[np.isin(objects, _shared(objects, rows["actor"][own]))]
    own = own[np.lexsort((own, trace.ranges["object"][rows["range"][own]]))]
    order: list[int] = own.tolist()
    return order, {operation: at for at, operation in enumerate(order)}


def _shared(objects: Table, actors: Table) -> Table:
    pairs = np.unique(np.stack([objects, actors.astype(objects.dtype)]), axis=1)
    found, counts = np.unique(pairs[0], return_counts=True)
    shared: Table = found[counts > 1]
    return shared


def _object(trace: Trace, operation: int) -> int:
    return int(trace.ranges["object"][trace.operations["range"][operation]])


def _meet(trace: Trace, one: int, other: int) -> bool:
    """By different actors, on some of the same bytes, and not two that only look."""
    rows = trace.operations[[one, other]]
    if rows["actor"][0] == rows["actor"][1] or (rows["flags"] & int(OpFlag.FAILED)).any():
        return False
    if (rows["kind"] == int(OpKind.ACQUIRE)).any():
        shared = (rows["flags"] & int(OpFlag.SHARED)).all()
        return bool((rows["kind"] == int(OpKind.ACQUIRE)).all() and not shared)
    ranges = trace.ranges[rows["range"]]
    overlap = ranges["lo"][0] < ranges["hi"][1] and ranges["lo"][1] < ranges["hi"][0]
    return bool(overlap and not (rows["kind"] == int(OpKind.LOAD)).all())
