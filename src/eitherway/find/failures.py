# SPDX-License-Identifier: Apache-2.0
"""Runs that ended badly, as findings: where they were when they did."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from eitherway.find.confirm import Traced, Tracer
from eitherway.find.endings import Ending, Endings, How
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.identity import identified
from eitherway.model.words import NEVER_RETURNED, Kind, OpFlag, World
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

_LAST_STEPS = 256  # of a run: what it did when it ended badly is among them

_KINDS = {How.DEADLOCK: Kind.DEADLOCK, How.HANG: Kind.HANG}


def failure_of(ending: Ending, ran: Ran, endings: Endings, tracer: Tracer) -> Iterator[Finding]:
    """What one way to end badly shows."""
    if ending.how is How.DEADLOCK:
        known = [f for f in tracer.order(ran).findings if f.kind in _OF_A_DEADLOCK]
        if known:
            yield from known
            return
    yield identified(
        Finding(
            world=World.THREADS,
            kind=_KINDS.get(ending.how, Kind.FAILURE),
            operations=_operations(ending, ran, tracer),
            consequence=consequence(ending, endings),
            sources=(Source("eitherway"),),
        )
    )


_OF_A_DEADLOCK = (Kind.DEADLOCK, Kind.LOST_WAKEUP)


def consequence(ending: Ending, endings: Endings) -> str:
    """How often it was so, of the schedules so far."""
    total, count = sum(endings.count.values()), endings.count[ending]
    often = "in every one of" if count == total else f"in {count:,} of"
    return f"{_WORDS[ending.how]}{_code(ending)} {often} {total:,} schedules."


_WORDS = {
    How.EXIT: "The program ends with ",
    How.SIGNAL: "The program is ",
    How.DEADLOCK: "No thread of the program can go on",
    How.HANG: "The program does not end in the time it was given",
}


def _code(ending: Ending) -> str:
    return str(ending) if ending.how in (How.EXIT, How.SIGNAL) else ""


def _operations(ending: Ending, ran: Ran, tracer: Tracer) -> tuple[FoundOperation, ...]:
    """Of a deadlock, what each thread waits for; else the last thing that was done."""
    if ending.how is How.DEADLOCK:
        traced = tracer.trace(ran, TraceRequest(Depth.SYNC))
        flags = traced.trace.operations["flags"]
        stuck = _sides(traced, np.flatnonzero(flags & int(OpFlag.BLOCKED)).tolist())
        return tuple(replace(side, op=f"{side.op}{NEVER_RETURNED}") for side in stuck)
    steps = ran.schedule.reached
    traced = tracer.trace(ran, TraceRequest(start=max(0, steps - _LAST_STEPS)))
    return _sides(traced, range(len(traced.trace))[-1:])


def _sides(traced: Traced, operations: Iterable[int]) -> tuple[FoundOperation, ...]:
    return tuple(map(traced.side, operations))
