# SPDX-License-Identifier: Apache-2.0
"""Whether what a race stores and sees is one value, as often as a run comes there."""

from collections.abc import Collection

import numpy as np

from eitherway.find.confirm import Tracer
from eitherway.model.trace import Table
from eitherway.worlds.threads.branch import Pair, Side
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import Depth, TraceRequest, Where


def have_one_value(tracer: Tracer, ran: Ran, pairs: Collection[Pair]) -> bool:
    """Of the bytes of these pairs, at their places in the code; no, if the trace does not show it.

    Which instances of a race are tried is chosen: another one may have another value.
    """
    sides = [side for pair in pairs for side in (pair.first, pair.second)]
    first, *more = dict.fromkeys(Where(side.low, side.high) for side in sides)
    traced = tracer.trace(ran, TraceRequest(Depth.VALUES, where=first, also=tuple(more)))
    events = traced.events
    if traced.differs or events.values is None:
        return False
    pcs = events.names.sites["pc"][events.events["site"]]
    racing = [_is(events.events, side) for side in sides]
    if not all(map(np.any, racing)):
        return False
    there = np.flatnonzero(np.isin(pcs, pcs[np.logical_or.reduce(racing)]))
    return _are_same(events, events.values, there)


def _is(rows: Table, side: Side) -> Table:
    same: Table = (rows["step"] == side.step) & (rows["thread"] == side.thread)
    same &= (rows["op"] == side.op) & (rows["address"] == side.low)
    return same


def _are_same(events: Events, values: Table, numbers: Table) -> bool:
    """Each address has one."""
    addresses = events.events["address"][numbers].tolist()
    seen = set(zip(addresses, values[numbers].tolist(), strict=True))
    return len(seen) == len(set(addresses))
