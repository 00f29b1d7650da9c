# SPDX-License-Identifier: Apache-2.0
"""Where the actors of a run met: two operations on one object that could matter to each other.

Whoever looks for the cause of what a run did looks at these, the last first: what came long before
the end is seldom to blame.
"""

from collections.abc import Iterator

import numpy as np

from eitherway.model.trace import Table, Trace
from eitherway.model.words import HANDLER_CALLED, OpFlag, OpKind

_ACCESSES = (OpKind.LOAD, OpKind.STORE, OpKind.UPDATE, OpKind.FREE)
_EVENTS = (OpKind.WAIT, OpKind.WAKE)  # of semaphores, conditions, barriers
_MEETING = (*_ACCESSES, OpKind.ACQUIRE, *_EVENTS)
_BACK = 1000  # operations on the same object that are looked at for a partner


def meetings(trace: Trace) -> Iterator[tuple[int, int]]:
    """Pairs of operations in the order seen; of two actors each pair of places in the code once."""
    known: set[tuple[tuple[int, ...], ...]] = set()
    for one, other in _all(trace):
        sides = _side(trace, one), _side(trace, other)
        if sides not in known:
            known.add(sides)
            yield one, other


_AROUND = 24  # operations of a thread, before a signal is sent to it and after its handler begins


def moments(trace: Trace) -> Iterator[tuple[int, int]]:
    """The same for signals: sending one, and what its receiver does, in the order seen.

    They touch nothing in common, but where the receiver stands when it comes may matter.
    """
    rows = trace.operations
    for taken in np.flatnonzero(rows["kind"] == int(OpKind.WAIT))[::-1].tolist():
        sent = _sent(trace, taken)
        if sent is None:
            continue
        own = np.flatnonzero(
            (rows["actor"] == rows["actor"][taken])
            & np.isin(rows["kind"], [int(kind) for kind in _MEETING])
        )
        own = own[np.diff(rows["stack"][own], prepend=-1) != 0]  # a lock is looked at, too
        yield from ((one, sent) for one in own[own < sent][::-1][:_AROUND].tolist())
        yield from ((sent, other) for other in own[own > taken][:_AROUND].tolist())


def _sent(trace: Trace, taken: int) -> int | None:
    """Who sent the signal whose handler begins there, if another thread did."""
    if trace.operation(taken).place.function != HANDLER_CALLED:
        return None
    rows = trace.operations[:taken]
    own = trace.operations[taken]
    wakes = (rows["kind"] == int(OpKind.WAKE)) & (rows["range"] == own["range"])
    sent = np.flatnonzero(wakes & (rows["actor"] != own["actor"]))
    return int(sent[-1]) if len(sent) else None


def _side(trace: Trace, operation: int) -> tuple[int, ...]:
    row = trace.operations[operation]
    return int(row["actor"]), int(row["kind"]), int(trace.stacks["place"][row["stack"]])


def _all(trace: Trace) -> Iterator[tuple[int, int]]:
    """Each operation with the last ones before it that it meets, from the end of the run."""
    order = _by_object(trace)
    rows = trace.operations[order]
    ranges = trace.ranges[rows["range"]]
    for at in np.argsort(order)[::-1].tolist():
        begin = max(0, at - _BACK)
        met = begin + np.flatnonzero(_meet(rows[begin : at + 1], ranges[begin : at + 1]))
        for one in _partners(rows, met):
            yield int(order[one]), int(order[at])


def _partners(rows: Table, met: Table) -> list[int]:
    """The last, and as those that only look do not meet each other, the last of each actor's.

    Where the last is a wake-up, the last that waited, too: both want what there is.
    """
    waited = met[rows["kind"][met] == int(OpKind.WAIT)]
    looks = _lookers(rows, met)[::-1]
    _, lasts = np.unique(rows["actor"][looks], return_index=True)
    each = looks[np.sort(lasts)]
    return list(dict.fromkeys([*met[-1:].tolist(), *each.tolist(), *waited[-1:].tolist()]))


def _lookers(rows: Table, met: Table) -> Table:
    """Behind the last that changes something."""
    shares = (rows["flags"][met] & int(OpFlag.SHARED)) != 0
    changes = np.flatnonzero((rows["kind"][met] != int(OpKind.LOAD)) & ~shares)
    behind: Table = met[changes[-1] + 1 :] if len(changes) else met
    return behind


def _by_object(trace: Trace) -> Table:
    """Operations on objects that several actors touch, by object and time."""
    rows = trace.operations
    own = np.flatnonzero(np.isin(rows["kind"], [int(kind) for kind in _MEETING]))
    objects = trace.ranges["object"][rows["range"][own]]
    own = own[np.isin(objects, _shared(objects, rows["actor"][own]))]
    own = own[np.lexsort((own, trace.ranges["object"][rows["range"][own]]))]
    return own[~_again_and_again(rows[own])]


def _again_and_again(rows: Table) -> Table:
    """Which are the same as the one before and the one behind: somebody looks until it changes."""
    same = rows[1:] == rows[:-1]
    again: Table = np.r_[False, same] & np.r_[same, False]
    return again[: len(rows)]


def _shared(objects: Table, actors: Table) -> Table:
    pairs = np.unique(np.stack([objects, actors.astype(objects.dtype)]), axis=1)
    found, counts = np.unique(pairs[0], return_counts=True)
    shared: Table = found[counts > 1]
    return shared


def _meet(rows: Table, ranges: Table) -> Table:
    """Which of them the last one meets: another actor's, on some of the same bytes.

    Not two that only look, that share a lock, or that both wake others; and none that failed.
    """
    last, extent = rows[-1], ranges[-1]
    overlap = (ranges["lo"] < extent["hi"]) & (ranges["hi"] > extent["lo"])
    sort = np.isin(rows["kind"], _ACCESSES) + 2 * np.isin(rows["kind"], _EVENTS)
    alike = [_both(rows, "kind", int(kind)) for kind in (OpKind.LOAD, OpKind.WAKE)]
    both_share = (rows["flags"] & last["flags"] & int(OpFlag.SHARED)) != 0
    failed = ((rows["flags"] | last["flags"]) & int(OpFlag.FAILED)) != 0
    meet: Table = (sort == sort[-1]) & (overlap | (sort != 1)) & ~alike[0] & ~alike[1] & ~both_share
    meet &= (rows["actor"] != last["actor"]) & (ranges["object"] == extent["object"]) & ~failed
    return meet


def _both(rows: Table, column: str, value: int) -> Table:
    same: Table = (rows[column] == value) & (rows[column][-1] == value)
    return same
