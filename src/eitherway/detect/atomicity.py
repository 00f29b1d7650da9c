# SPDX-License-Identifier: Apache-2.0
"""Two accesses of one actor that seem to belong together, and a remote one that can come between.

The patterns are those in which no order of whole pairs explains what the three accesses see: local,
remote, local. What "consecutive", "region" and "can come between" mean stands in docs/detectors.md.
Locks decide here, not the order in which critical sections happened to run, so the order given must
be that of inherent edges: a violation is found without a data race, and without being seen.

Cost: as `load_store`, on the pairs of consecutive accesses and the accesses themselves.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from eitherway.detect.accesses import Accesses, Column, Mask, numbered, shared_accesses
from eitherway.detect.locks import Holding, Locks, exclude
from eitherway.detect.meet import Items, Pairs, Sorts, first_meetings
from eitherway.detect.overlap import components
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import ACCESSES, STORES, Kind, OpKind

_BLIND = STORES - {OpKind.UPDATE}  # store without a look
_READS = {kind: "" if kind in _BLIND else "R" for kind in OpKind if kind in ACCESSES}
_WRITES = {kind: "W" if kind in STORES else "" for kind in _READS}
PATTERNS = ("RWR", "WWR", "RWW", "WRW")


def pattern(first: OpKind, remote: OpKind, second: OpKind) -> str:
    """The first of `PATTERNS` these accesses make, or "".

    Two updates depend on nothing between them: each takes the value as it finds it.
    """
    if first is second is OpKind.UPDATE:
        return ""
    letters = [_READS[kind] + _WRITES[kind] for kind in (first, remote, second)]
    made = (p for p in PATTERNS if all(x in can for x, can in zip(p, letters, strict=True)))
    return next(made, "")


# Kinds of the first, the second and the remote access, as numbers.
_SPOILT = frozenset(
    (int(first), int(second), int(remote))
    for first, second, remote in product(_READS, repeat=3)
    if pattern(first, remote, second)
)


def find(order: Order) -> list[Race]:
    """First witnesses per three places and kinds of access."""
    accesses = shared_accesses(order.trace)
    locks = Locks(order.trace)
    first, second = _pairs(order.trace, accesses)
    sides = _Sides(accesses, first, second, locks)
    items, rows = _items(order, accesses, sides, first, second)
    sorts = Sorts(
        of_side=sides.sorts(), meets=((1,), (0,)), replaces=((), ())
    )  # a pair, a remote access
    meetings = rows[first_meetings(order, items, sorts, sides.conflict)]
    return list(_races(order.trace, accesses, meetings, first, second))


def _pairs(trace: Trace, accesses: Accesses) -> tuple[Column, Column]:
    """Rows of consecutive accesses of one actor to one range, within one region."""
    group, _ = numbered(accesses.actor, accesses.range)
    rows = np.argsort(group, kind="stable")
    stack = trace.operations["stack"][accesses.operation].astype(np.int64)
    together = np.zeros(len(rows), dtype=bool)
    together[1:] = group[rows][1:] == group[rows][:-1]
    together[1:] &= _share_a_call(trace, stack[rows][:-1], stack[rows][1:])
    side, _ = numbered(accesses.place, accesses.kind)
    together &= ~_repeats(group[rows], side[rows])
    second = np.flatnonzero(together)
    return rows[second - 1], rows[second]


def _share_a_call(trace: Trace, one: Column, other: Column) -> Mask:
    """Whether both are in one function called from one place, or called directly by one such."""
    calls, callers = _call(trace, one), _call(trace, trace.stacks["caller"][one].astype(np.int64))
    theirs = [_call(trace, other), _call(trace, trace.stacks["caller"][other].astype(np.int64))]
    shared: Mask = np.zeros(len(one), dtype=bool)
    for mine in (calls, callers):
        for their in theirs:
            shared |= (mine == their) & (mine >= 0)
    return shared


def _call(trace: Trace, stack: Column) -> Column:
    """A number for (caller, function) of each stack; -1 of an unknown stack."""
    caller = trace.stacks["caller"][stack].astype(np.int64)
    function = trace.places["function"][trace.stacks["place"][stack]].astype(np.int64)
    result: Column = np.where(stack == 0, -1, caller << 32 | function)
    return result


def _repeats(group: Column, side: Column) -> Mask:
    """Where a region ends because its place comes again: the actor has gone round a loop."""
    result: Mask = np.zeros(len(group), dtype=bool)
    current, seen = -1, set[int]()
    for row, (owner, place) in enumerate(zip(group.tolist(), side.tolist(), strict=True)):
        if owner != current:
            current, seen = owner, set()
        elif place in seen:
            result[row] = True
            seen.clear()
        seen.add(place)
    return result


class _Sides:
    """Sides of pairs, then of accesses: what was done where, under which locks."""

    def __init__(self, accesses: Accesses, first: Column, second: Column, locks: Locks) -> None:
        at = locks.at(accesses.operation)
        self.holdings = _Holdings(locks)
        kept = self.holdings.kept(at[first], at[second])
        held = self.holdings.distinct(at)
        self.useful = self._useful(components(accesses.ranges)[accesses.range], first, held, kept)
        place, kind = accesses.place, accesses.kind
        self.of_pair, pairs = numbered(place[first], kind[first], place[second], kind[second], kept)
        self.of_access, singles = numbered(place, kind, held)
        self.pairs = len(pairs)
        self._kinds = [
            *zip(kind[first[pairs]].tolist(), kind[second[pairs]].tolist(), strict=True),
            *((k,) for k in kind[singles].tolist()),
        ]
        self._held = [*kept[pairs].tolist(), *held[singles].tolist()]

    def _useful(self, component: Column, first: Column, held: Column, kept: Column) -> Mask:
        """Pairs not guarded by a lock that all accesses there take; then accesses beside those.

        Most of what locks protect needs no further look.
        """
        guards = self.holdings.common(component, held)
        group, example = numbered(component[first], kept)
        where, what = component[first[example]].tolist(), kept[example].tolist()
        free = [not self.holdings.any_of(w, guards[c]) for c, w in zip(where, what, strict=True)]
        open_pairs = np.array(free, dtype=bool)[group]
        there = np.zeros(len(guards), dtype=bool)
        there[component[first[open_pairs]]] = True
        result: Mask = np.r_[open_pairs, there[component]]
        return result

    def sorts(self) -> list[int]:
        """0 for pairs, 1 for accesses."""
        return [0] * self.pairs + [1] * (len(self._kinds) - self.pairs)

    def conflict(self, one: int, other: int) -> bool:
        """Whether the access can come between the accesses of the pair and spoils them."""
        pair, single = (one, other) if one < other else (other, one)
        spoilt = (*self._kinds[pair], *self._kinds[single]) in _SPOILT
        return spoilt and not self.holdings.exclude(self._held[pair], self._held[single])


class _Holdings:
    """Distinct sets of locks, whoever took them and when."""

    def __init__(self, locks: Locks) -> None:
        self._locks = locks
        self._sets: list[Holding] = [()]
        self._known: dict[frozenset[tuple[int, bool]], int] = {frozenset(): 0}
        self._excluding: dict[tuple[int, int], bool] = {}

    def distinct(self, at: Column) -> Column:
        """The set of each holding."""
        used, row = np.unique(at, return_inverse=True)
        numbers = [self._number(self._locks.holdings[i]) for i in used.tolist()]
        return np.array(numbers, dtype=np.int64)[row]

    def kept(self, one: Column, other: Column) -> Column:
        """The set of locks held all the way between two holdings of one actor."""
        number, example = numbered(one, other)
        numbers = [
            self._number(_common(self._locks.holdings[i], self._locks.holdings[j]))
            for i, j in zip(one[example].tolist(), other[example].tolist(), strict=True)
        ]
        return np.array(numbers, dtype=np.int64)[number]

    def common(self, component: Column, held: Column) -> list[frozenset[int]]:
        """The locks that every access to a component holds, and not as a reader."""
        _, example = numbered(component, held)
        found: dict[int, frozenset[int]] = {}
        where, what = component[example].tolist(), held[example].tolist()
        for number, holding in zip(where, what, strict=True):
            locks = frozenset(h.lock for h in self._sets[holding] if not h.shared)
            found[number] = found.get(number, locks) & locks
        return [found.get(number, frozenset()) for number in range(max(found, default=-1) + 1)]

    def any_of(self, holding: int, locks: frozenset[int]) -> bool:
        """Whether one of the locks is held."""
        return any(held.lock in locks for held in self._sets[holding])

    def exclude(self, one: int, other: int) -> bool:
        """Whether no two actors can hold these at once."""
        if not one or not other:
            return False
        answer = self._excluding.get((one, other))
        if answer is None:
            answer = self._excluding[one, other] = exclude(self._sets[one], self._sets[other])
        return answer

    def _number(self, holding: Holding) -> int:
        key = frozenset((held.lock, held.shared) for held in holding)
        number = self._known.setdefault(key, len(self._sets))
        if number == len(self._sets):
            self._sets.append(holding)
        return number


def _common(one: Holding, other: Holding) -> Holding:
    return one if one is other else tuple(held for held in one if held in other)


def _items(
    order: Order, accesses: Accesses, sides: _Sides, first: Column, second: Column
) -> tuple[Items, Column]:
    """Pairs and accesses as items, with their rows: pairs count from 0, accesses behind them."""
    segment_of = order.segment[accesses.operation]
    lasts = np.r_[order.number[segment_of[second]], order.number[segment_of]]
    segment = np.r_[segment_of[first], segment_of]
    range_ = np.r_[accesses.range[first], accesses.range]
    side = np.r_[sides.of_pair, sides.pairs + sides.of_access]
    chosen = np.flatnonzero(sides.useful)
    _, example = numbered(segment[chosen], lasts[chosen], range_[chosen], side[chosen])
    rows = chosen[example]
    items = Items(
        segment=segment[rows],
        number=lasts[rows],
        range=range_[rows].astype(np.uint32),
        side=side[rows].astype(np.uint32),
        ranges=accesses.ranges,
    )
    return items, rows


def _races(
    trace: Trace, accesses: Accesses, meetings: Pairs, first: Column, second: Column
) -> Iterator[Race]:
    pair, single = meetings.min(axis=1), meetings.max(axis=1) - len(first)
    found = np.stack([first[pair], single, second[pair]])
    found = found[:, np.lexsort(np.sort(found, axis=0)[::-1])]  # the first ones are told
    _, example = numbered(*accesses.place[found], *accesses.kind[found])
    operations = accesses.operation[found[:, np.sort(example)]]
    for one, remote, other in operations.T.tolist():
        kinds = (OpKind(int(trace.operations["kind"][i])) for i in (one, remote, other))
        yield Race(Kind.ATOMICITY, tuple(sorted((one, remote, other))), pattern(*kinds))
