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

Cost: one step per lock operation; then only strongly connected locks are searched, in time that
grows with the number of paths of up to `LONGEST` distinct requests among them.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from eitherway.detect.graph import inside_cycles
from eitherway.detect.locks import Held, Holding, Locks, exclude
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind, OpFlag, OpKind

LONGEST = 6


class Request(NamedTuple):
    """One actor holding `held`, among others, and wanting another lock."""

    actor: int
    held: Held
    holding: Holding
    wants: int
    shared: bool
    operation: int


Step = tuple[int, int]  # places: where the held lock was taken, where the next is wanted
Ring = tuple[Request, ...]


def find(order: Order) -> list[Race]:
    """First witnesses per ring of places, and waits for a lock that the waiter itself holds."""
    trace = order.trace
    requests = list(_requests(trace, Locks(trace)))
    races = [*_self_waits(trace, requests), *_Search(order, requests).races()]
    return sorted(races, key=lambda race: race.operations)


def _requests(trace: Trace, locks: Locks) -> Iterator[Request]:
    """All requests, once for each lock held."""
    rows = trace.operations
    waits = (rows["kind"] == int(OpKind.ACQUIRE)) & (rows["range"] != 0)
    operations = np.flatnonzero(waits & ((rows["flags"] & int(OpFlag.TRY)) == 0))
    at = locks.at(operations)
    for operation, number in zip(operations[at > 0].tolist(), at[at > 0].tolist(), strict=True):
        row, holding = rows[operation], locks.holdings[number]
        actor, wants, flags = int(row["actor"]), int(row["range"]), int(row["flags"])
        again = any(held.lock == wants for held in holding)
        if again and not flags & OpFlag.BLOCKED:
            continue  # a lock its holder may take again
        for held in holding:
            if not again or held.lock == wants:
                shared = bool(flags & OpFlag.SHARED)
                yield Request(actor, held, holding, wants, shared, operation)


def _self_waits(trace: Trace, requests: list[Request]) -> Iterator[Race]:
    told = set[Step]()
    for request in requests:
        itself = request.wants == request.held.lock and not (request.shared and request.held.shared)
        if itself and _step(trace, request) not in told:
            told.add(_step(trace, request))
            yield Race(Kind.DEADLOCK, (request.held.since, request.operation), "self")


def _step(trace: Trace, request: Request) -> Step:
    stacks = trace.operations["stack"][[request.held.since, request.operation]]
    taken, wanted = trace.stacks["place"][stacks].tolist()
    return taken, wanted


class _Sort(NamedTuple):
    """What requests have in common as far as a ring goes; actor and moment are left open."""

    held: int
    held_shared: bool
    wants: int
    shared: bool
    holding: Holding  # of the first such request; `since` means nothing here
    step: Step


class _Search:
    """Rings of sorts of requests, each entered at its smallest lock, then filled with requests."""

    def __init__(self, order: Order, requests: list[Request]) -> None:
        others = [request for request in requests if request.wants != request.held.lock]
        cyclic = inside_cycles({(request.held.lock, request.wants) for request in others})
        chosen = [r for r in others if (r.held.lock, r.wants) in cyclic]
        self.requests = _by_sort(order, chosen)
        self.holders: dict[int, list[_Sort]] = {}
        self.wanters: dict[int, set[int]] = {}
        for sort in self.requests:
            self.holders.setdefault(sort.held, []).append(sort)
            self.wanters.setdefault(sort.wants, set()).add(sort.held)
        self.order = _Pairwise(order, [request.operation for request in chosen])
        self.told = set[tuple[Step, ...]]()

    def races(self) -> Iterator[Race]:
        for lock in sorted(self.holders):
            near = self._distances(lock)
            for sort in self.holders[lock]:
                for sorts in self._rings((sort,), near):
                    yield from self._tell(sorts)

    def _tell(self, sorts: tuple[_Sort, ...]) -> Iterator[Race]:
        key = _turned([sort.step for sort in sorts])
        if key not in self.told:
            for ring in self._filled(sorts, ()):
                self.told.add(key)
                yield _race(ring)
                return

    def _distances(self, lock: int) -> dict[int, int]:
        """How many arcs from each lock to this one, up to half of the longest ring."""
        distances, border = {lock: 0}, [lock]
        for distance in range(1, LONGEST // 2 + 1):
            border = [
                source
                for target in border
                for source in self.wanters.get(target, ())
                if source > lock and source not in distances
            ]
            distances.update(dict.fromkeys(border, distance))
        return distances

    def _rings(self, path: tuple[_Sort, ...], near: dict[int, int]) -> Iterator[tuple[_Sort, ...]]:
        """All rings of distinct locks that begin with these sorts."""
        start, wants = path[0].held, path[-1].wants
        if wants == start:
            if not (path[-1].shared and path[0].held_shared):
                yield path
            return
        left = LONGEST - len(path)  # arcs that may still follow
        if wants < start or (left <= LONGEST // 2 and near.get(wants, LONGEST) > left):
            return
        for sort in self.holders.get(wants, ()):
            if _fits(path, sort):
                yield from self._rings((*path, sort), near)

    def _filled(self, sorts: tuple[_Sort, ...], ring: Ring) -> Iterator[Ring]:
        """Requests of these sorts, of different actors and unordered."""
        if len(ring) == len(sorts):
            yield ring
            return
        for request in self.requests[sorts[len(ring)]]:
            if all(self._together(request, other) for other in ring):
                yield from self._filled(sorts, (*ring, request))

    def _together(self, one: Request, other: Request) -> bool:
        return one.actor != other.actor and self.order.concurrent(one.operation, other.operation)


def _fits(path: tuple[_Sort, ...], sort: _Sort) -> bool:
    if path[-1].shared and sort.held_shared:
        return False
    return not any(sort.held == s.held or exclude(sort.holding, s.holding) for s in path)


def _by_sort(order: Order, requests: list[Request]) -> dict[_Sort, list[Request]]:
    """The requests of each sort; of one actor in one segment, the first."""
    sorts: dict[tuple[object, ...], _Sort] = {}
    chosen: dict[_Sort, dict[tuple[int, int], Request]] = {}
    for r in requests:
        step = _step(order.trace, r)
        locks = frozenset((held.lock, held.shared) for held in r.holding)
        sort = _Sort(r.held.lock, r.held.shared, r.wants, r.shared, r.holding, step)
        sort = sorts.setdefault((*sort[:4], locks, step), sort)
        moment = (r.actor, int(order.segment[r.operation]))
        chosen.setdefault(sort, {}).setdefault(moment, r)
    return {sort: list(moments.values()) for sort, moments in chosen.items()}


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


def _turned(steps: list[Step]) -> tuple[Step, ...]:
    """The same for all places where a ring can be entered."""
    return min(tuple(steps[i:] + steps[:i]) for i in range(len(steps)))


def _race(ring: Ring) -> Race:
    operations = tuple(
        operation for request in ring for operation in (request.held.since, request.operation)
    )
    return Race(Kind.DEADLOCK, operations, f"ring of {len(ring)}")
