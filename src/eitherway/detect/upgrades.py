# SPDX-License-Identifier: Apache-2.0
"""Actors that share a lock, and each want it alone: each waits for the other to give it back.

That is so where a lock that is asked for in another way is kept meanwhile, as those of `fcntl` are.
It is a ring of one lock, which `deadlock` leaves out: in memory, who asks so waits for itself.

Told once per two pairs of places (where it was shared, where it is wanted alone). The operations of
a race are those of a ring. Of each lock the first `MOST` such requests are compared.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from eitherway.detect.found import Found
from eitherway.detect.locks import Locks, exclude
from eitherway.detect.requests import Request, own_spans, waits_of
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag

MOST = 64
_NO_UPGRADE = int(OpFlag.SHARED | OpFlag.FAILED | OpFlag.BLOCKED)


def find(order: Order) -> Found:
    """First witnesses, by the places of both."""
    locks = Locks(order.trace)
    races, limits = list[Race](), list[str]()
    for requests in _by_lock(order, locks).values():
        races += _of_one_lock(order, locks, requests[:MOST])
        if len(requests) > MOST:
            limits.append(_CUT.format(most=MOST))
    return Found(sorted(races, key=lambda race: race.operations), dict.fromkeys(limits))


def _by_lock(order: Order, locks: Locks) -> dict[int, list[Request]]:
    """Who has it shared and asks for it alone."""
    spans, waits = locks.spans(), waits_of(order, locks)
    own = own_spans(waits, spans)
    wanted = (own >= 0) & (spans.shared[own] != 0) & (waits.flags & _NO_UPGRADE == 0)
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(waits.operation[rows])]
    operations = waits.operation[rows]
    actors = order.trace.operations["actor"][operations]
    columns = (waits.wants[rows], actors, spans.since[own[rows]], operations)
    found: dict[int, list[Request]] = defaultdict(list)
    for lock, *request in zip(*(column.tolist() for column in columns), strict=True):
        found[lock].append(Request(*request))
    return found


def _of_one_lock(order: Order, locks: Locks, requests: Sequence[Request]) -> Iterator[Race]:
    place = order.trace.stacks["place"][order.trace.operations["stack"]]
    told = set[frozenset[tuple[int, int]]]()
    for pair in combinations(requests, 2):
        places = frozenset((int(place[one.since]), int(place[one.operation])) for one in pair)
        if places not in told and _together(order, locks, *pair):
            told.add(places)
            operations = (n for one in pair for n in (one.since, one.operation))
            yield Race(Kind.DEADLOCK, tuple(operations), "upgrade")


def _together(order: Order, locks: Locks, one: Request, other: Request) -> bool:
    """Whether both can come as far as to ask, each with all that it has by then."""
    if one.actor == other.actor or exclude(locks.held(one.operation), locks.held(other.operation)):
        return False
    return bool(order.concurrent([one.operation], [other.operation])[0])


_CUT = "deadlocks: of a lock that is shared and then wanted alone the first {most} were compared"
