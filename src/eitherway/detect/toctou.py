# SPDX-License-Identifier: Apache-2.0
"""A look at a name, a use of it by what the look decided, and a change that can come between.

Needs a LOAD c that only looks (CHECK), or that failed; an access u to the same range behind it that
is no such look, by the same actor or by one that it started after c; and a STORE x to that range by
another actor, or its attempt (TRY) at one, such that u ∥ x and not x → c. A call that is made again
at the same place is a second try, not a use of what the first one saw: places of c and u differ. An
attempt at a change that failed is a look only if x came behind it: before x it would not have
failed. Of the looks before a use the last one counts, of the changes the nearest few.

Told are (c, x, u), in this order whenever x came: of each three places, pair of actors and range
the `KEPT` nearest.

Cost: linear in the accesses to ranges that have all three, times the ancestors that are asked; one
sweep for the changes.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from eitherway.detect.accesses import Accesses, Mask, numbered, shared_accesses
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind, OpFlag

KEPT = 2
_NEAR = 6  # looks before a use, and changes on either side of it, that are considered
_GENERATIONS = 8  # ancestors whose looks may be what decided


class _Row(NamedTuple):
    operation: int
    actor: int
    place: int
    store: bool
    looks: bool  # only
    failed: bool
    tries: bool  # to change it, and could not


@dataclass(slots=True)
class _Spot:
    """What was done to one range, in order."""

    looks: dict[int, list[_Row]] = field(default_factory=lambda: defaultdict(list))  # by actor
    uses: list[tuple[_Row, _Row]] = field(default_factory=list)  # each with its look
    stores: list[_Row] = field(default_factory=list)


def find(order: Order) -> list[Race]:
    """Of each three places, actors and range the nearest."""
    accesses = shared_accesses(order.trace)
    lines = _Lines(order.trace)
    threes = [three for spot in _spots(order.trace, accesses, lines) for three in _threes(spot)]
    chosen = _nearest(threes, _open(order, threes))
    return [
        Race(Kind.TOCTOU, (check.operation, change.operation, use.operation))
        for check, change, use in chosen
    ]


Three = tuple[_Row, _Row, _Row]


class _Lines:
    """Who an actor comes from, and the operation by which each of them made the next."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[int, tuple[tuple[int, float], ...]] = {}

    def of(self, actor: int) -> tuple[tuple[int, float], ...]:
        """The actor itself first; what counts of each is up to and with that operation."""
        if actor not in self._known:
            self._known[actor] = tuple(self._walk(actor))
        return self._known[actor]

    def _walk(self, actor: int) -> Iterator[tuple[int, float]]:
        limit = float("inf")
        for _ in range(_GENERATIONS):
            yield actor, limit
            row = self._trace.actor(actor)
            if row.parent is None or row.started_by is None:
                return
            actor, limit = row.parent, row.started_by


def _spots(trace: Trace, accesses: Accesses, lines: _Lines) -> Iterator[_Spot]:
    """The ranges that somebody looks at and somebody changes."""
    flags = trace.operations["flags"][accesses.operation]
    looks = (flags & int(OpFlag.CHECK)) != 0
    failed = (flags & int(OpFlag.FAILED)) != 0
    tries = failed & ((flags & int(OpFlag.TRY)) != 0)
    wanted = _both(accesses, looks | failed, accesses.stores)
    spots: dict[int, _Spot] = defaultdict(_Spot)
    columns = (
        accesses.range, accesses.operation, accesses.actor, accesses.place, accesses.stores, looks,
        failed, tries,
    )  # fmt: skip
    for touched, *row in zip(*(column[wanted].tolist() for column in columns), strict=True):
        _take(spots[touched], _Row(*row), lines)
    yield from spots.values()


def _both(accesses: Accesses, one: Mask, other: Mask) -> Mask:
    """Accesses to ranges that have some of either."""
    has = [np.zeros(len(accesses.ranges), dtype=bool) for _ in range(2)]
    for mask, found in zip((one, other), has, strict=True):
        found[accesses.range[mask]] = True
    result: Mask = (has[0] & has[1])[accesses.range]
    return result


def _take(spot: _Spot, row: _Row, lines: _Lines) -> None:
    if not row.looks and (look := _look_before(spot, row, lines)) is not None:
        spot.uses.append((look, row))
    if row.looks or row.failed:
        spot.looks[row.actor].append(row)
    if row.store or row.tries:
        spot.stores.append(row)


def _look_before(spot: _Spot, use: _Row, lines: _Lines) -> _Row | None:
    for actor, limit in lines.of(use.actor) if spot.looks else ():
        looks = spot.looks.get(actor, ())
        at = bisect_right(looks, limit, key=lambda row: row.operation)
        for look in reversed(looks[max(at - _NEAR, 0) : at]):
            if look.place != use.place:
                return look
    return None


def _threes(spot: _Spot) -> Iterator[Three]:
    for check, use in spot.uses:
        at = bisect_right(spot.stores, use.operation, key=lambda row: row.operation)
        for change in spot.stores[max(at - _NEAR, 0) : at + _NEAR]:
            behind = change.operation > check.operation
            if change.actor not in (check.actor, use.actor) and (behind or not check.tries):
                yield check, change, use


def _open(order: Order, threes: list[Three]) -> Mask:
    """Whether the change can be on either side of the use, and need not come before the look."""
    if not threes:
        return np.zeros(0, dtype=bool)
    checks, changes, uses = np.array(
        [[row.operation for row in three] for three in threes], dtype=np.int64
    ).T
    both = order.before(
        np.concatenate([changes, np.minimum(changes, uses)]),
        np.concatenate([checks, np.maximum(changes, uses)]),
    )
    before, ordered = np.split(both, 2)
    result: Mask = ~before & ~ordered
    return result


def _nearest(threes: list[Three], possible: Mask) -> list[Three]:
    found = [three for three, can in zip(threes, possible.tolist(), strict=True) if can]
    found.sort(key=_distance)
    if not found:
        return []
    sides = np.array([[(row.actor, row.place) for row in three] for three in found])
    group, _ = numbered(*sides.reshape(len(found), -1).T)
    seen: dict[int, int] = defaultdict(int)
    kept = []
    for three, number in zip(found, group.tolist(), strict=True):
        seen[number] += 1
        if seen[number] <= KEPT:
            kept.append(three)
    return sorted(kept, key=lambda three: [row.operation for row in three])


def _distance(three: Three) -> int:
    operations = [row.operation for row in three]
    return max(operations) - min(operations)
