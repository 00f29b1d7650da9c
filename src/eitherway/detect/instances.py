# SPDX-License-Identifier: Apache-2.0
"""How often a run shows one race: other pairs of accesses at the same two places.

A detector tells one witness for each pair of places. What the others do may be worse.
"""

import numpy as np

from eitherway.detect.accesses import Accesses, Column, Mask, shared_accesses
from eitherway.model.distinct import distinct
from eitherway.model.order import Order
from eitherway.model.race import Race

_LOOKS = 8  # at accesses, for each instance that is wanted

Pair = tuple[int, int]


def instances(order: Order, race: Race, limit: int, *, of_stores: bool = False) -> list[Pair]:
    """Up to so many pairs, spread over the run, the race's own first; earlier access first.

    `of_stores`: but for the race's own, the earlier access stores.

    Half of them are of an access with the next one that it races with: little else happens between
    the two. The others are of accesses that are further apart.
    """
    one, other = race.operations[:2]
    accesses = shared_accesses(order.trace)
    sides = _alike(accesses, one), _alike(accesses, other)
    rows = np.flatnonzero(sides[0]), np.flatnonzero(sides[1])
    witness = min(one, other), max(one, other)
    near: list[Pair] = []
    far: list[Pair] = []
    earlier = (sides[0] | sides[1]) & (accesses.stores | (not of_stores))
    for row in _spread(np.flatnonzero(earlier), limit * _LOOKS).tolist():
        partners = _racing_after(order, accesses, row, rows[1] if sides[0][row] else rows[0])
        pairs = [(int(accesses.operation[row]), partner) for partner in partners.tolist()]
        near += pairs[:1]
        far += [pairs[1 + number] for number in _spread(np.arange(len(pairs[1:])), limit)]
    return _chosen(witness, near, far, limit)


def _chosen(witness: Pair, near: list[Pair], far: list[Pair], limit: int) -> list[Pair]:
    """The more of the one sort, the fewer of the other there need be."""
    close = [pair for pair in dict.fromkeys(near) if pair != witness]
    apart = [pair for pair in dict.fromkeys(far) if pair != witness and pair not in close]
    few = max((limit - 1) // 2, limit - 1 - len(apart))
    told = [close[number] for number in _spread(np.arange(len(close)), few)]
    rest = [apart[number] for number in _spread(np.arange(len(apart)), limit - 1 - len(told))]
    return [witness, *told, *rest]


def _alike(accesses: Accesses, operation: int) -> Mask:
    """Accesses of the same sort at the same place."""
    row = int(np.flatnonzero(accesses.operation == operation)[0])
    alike: Mask = (
        (accesses.place == accesses.place[row])
        & (accesses.kind == accesses.kind[row])
        & (accesses.atomic == accesses.atomic[row])
    )
    return alike


def _racing_after(order: Order, accesses: Accesses, row: int, among: Column) -> Column:
    """Those of the other side that come later and nothing orders with this one."""
    among = among[accesses.operation[among] > accesses.operation[row]]
    among = among[accesses.actor[among] != accesses.actor[row]]
    ranges, wanted = accesses.ranges[accesses.range[among]], accesses.ranges[accesses.range[row]]
    overlap = (
        (ranges["object"] == wanted["object"])
        & (ranges["lo"] < wanted["hi"])
        & (wanted["lo"] < ranges["hi"])
    )
    theirs = accesses.operation[among[overlap]]
    racing: Column = theirs[order.concurrent(theirs, np.full(len(theirs), accesses.operation[row]))]
    return racing


def _spread(rows: Column, limit: int) -> Column:
    """At most so many of them, the last and the first among them."""
    if len(rows) <= limit:
        return rows
    places = np.linspace(len(rows) - 1, 0, limit).astype(np.int64)
    return rows[distinct(places)]
