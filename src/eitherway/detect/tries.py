# SPDX-License-Identifier: Apache-2.0
"""Who takes what another had before, and gives up where it finds it taken; or who gave up.

What is taken is a lock, or a name that must not be there yet. Needs an operation t that gives up
instead of waiting (TRY) and an r by which another actor gives back what t takes, such that t ∥ r by
inherent edges. Where t worked r is what it came after, by a CHANCE edge; where it found a lock
taken, the next RELEASE of it. Had the two come the other way round, t would have failed, or not.

Told are all of them: each is one attempt.

Cost: one look at each CHANCE edge and each operation on a lock.
"""

from collections.abc import Iterator

import numpy as np

from eitherway.model.order import Order
from eitherway.model.race import TRIED, Race
from eitherway.model.trace import Trace
from eitherway.model.words import EdgeKind, Kind, OpFlag, OpKind

_GAVE_UP = int(OpFlag.TRY | OpFlag.FAILED)


def find(order: Order) -> list[Race]:
    """In the order seen."""
    trace, actor = order.trace, order.trace.operations["actor"]
    pairs = sorted({*_that_worked(trace), *_that_gave_up(trace)})
    pairs = [(one, other) for one, other in pairs if actor[one] != actor[other]]
    if not pairs:
        return []
    open_ = order.concurrent(*np.array(pairs, dtype=np.int64).T)
    return [
        Race(Kind.LOAD_STORE, pair, TRIED)
        for pair, can in zip(pairs, open_.tolist(), strict=True)
        if can
    ]


def _that_worked(trace: Trace) -> Iterator[tuple[int, int]]:
    edges = trace.edges[trace.edges["kind"] == int(EdgeKind.CHANCE)]
    tries = trace.operations["flags"][edges["target"]] & int(OpFlag.TRY) != 0
    yield from zip(edges["source"][tries].tolist(), edges["target"][tries].tolist(), strict=True)


def _that_gave_up(trace: Trace) -> Iterator[tuple[int, int]]:
    rows = trace.operations
    locks = np.flatnonzero(np.isin(rows["kind"], [int(OpKind.ACQUIRE), int(OpKind.RELEASE)]))
    waiting: dict[int, list[int]] = {}  # attempts by lock
    columns = (rows[name][locks].tolist() for name in ("range", "kind", "flags"))
    for number, touched, kind, flags in zip(locks.tolist(), *columns, strict=True):
        if kind == int(OpKind.RELEASE):
            yield from ((attempt, number) for attempt in waiting.pop(touched, ()))
        elif flags & _GAVE_UP == _GAVE_UP:
            waiting.setdefault(touched, []).append(number)
