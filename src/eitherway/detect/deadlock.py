# SPDX-License-Identifier: Apache-2.0
"""Actors that can wait for one another in a ring, each holding the lock the next one wants.

A *request* is an acquisition that may wait, made while holding other locks. Requests make a ring if
each wants a lock the next one holds, these locks and the actors are all different, no two of the
holdings exclude each other (a common lock is a gate that lets only one of them in), and nothing
orders two of the requests. Shared and shared do not wait for each other. The order given must be
that of inherent edges: which critical section came first in this run says nothing.

Told once per ring of places (where the lock was taken, where the next one is wanted), rings of up
to `LONGEST` actors. The operations of a race are, request by request round the ring, the
acquisition of the lock that is held and the one that waits.

Cost: near one step per lock operation, to find the locks that lie on a cycle. Their rings are
searched by length, with at most `STEPS` steps for each, and a path is left where all rings of
places it can come to are told. What was not finished is said in the `limits` of what was found.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import numpy as np

from eitherway.detect.found import Found
from eitherway.detect.locks import Column, Locks, Spans, exclude
from eitherway.detect.requests import (
    Request,
    Requests,
    Sort,
    Waits,
    own_spans,
    requests_of,
    waits_of,
)
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind, OpFlag

LONGEST = 6
STEPS = 1_000_000  # for each length of ring
LOCKS_PER_STEP = 16  # that are compared

Step = tuple[int, int]  # places: where the held lock was taken, where the next is wanted
Steps = tuple[Step, ...]
Path = tuple[Sort, ...]
Ring = tuple[Request, ...]


def find(order: Order) -> Found:
    """First witnesses per ring of places, and waits for a lock that the waiter itself holds."""
    locks = Locks(order.trace)
    spans, waits = locks.spans(), waits_of(order, locks)
    own = own_spans(waits, spans)
    others = Waits(*(column[own < 0] for column in waits))
    search = _Search(order, locks, requests_of(order, locks, others, spans))
    races = [*_self_waits(order.trace, waits, own, spans), *search.races()]
    return Found(sorted(races, key=lambda race: race.operations), search.limits)


def _self_waits(trace: Trace, waits: Waits, own: Column, spans: Spans) -> Iterator[Race]:
    """Those that never returned; else it is a lock its holder may take again."""
    blocked = (own >= 0) & ((waits.flags & int(OpFlag.BLOCKED)) != 0)
    shared = (waits.flags & int(OpFlag.SHARED) != 0) & (spans.shared[own] != 0)
    rows = np.flatnonzero(blocked & ~shared)
    rows = rows[np.argsort(waits.operation[rows])]
    place = trace.stacks["place"][trace.operations["stack"]]
    told = set[Step]()
    for since, operation in zip(
        spans.since[own[rows]].tolist(), waits.operation[rows].tolist(), strict=True
    ):
        step = (int(place[since]), int(place[operation]))
        if step not in told:
            told.add(step)
            yield Race(Kind.DEADLOCK, (since, operation), "self")


class _OutOfSteps(Exception):  # noqa: N818 - ends a search, and is no error
    pass


class _Search:
    """Rings of sorts of requests, each entered at its smallest lock, and filled with requests."""

    def __init__(self, order: Order, locks: Locks, requests: Requests) -> None:
        self.requests = requests.by_sort
        self.limits = [] if requests.whole else [_CUT]
        self.holders: dict[int, list[Sort]] = {}
        self.wanters: dict[int, set[int]] = {}
        for sort in self.requests:
            self.holders.setdefault(sort.held, []).append(sort)
            self.wanters.setdefault(sort.wants, set()).add(sort.held)
        self.starts = _small_parts_first(self.holders, requests.part)
        self.order = _Pairwise(
            order, [r.operation for some in self.requests.values() for r in some]
        )
        self.gates = _Gates(locks, requests.holding)
        self.length = self.steps = 0
        self.told = _Told(self.requests, self.holders, self._spend)

    def races(self) -> Iterator[Race]:
        """Length by length, so that what a long search is cut short of is the unlikely."""
        actors = {request.actor for some in self.requests.values() for request in some}
        for self.length in range(2, min(LONGEST, len(actors)) + 1):
            self.steps = 0
            self.told.begin(self.length)
            try:
                yield from self._of_this_length()
            except _OutOfSteps:
                self.limits.append(_UNFINISHED.format(length=self.length, steps=STEPS))

    def _of_this_length(self) -> Iterator[Race]:
        for lock in self.starts:
            sorts = [s for s in self.holders[lock] if self.told.leaves_open((_step(s),))]
            near = self._distances(lock) if sorts else {}
            for sort in sorts:
                first = self.requests[sort][:1]
                for path, ring in self._rings((sort,), tuple(first), near):
                    self.told.add(tuple(map(_step, path)))
                    yield _race(ring)

    def _spend(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > STEPS:
            raise _OutOfSteps

    def _distances(self, lock: int) -> dict[int, int]:
        """How many arcs from each lock to this one, up to half of the ring."""
        distances, border = {lock: 0}, {lock}
        for distance in range(1, self.length // 2 + 1):
            self._spend(sum(len(self.wanters.get(target, ())) for target in border))
            sources = {source for target in border for source in self.wanters.get(target, ())}
            border = {source for source in sources if source > lock and source not in distances}
            distances.update(dict.fromkeys(border, distance))
        return distances

    def _rings(self, path: Path, ring: Ring, near: dict[int, int]) -> Iterator[tuple[Path, Ring]]:
        """Rings of distinct locks that begin with this path, each of places not told yet."""
        left = self.length - len(path)  # arcs that may still follow
        if not left:
            yield path, ring
            return
        wants = path[-1].wants
        if wants <= path[0].held or (left <= self.length // 2 and near.get(wants, left + 1) > left):
            return
        for sort in self.holders.get(wants, ()):
            self._spend()
            longer = (*path, sort)
            if self._fits(path, sort) and self.told.leaves_open(tuple(map(_step, longer))):
                filled = self._fill(longer, ring)
                if filled:
                    yield from self._rings(longer, filled, near)

    def _fits(self, path: Path, sort: Sort) -> bool:
        if path[-1].shared and sort.held_shared:
            return False
        start = path[0]
        if len(path) + 1 == self.length and (
            sort.wants != start.held or (sort.shared and start.held_shared)
        ):
            return False
        if any(sort.held == s.held for s in path):
            return False
        return not any(self._exclude(sort.gates, s.gates) for s in path)

    def _exclude(self, one: int, other: int) -> bool:
        answer, compared = self.gates.exclude(one, other)
        self._spend(compared // LOCKS_PER_STEP)
        return answer

    def _fill(self, path: Path, ring: Ring) -> Ring:
        """Requests of these sorts, of different actors and unordered, or none.

        `ring` fills all but the last.
        """
        longer = next(self._filled(path, ring), ())
        return longer or next(self._filled(path, ()), ())

    def _filled(self, path: Path, ring: Ring) -> Iterator[Ring]:
        if len(ring) == len(path):
            yield ring
            return
        for request in self.requests[path[len(ring)]]:
            self._spend()
            if all(self._together(request, other) for other in ring):
                yield from self._filled(path, (*ring, request))

    def _together(self, one: Request, other: Request) -> bool:
        return one.actor != other.actor and self.order.concurrent(one.operation, other.operation)


_CUT = (
    "deadlocks: too many locks are held at once to look at all: of each lock only with the first "
    "requests made while it was held"
)
_UNFINISHED = (
    "deadlocks: rings of {length} actors were searched for {steps:,} steps, which did not suffice "
    "to try them all"
)


def _step(sort: Sort) -> Step:
    return sort.taken_at, sort.wanted_at


def _small_parts_first(holders: dict[int, list[Sort]], part: Column) -> list[int]:
    """The locks; one large tangle shall not use up the steps of all others."""
    of_lock = {lock: int(part[lock]) for lock in holders}
    size = Counter(of_lock.values())
    return sorted(holders, key=lambda lock: (size[of_lock[lock]], lock))


class _Told:
    """Rings of places of one length, and the ways into them that lead to nothing else."""

    def __init__(
        self, sorts: Iterable[Sort], holders: dict[int, list[Sort]], spend: Callable[[int], None]
    ) -> None:
        self._spend = spend
        self._wants: dict[Step, set[int]] = {}
        for sort in sorts:
            self._wants.setdefault(_step(sort), set()).add(sort.wants)
        self._at = {lock: set(map(_step, some)) for lock, some in holders.items()}
        self._next: dict[Step, set[Step]] = {}
        self.begin(0)

    def begin(self, length: int) -> None:
        """Forgets rings of other lengths, which are never the same."""
        self._length = length
        self._closed = set[Steps]()
        self._touched = set[Steps]()  # what some ring told begins with

    def add(self, steps: Steps) -> None:
        """This ring was told, wherever it is entered."""
        for i in range(len(steps)):
            turned = steps[i:] + steps[:i]
            self._closed.add(turned)
            self._touched.update(turned[:end] for end in range(1, len(turned) + 1))

    def leaves_open(self, steps: Steps) -> bool:
        """Whether the places may still lead to a ring that was not told."""
        if steps not in self._touched:
            return True
        if steps in self._closed:
            return False
        for step in self._following(steps[-1]):
            self._spend(1)
            if self.leaves_open((*steps, step)):
                return True
        self._closed.add(steps)
        return False

    def _following(self, step: Step) -> set[Step]:
        if step not in self._next:
            at = [self._at.get(lock, set()) for lock in self._wants[step]]
            self._spend(sum(map(len, at)))
            self._next[step] = set[Step]().union(*at)
        return self._next[step]


class _Gates:
    """Which sets of locks exclude each other, each two compared once."""

    def __init__(self, locks: Locks, holding: dict[int, int]) -> None:
        self._holding = lru_cache(maxsize=256)(lambda gates: locks.holdings[holding[gates]])
        self._known: dict[tuple[int, int], bool] = {}

    def exclude(self, one: int, other: int) -> tuple[bool, int]:
        """The answer, and how many locks had to be looked at."""
        key = (min(one, other), max(one, other))
        if key in self._known:
            return self._known[key], 0
        mine, theirs = self._holding(one), self._holding(other)
        self._known[key] = exclude(mine, theirs)
        return self._known[key], len(mine) + len(theirs)


class _Pairwise:
    """Which of some operations are unordered; keeps a clock for each of their segments."""

    def __init__(self, order: Order, operations: list[int]) -> None:
        self._segment = {operation: int(order.segment[operation]) for operation in operations}
        self._actor, self._number = order.actor, order.number
        wanted = set(self._segment.values())
        columns = np.unique(order.actor[sorted(wanted)]) if wanted else order.actor[:0]
        self._column = {actor: column for column, actor in enumerate(columns.tolist())}
        self._clock = (
            {segment: clock[columns] for segment, clock in order.sweep() if segment in wanted}
            if wanted
            else {}
        )

    def concurrent(self, one: int, other: int) -> bool:
        """Of operations of different actors."""
        a, b = self._segment[one], self._segment[other]
        return not (self._before(a, b) or self._before(b, a))

    def _before(self, a: int, b: int) -> bool:
        return bool(self._number[a] <= self._clock[b][self._column[int(self._actor[a])]])


def _race(ring: Ring) -> Race:
    operations = tuple(
        operation for request in ring for operation in (request.since, request.operation)
    )
    return Race(Kind.DEADLOCK, operations, f"ring of {len(ring)}")
