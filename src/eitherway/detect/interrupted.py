# SPDX-License-Identifier: Apache-2.0
"""A WAIT that was interrupted, and a WAKE that could have ended it before.

Needs a WAIT w that FAILED and whose actor was then told something: its next operation is an OTHER
with an inherent edge from an operation k of another actor (a signal that was sent); and a WAKE v on
w's range by a third actor behind w, such that k ∥ v. Told are (w, k, v), of each w the nearest v,
once per three places.

Cost: linear, and one sweep.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from eitherway.model.order import Order
from eitherway.model.race import INTERRUPTED, Race
from eitherway.model.trace import Trace
from eitherway.model.words import EdgeKind, Kind, OpFlag, OpKind

_NEAR = 8  # wake-ups behind a wait that are considered

Three = tuple[int, int, int]


def find(order: Order) -> list[Race]:
    """First witnesses per three places."""
    threes = list(_threes(order.trace))
    if not threes:
        return []
    interrupts, wakes = (np.array([three[i] for three in threes]) for i in (1, 2))
    possible = order.concurrent(interrupts, wakes)
    told: dict[tuple[int, ...], Three] = {}
    seen: set[int] = set()
    for three, can in zip(threes, possible.tolist(), strict=True):
        if can and three[0] not in seen:
            seen.add(three[0])
            told.setdefault(_places(order.trace, three), three)
    return [Race(Kind.WAIT_WAKEUPS, three, INTERRUPTED) for three in sorted(told.values())]


def _places(trace: Trace, three: Three) -> tuple[int, ...]:
    return tuple(int(stack) for stack in trace.operations["stack"][list(three)])


def _threes(trace: Trace) -> Iterator[Three]:
    rows = trace.operations
    failed = (rows["kind"] == int(OpKind.WAIT)) & ((rows["flags"] & int(OpFlag.FAILED)) != 0)
    waits = np.flatnonzero(failed).tolist()
    if not waits:
        return
    told_by = _told_by(trace)
    wakes: dict[int, list[int]] = defaultdict(list)  # by range
    for number in np.flatnonzero(rows["kind"] == int(OpKind.WAKE)).tolist():
        wakes[int(rows["range"][number])].append(number)
    for wait in waits:
        if (interrupt := told_by.get(_next(trace, wait))) is None:
            continue
        actors = rows["actor"][wait], rows["actor"][interrupt]
        behind = (n for n in wakes[int(rows["range"][wait])] if n > wait)
        others = [n for n in behind if rows["actor"][n] not in actors]
        yield from ((wait, interrupt, wake) for wake in others[:_NEAR])


def _next(trace: Trace, operation: int) -> int:
    """What the same actor did then; -1 when that was its last."""
    actors = trace.operations["actor"]
    found = np.flatnonzero(actors[operation + 1 :] == actors[operation])
    return operation + 1 + int(found[0]) if len(found) else -1


def _told_by(trace: Trace) -> dict[int, int]:
    """Of operations that only tell an actor something, who did."""
    edges, kinds = trace.edges, trace.operations["kind"]
    inherent = edges["kind"] == int(EdgeKind.INHERENT)
    to_other = inherent & (kinds[edges["target"]] == int(OpKind.OTHER))
    pairs = zip(edges["target"][to_other].tolist(), edges["source"][to_other].tolist(), strict=True)
    return dict(pairs)
