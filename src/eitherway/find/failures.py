# SPDX-License-Identifier: Apache-2.0
"""Runs that ended badly, as findings: where they were when they did."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from eitherway.find.confirm import Traced, Tracer
from eitherway.find.endings import Ending, Endings, How
from eitherway.find.unconfirmed import NO_TIME
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.identity import identified, own_frame
from eitherway.model.names import in_library
from eitherway.model.words import NEVER_RETURNED, OP_WORDS, Kind, OpFlag, OpKind, World
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import SwitchKind
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

_LAST_STEPS = 256  # of a run: what it did when it ended badly is among them

_KINDS = {How.DEADLOCK: Kind.DEADLOCK, How.CIRCLE: Kind.HANG, How.HANG: Kind.HANG}


def failure_of(ending: Ending, ran: Ran, endings: Endings, tracer: Tracer) -> Iterator[Finding]:
    """What one way to end badly shows."""
    sides = operations_of(ending, ran, tracer)
    if ending.how is How.DEADLOCK:
        known = [f for f in tracer.order(ran).findings if f.kind in _OF_A_DEADLOCK]
        words = consequence(ending, endings)
        yield from (replace(f, consequence=words) if _is_shown(f, sides) else f for f in known)
        if known:
            return
    yield replace(_finding(ending, endings, sides), explanation=_explained(ending, ran))


def _is_shown(finding: Finding, stuck: tuple[FoundOperation, ...]) -> bool:
    """Whether all that wait in it for ever do so in this run; others could have, in another one."""
    there = {(side.actor, own_frame(side.stack)) for side in stuck}
    waits = finding.operations[1::2] if finding.kind is Kind.DEADLOCK else finding.operations[-1:]
    return all((side.actor, own_frame(side.stack)) in there for side in waits)


def without_repeats(findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """A deadlock is told as the lost wake-up that was seen to end in it, where there is one.

    In one schedule the wake-up comes too early, in another it is left out since nobody waits yet.
    """
    kept = dict(findings)
    for finding in findings.values():
        known = [kept[other.id] for other in findings.values() if _ends_in(other, finding)]
        if known:
            words = known[0].consequence or finding.consequence
            kept[known[0].id] = replace(known[0], consequence=words)
            del kept[finding.id]
    return kept


def _ends_in(lost: Finding, deadlock: Finding) -> bool:
    """Whether all that wait in the deadlock do so where the wake-up was lost."""
    if lost.kind is not Kind.LOST_WAKEUP or not (lost.consequence or lost.orders):
        return False
    waits = [side for side in deadlock.operations if side.op.endswith(NEVER_RETURNED)]
    is_bare = deadlock.kind is Kind.DEADLOCK and len(waits) == len(deadlock.operations)
    place = own_frame(lost.operations[-1].stack)
    return is_bare and all(own_frame(side.stack) == place for side in waits)


def unexamined(ending: Ending, endings: Endings, program: str) -> Finding:
    """One that was not looked at, for lack of time or as it cannot be: that it is so is known."""
    words = str(ending) if ending.how in _HAVE_ENDED else f"run{NEVER_RETURNED}"
    side = FoundOperation(actor=os.path.basename(program), op=words)
    return _finding(ending, endings, (side,), reason=_WHY.get(ending.how, NO_TIME))


_HAVE_ENDED = (How.EXIT, How.SIGNAL, How.FELLED)
_WHY = {
    How.FELLED: "it kills its parent, or every process, by a call that is not seen: what it would "
    "have done next is not known, and no run shows it again"
}


def _finding(
    ending: Ending, endings: Endings, sides: tuple[FoundOperation, ...], reason: str = ""
) -> Finding:
    return identified(
        Finding(
            world=World.THREADS,
            kind=_KINDS.get(ending.how, Kind.FAILURE),
            operations=sides,
            reason=reason,
            consequence=consequence(ending, endings),
            sources=(Source("eitherway"),),
        )
    )


def _explained(ending: Ending, ran: Ran) -> tuple[str, ...]:
    return _CIRCLE if ending.how is How.CIRCLE else _last_words(ran)


def _last_words(ran: Ran) -> tuple[str, ...]:
    """Of a failed assertion and of most checks that end a program: what it says of itself."""
    lines = ran.err.beginning.decode(errors="replace").strip().splitlines()
    whole = len(ran.err.beginning) == ran.err.size
    return (
        (f"The last line on its standard error: {lines[-1][:_WIDTH]}",) if lines and whole else ()
    )


_WIDTH = 500  # letters of a line
_OF_A_DEADLOCK = (Kind.DEADLOCK, Kind.LOST_WAKEUP)


def consequence(ending: Ending, endings: Endings) -> str:
    """How often it was so, of the schedules so far."""
    total, count = sum(endings.count.values()), endings.count[ending]
    words = f"{_WORDS[ending.how]}{_code(ending)}"
    if total == 1:
        return f"{words} in the one schedule that was run."
    if count == total:
        return f"{words} in every one of {total:,} schedules: {_WHATEVER}."
    often = f"{words} in {count:,} of {total:,} schedules"
    return f"{often}; none of them ends well." if endings.all_fail else f"{often}."


def way_told(consequence: str) -> str:
    """The part of such a sentence that does not say how often."""
    return consequence.partition(" in ")[0]


_WHATEVER = "no order that was tried avoids it, so it is not known to be the doing of a race"

_WORDS = {
    How.EXIT: "The program ends with ",
    How.SIGNAL: "The program is ",
    How.DEADLOCK: "No thread of the program can go on",
    How.CIRCLE: "The program goes round in circles and never ends",
    How.HANG: "The program does not end in the time it was given",
    How.FELLED: "The program ends itself and the process that runs it",
}


def _code(ending: Ending) -> str:
    return str(ending) if ending.how in (How.EXIT, How.SIGNAL) else ""


# What the runtime has tried: native/runtime/circles.h.
_CIRCLE = (
    "All threads that could go on were let run in turn, again and again, for turns of 1 to 2,000 "
    "operations.",
    "Then memory, registers and stacks, and who waits for what and for how long, were exactly as "
    "they had been before, and nothing had come from outside.",
    "So the same happens again and again: each thread goes on to do what is told of it here.",
)


def operations_of(ending: Ending, ran: Ran, tracer: Tracer) -> tuple[FoundOperation, ...]:
    """Of a deadlock, what each thread waits for; of a circle, what each does in it.

    Else the last thing that was done by who ended it.
    """
    if ending.how is How.CIRCLE:
        return _in_circle(ran, tracer)
    if ending.how is How.DEADLOCK:
        traced = tracer.trace(ran, TraceRequest(Depth.SYNC))
        flags = traced.trace.operations["flags"]
        stuck = _sides(traced, np.flatnonzero(flags & int(OpFlag.BLOCKED)).tolist())
        return tuple(replace(side, op=f"{side.op}{NEVER_RETURNED}") for side in _of_weight(stuck))
    steps = ran.schedule.reached
    traced = tracer.trace(ran, TraceRequest(start=max(0, steps - _LAST_STEPS)))
    return _last_done(traced, ran)


def _last_done(traced: Traced, ran: Ran) -> tuple[FoundOperation, ...]:
    """By the thread that went on last, and ended it all; others may have done something since.

    In its own code, if it did anything there: a library only does what it takes to die.
    """
    switches, actors = ran.schedule.switches, traced.trace.operations["actor"]
    chosen = switches["choice"][switches["kind"] == int(SwitchKind.THREAD)]
    own = np.flatnonzero(actors == (chosen[-1] if len(chosen) else 0))
    last = (own if len(own) else np.arange(len(actors)))[::-1].tolist()
    sides = map(traced.side, last)
    found = next((side for side in sides if not in_library(own_frame(side.stack))), None)
    return (found,) if found else _sides(traced, last[:1])


def _of_weight(stuck: tuple[FoundOperation, ...]) -> tuple[FoundOperation, ...]:
    """Who waits for the end of a thread, and holds nothing, is kept waiting and keeps nobody."""
    joins = OP_WORDS[OpKind.JOIN]
    weighty = tuple(side for side in stuck if side.op != joins or side.locks)
    return weighty or stuck


_CYCLE = 1 << 14  # steps of a thread: more than it does while all have their turns


def _in_circle(ran: Ran, tracer: Tracer) -> tuple[FoundOperation, ...]:
    """The last operation of each thread that did one while threads ran in turn."""
    threads = len(ran.shown.threads) if ran.shown.threads is not None else 1
    start = max(0, ran.schedule.reached - _CYCLE * max(threads, 1))
    rows = tracer.trace(ran, TraceRequest(start=start))
    actors = rows.trace.operations["actor"][::-1]
    last = len(actors) - 1 - np.unique(actors, return_index=True)[1]
    return _sides(rows, _not_ended(rows, last.tolist()))


def _not_ended(traced: Traced, operations: list[int]) -> list[int]:
    kinds = traced.trace.operations["kind"]
    return [index for index in operations if kinds[index] != int(OpKind.END)]


def _sides(traced: Traced, operations: Iterable[int]) -> tuple[FoundOperation, ...]:
    return tuple(map(traced.side, operations))
