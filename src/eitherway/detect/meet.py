# SPDX-License-Identifier: Apache-2.0
"""First meetings: for each pair of sides, one pair of items that nothing orders.

An *item* is something an actor did in a segment on a range, a *side* what is told of it (its place
in the code, what it did). Items come by segment, so of two items only "the earlier happened before
the later" must be ruled out, and of all items of one actor with one side in one slot only the
latest matters: if an earlier one is unordered with what comes, so is the latest.

Three things keep the cost near one step per item and slot:

* *fronts*: per slot and sort of item, the items that no later one of a sort that meets at least as
  much happened after. If all of them happened before the newcomer, everything did. In a trace
  without races this is one comparison.
* *settled* pairs: sides that met, or never can, are not looked at again.
* items of one actor are kept latest first, so a search ends at the first one that is ordered.

Worst case: a slot in which some pair stays open for ever costs one step per actor and item.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eitherway.detect.overlap import components, overlaps
from eitherway.model.order import Numbers, Order
from eitherway.model.trace import Table

ITEMS_AT_ONCE = 4_000_000  # what is kept in memory; each part costs a sweep of its own

Conflict = Callable[[int, int], bool]
Pairs = npt.NDArray[np.int64]  # rows of two


@dataclass(frozen=True, slots=True)
class Items:
    """Items sorted by segment; `range` is a row of `ranges`."""

    segment: Numbers
    number: Numbers  # the segment until whose end the item lasts, among those of its actor
    range: Numbers
    side: Numbers
    ranges: Table

    def __len__(self) -> int:
        """How many items."""
        return len(self.segment)

    def part(self, chosen: npt.NDArray[np.int64]) -> "Items":
        """Some of the items, with only the ranges they use."""
        used, row = np.unique(self.range[chosen], return_inverse=True)
        return Items(
            segment=self.segment[chosen],
            number=self.number[chosen],
            range=row.astype(np.uint32),
            side=self.side[chosen],
            ranges=self.ranges[used],
        )


@dataclass(frozen=True, slots=True)
class Sorts:
    """What an item can be (`of_side`), what each sort can meet, and whose place it can take.

    A sort may take the place of another in a front when it meets all that the other meets.
    """

    of_side: list[int]
    meets: tuple[tuple[int, ...], ...]
    replaces: tuple[tuple[int, ...], ...]


class _Seen:
    """The items of one sort in one slot."""

    __slots__ = ("by_actor", "done", "front", "sides", "stale")

    def __init__(self) -> None:
        self.front: dict[int, int] = {}  # actor -> number of its segment
        self.stale = 1  # front size from which on it is worth dropping what is before a newcomer
        self.by_actor: dict[int, dict[int, int]] = {}  # actor -> side -> item, latest last
        self.sides: set[int] = set()
        self.done: dict[int, int] = {}  # side -> how many sides there were when all were settled


_Slot = dict[int, _Seen]  # by sort


def first_meetings(order: Order, items: Items, sorts: Sorts, conflict: Conflict) -> Pairs:
    """For each two sides that conflict and meet unordered: two items, by segment."""
    settled: dict[int, set[int]] = {}
    met = [np.zeros((0, 2), dtype=np.int64)]
    for chosen in _parts(items):
        walk = _Walk(items.part(chosen), sorts, conflict, settled)
        walk.through(order)
        met.append(chosen[np.array(walk.met, dtype=np.int64).reshape(-1, 2)])
    return np.concatenate(met)


def _parts(items: Items) -> Iterator[npt.NDArray[np.int64]]:
    """The items in parts that share no slot, each of a bounded size if its objects allow it."""
    if len(items) <= ITEMS_AT_ONCE:
        yield np.arange(len(items))
        return
    component = components(items.ranges)[items.range]
    behind = np.cumsum(np.bincount(component))
    part = (behind // ITEMS_AT_ONCE)[component]
    for number in range(int(part.max()) + 1):
        yield np.flatnonzero(part == number)


class _Walk:
    """One walk over items, with the current one and all that was seen before it."""

    def __init__(
        self, items: Items, sorts: Sorts, conflict: Conflict, settled: dict[int, set[int]]
    ) -> None:
        self.items = items
        self.sorts = sorts
        self.conflict = conflict
        self.settled = settled
        self.met: list[int] = []  # pairs of items, flat
        self.number = items.number.data
        self.item = self.side = self.actor = 0
        self.clock = memoryview(b"")

    def through(self, order: Order) -> None:
        """Visits all items, each with the clock of its segment."""
        items, places = self.items, overlaps(self.items.ranges)
        slots: list[_Slot] = [{} for _ in range(places.count)]
        looks, enters = places.looks, places.enters
        owners = order.actor.data
        sweep, at = order.sweep(), -1
        columns = zip(items.segment.data, items.range.data, items.side.data, strict=True)
        for self.item, (segment, row, self.side) in enumerate(columns):
            while at < segment:
                at, clock = next(sweep)
                self.clock, self.actor = clock.data, owners[at]
            for slot in looks[row]:
                self._look(slots[slot])
            for slot in enters[row]:
                self._enter(slots[slot])

    def _look(self, slot: _Slot) -> None:
        """Searches all rivals if the front of any is open: a front may stand in for another's."""
        meets = self.sorts.meets[self.sorts.of_side[self.side]]
        rivals = [slot[rival] for rival in meets if rival in slot]
        for seen in rivals:
            if _any_open(seen.front, self.actor, self.clock):
                for each in rivals:
                    self._search(each)
                return
            seen.stale = 1

    def _search(self, seen: _Seen) -> None:
        settled = self.settled.setdefault(self.side, set())
        if seen.done.get(self.side) == len(seen.sides):
            return
        if seen.sides <= settled:
            seen.done[self.side] = len(seen.sides)
            return
        for actor, latest in seen.by_actor.items():
            if actor == self.actor:
                continue
            known = self.clock[actor]
            for side, item in reversed(latest.items()):
                if self.number[item] <= known:
                    break
                if side not in settled:
                    self._settle(side, item)

    def _settle(self, side: int, item: int) -> None:
        self.settled[self.side].add(side)
        self.settled.setdefault(side, set()).add(self.side)
        if self.conflict(side, self.side):
            self.met += (item, self.item)

    def _enter(self, slot: _Slot) -> None:
        sort, actor, clock = self.sorts.of_side[self.side], self.actor, self.clock
        for replaced in self.sorts.replaces[sort]:
            older = slot.get(replaced)
            if older is not None and len(older.front) >= older.stale:
                older.front = {a: n for a, n in older.front.items() if n > clock[a] and a != actor}
                older.stale = 2 * len(older.front) + 1
        seen = slot.get(sort)
        if seen is None:
            seen = slot[sort] = _Seen()
        self._keep(seen, actor)

    def _keep(self, seen: _Seen, actor: int) -> None:
        number = self.number[self.item]
        latest = seen.by_actor.setdefault(actor, {})
        seen.sides.add(self.side)
        if number >= seen.front.get(actor, 0):
            seen.front[actor] = number
            latest.pop(self.side, None)  # puts it last
            latest[self.side] = self.item
        elif self.side not in latest or number > self.number[latest[self.side]]:
            latest[self.side] = self.item
            ordered = sorted(latest.items(), key=lambda entry: self.number[entry[1]])
            seen.by_actor[actor] = dict(ordered)


def _any_open(front: dict[int, int], actor: int, clock: memoryview) -> bool:
    """Whether an item of the front did not happen before the clock of another actor's item."""
    for other, number in front.items():  # noqa: SIM110 - any() over a generator takes twice as long
        if number > clock[other] and other != actor:
            return True
    return False
