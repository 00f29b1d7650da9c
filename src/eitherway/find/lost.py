# SPDX-License-Identifier: Apache-2.0
"""Whether a wake-up is lost that a run only shows could come before the wait it ended: it is tried.

The trace does not have all that a waiter looks at: what a library does without our hooks is not in
it, and so a right program may look wrong. Here the waiter is held, at each of the last operations
before its wait, until the wake-up has come; then both go on, in several ways.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic

import numpy as np

from eitherway.detect import detect_all
from eitherway.find.confirm import WAKE_UPS, Traced, Tracer
from eitherway.model.finding import Finding
from eitherway.model.outcome import Ending, Forced
from eitherway.model.words import Arm, OpKind
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import TraceRequest

_BEFORE = 24  # operations of the waiter at which it is held
_WAYS = 2  # to go on
_HOLDS = [int(kind) for kind in (OpKind.ACQUIRE, OpKind.RELEASE, OpKind.LOAD, OpKind.UPDATE)]


@dataclass(frozen=True, slots=True)
class Lost:
    """What came of it."""

    ran: Ran | None = None  # in which nothing can go on
    ways: int = 0  # in which the wake-up came first, and all ended
    whole: bool = True  # nothing else was left to try

    @property
    def refuted(self) -> bool:
        """Whether the wake-up came first, and was not lost."""
        return self.ran is None and self.whole and self.ways > 0


def tried(finding: Finding, ran: Ran, tracer: Tracer, branches: Branches, until: float) -> Lost:
    """In the other order, as long as there is time."""
    traced = tracer.trace(ran, TraceRequest())
    ways, whole = 0, True
    for pair in _pairs(traced, finding):
        for way in range(_WAYS):
            if monotonic() > until:
                return Lost(ways=ways, whole=False)
            done = branches.run(Spec(pair, Arm.FLIP, way))
            outcome = outcome_of(done)
            if outcome.forced is not Forced.AS_ASKED:
                break
            if outcome.ending is Ending.DEADLOCK:
                return Lost(done, ways)
            ways += 1
            whole = whole and outcome.ending is Ending.EXIT
    return Lost(ways=ways, whole=whole)


def _pairs(traced: Traced, finding: Finding) -> Iterator[Pair]:
    """The waiter's operations, and the wake-up."""
    races = detect_all(traced.trace, WAKE_UPS)
    rows = traced.trace.operations
    for race, found in zip(races, traced.findings(races, history=False), strict=True):
        if found.id != finding.id or len(race.operations) < 3:
            continue
        begin, wake, wait = race.operations
        waiter = rows["actor"][wait]
        own = np.flatnonzero((rows["actor"] == waiter) & np.isin(rows["kind"], _HOLDS))
        own = own[own <= begin]
        own = own[np.diff(rows["stack"][own], prepend=-1) != 0]
        for first in own[::-1][:_BEFORE].tolist():
            yield Pair.of(traced.events, first, wake, apart=True)
