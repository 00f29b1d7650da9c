# SPDX-License-Identifier: Apache-2.0
"""Requests that may be part of a ring: a lock held and a lock wanted that lead to one another.

Each lock held at each request would be squares of what nests deeply. So "held when this is wanted"
is asked of spans (from taking a lock to giving it back) that cover a run of requests: a tree over
the requests stands for the arcs from a lock to all it was held for, and only arcs inside a strongly
connected part are written out.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eitherway.detect.accesses import numbered
from eitherway.detect.graph import parts
from eitherway.detect.locks import Column, Locks, Spans
from eitherway.model.distinct import distinct
from eitherway.model.order import Order
from eitherway.model.words import OpFlag, OpKind

MOST = 500_000  # pairs of a lock held and a request that are written out


class Waits(NamedTuple):
    """Acquisitions that may wait, made while holding locks, in columns; by actor, then by time."""

    operation: Column
    wants: Column
    flags: Column
    moves: Column  # `Locks.moves_before`


class Request(NamedTuple):
    """One actor holding a lock, among others, and wanting another one."""

    actor: int
    since: int  # the ACQUIRE of the lock held
    operation: int


class Sort(NamedTuple):
    """What requests have in common as far as a ring goes; actor and moment are left open."""

    held: int
    held_shared: bool
    wants: int
    shared: bool
    gates: int  # number of the set of locks held
    taken_at: int  # place
    wanted_at: int


class Requests(NamedTuple):
    """By sort, and of one actor in one segment the first."""

    by_sort: dict[Sort, list[Request]]
    holding: dict[int, int]  # for each number of a set of locks, that of a holding with these
    part: Column  # of each lock
    whole: bool  # otherwise each lock held was only looked at with the first requests


def waits_of(order: Order, locks: Locks) -> Waits:
    """All that may wait for a lock while holding one."""
    rows = order.trace.operations
    waits = (rows["kind"] == int(OpKind.ACQUIRE)) & (rows["range"] != 0)
    operations = np.flatnonzero(waits & ((rows["flags"] & int(OpFlag.TRY)) == 0))
    operations = operations[locks.at(operations) > 0]
    moves = locks.moves_before(operations)
    by_actor = np.argsort(moves, kind="stable")
    operations, moves = operations[by_actor], moves[by_actor]
    flags = rows["flags"][operations].astype(np.int64)
    return Waits(operations, rows["range"][operations].astype(np.int64), flags, moves)


def own_spans(waits: Waits, spans: Spans) -> Column:
    """For each wait, the span in which its actor holds the wanted lock already, or -1."""
    keys = spans.lock << 32 | spans.start
    found = np.searchsorted(keys, waits.wants << 32 | waits.moves, side="right") - 1
    holds = (found >= 0) & (spans.lock[found] == waits.wants) & (waits.moves < spans.end[found])
    result: Column = np.where(holds, found, -1)
    return result


def requests_of(order: Order, locks: Locks, waits: Waits, spans: Spans) -> Requests:
    """Those of locks that lie on a cycle, among waits for locks that their actors do not hold."""
    low, high = (np.searchsorted(waits.moves, bound) for bound in (spans.start, spans.end))
    part = _lock_parts(spans.lock, low, high, waits.wants, len(order.trace.ranges))
    span, wait, whole = _inside(part, spans.lock, low, high, waits.wants)
    first = np.lexsort((spans.since[span], waits.operation[wait]))
    by_sort, holding = _sorted(order, locks, _rows(waits, wait[first]), _spans(spans, span[first]))
    return Requests(by_sort, holding, part, whole)


def _rows(waits: Waits, rows: Column) -> Waits:
    return Waits(*(column[rows] for column in waits))


def _spans(spans: Spans, rows: Column) -> Spans:
    return Spans(*(column[rows] for column in spans))


def _lock_parts(lock: Column, low: Column, high: Column, wants: Column, locks: int) -> Column:
    """The strongly connected part of each lock, by arcs from it to all wanted in [low, high)."""
    source, node = _cover(low, high, len(wants))
    inner_source, inner_node = _tree(node, len(wants))
    sources = np.r_[lock[source], inner_source + locks]
    nodes = np.r_[node, inner_node]
    leaf = nodes >= len(wants)
    targets = nodes + locks
    targets[leaf] = wants[nodes[leaf] - len(wants)]
    known, dense = np.unique(np.r_[sources, targets], return_inverse=True)
    dense = dense.astype(np.int64)
    found = parts(dense[: len(sources)], dense[len(sources) :], len(known))
    result = np.arange(locks, dtype=np.int64)
    is_lock = known < locks
    # A tree node may stand for a part: it is no lock, so its number cannot be that of another part.
    result[known[is_lock]] = known[found[is_lock]]
    return result


def _cover(low: Column, high: Column, leaves: int) -> tuple[Column, Column]:
    """(row, node): the nodes of a tree over the leaves that cover [low, high) of each row.

    Node n has the nodes 2n and 2n + 1 below it; leaf i is node `leaves` + i.
    """
    row = np.arange(len(low))
    lows, highs = low + leaves, high + leaves
    found = [(row[:0], row[:0])]
    while len(row):
        odd = (lows & 1 == 1) & (lows < highs)
        found.append((row[odd], lows[odd]))
        lows = lows + odd
        odd = (highs & 1 == 1) & (lows < highs)
        found.append((row[odd], highs[odd] - 1))
        lows, highs = lows >> 1, (highs - odd) >> 1
        rest = lows < highs
        row, lows, highs = row[rest], lows[rest], highs[rest]
    rows, nodes = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(nodes)


def _tree(nodes: Column, leaves: int) -> tuple[Column, Column]:
    """The arcs below these nodes."""
    arcs = [(nodes[:0], nodes[:0])]
    seen = np.zeros(2 * leaves, dtype=bool)
    inner = distinct(nodes[nodes < leaves])
    while len(inner):
        seen[inner] = True
        below = np.r_[2 * inner, 2 * inner + 1]
        arcs.append((np.r_[inner, inner], below))
        inner = distinct(below[(below < leaves) & ~seen[below]])
    sources, targets = zip(*arcs, strict=True)
    return np.concatenate(sources), np.concatenate(targets)


def _inside(
    part: Column, lock: Column, low: Column, high: Column, wants: Column
) -> tuple[Column, Column, bool]:
    """(span, wait, whether these are all): pairs of locks of one part."""
    by_part = np.argsort(part[wants], kind="stable")
    keys = part[wants][by_part] * (len(wants) + 1) + by_part
    begin = np.searchsorted(keys, part[lock] * (len(wants) + 1) + low)
    count = np.searchsorted(keys, part[lock] * (len(wants) + 1) + high) - begin
    whole = int(count.sum()) <= MOST
    if not whole:
        count = np.minimum(count, max(MOST // int(np.count_nonzero(count)), 1))
    span = np.repeat(np.arange(len(lock)), count)
    within = np.arange(len(span)) - np.repeat(np.cumsum(count) - count, count)
    return span, by_part[np.repeat(begin, count) + within], whole


def _sorted(
    order: Order, locks: Locks, waits: Waits, spans: Spans
) -> tuple[dict[Sort, list[Request]], dict[int, int]]:
    """The requests by sort, from rows that are pairs of a lock held and a wait."""
    trace = order.trace
    gates, holding = _gates(locks, waits.operation)
    stack = trace.operations["stack"]
    columns = (
        spans.lock,
        spans.shared,
        waits.wants,
        (waits.flags & int(OpFlag.SHARED)) != 0,
        gates,
        trace.stacks["place"][stack[spans.since]],
        trace.stacks["place"][stack[waits.operation]],
    )
    _, first = numbered(*columns, order.segment[waits.operation])
    first.sort()
    actor = trace.operations["actor"][waits.operation]
    requests = zip(*(c[first].tolist() for c in (actor, spans.since, waits.operation)), strict=True)
    by_sort: dict[Sort, list[Request]] = {}
    for sort, request in zip(
        zip(*(c[first].tolist() for c in columns), strict=True), requests, strict=True
    ):
        by_sort.setdefault(Sort(*sort), []).append(Request(*request))
    return by_sort, holding


def _gates(locks: Locks, operations: Column) -> tuple[Column, dict[int, int]]:
    """The number of the set of locks held at each, and a holding for each such number."""
    holdings = locks.at(operations)
    number, first = numbered(*_fingerprints(locks.spans(), locks.moves_before(operations)))
    return number, dict(enumerate(holdings[first].tolist()))


def _fingerprints(spans: Spans, moves: Column) -> npt.NDArray[np.uint64]:
    """Two columns that tell sets of locks apart: 128 random bits per lock, added modulo 2.

    The sets themselves would take a step for each lock held at each request.
    """
    locks, number = np.unique(2 * spans.lock + spans.shared, return_inverse=True)
    random = np.random.default_rng(len(locks))
    bits = random.integers(0, 1 << 64, (2, len(locks)), dtype=np.uint64)[:, number]
    changes = np.zeros((2, int(spans.end.max(initial=0)) + 1), dtype=np.uint64)
    for row, mine in zip(changes, bits, strict=True):
        np.bitwise_xor.at(row, spans.start, mine)
        np.bitwise_xor.at(row, spans.end, mine)
    result: npt.NDArray[np.uint64] = np.bitwise_xor.accumulate(changes, axis=1)[:, moves]
    return result
