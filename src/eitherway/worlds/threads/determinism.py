# SPDX-License-Identifier: Apache-2.0
"""Whether a run is the same when it is done again, and if not, in what it differs and where.

Asked before anything is blamed on a program. What was seen of the two runs is compared first, which
costs nothing; only when it differs are two traces taken, to find the first operation that does.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

import numpy as np

from eitherway.model.shortened import shortened
from eitherway.model.trace import Table
from eitherway.model.words import OpKind
from eitherway.recording.read import Recording
from eitherway.sandbox import scratch
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.captured import apart
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.events import Events, Names, parts
from eitherway.worlds.threads.family import Member, State, places
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.memory import Memory
from eitherway.worlds.threads.named import frames_of
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.schedule import Schedule, SwitchKind
from eitherway.worlds.threads.trace_hash import comparable
from eitherway.worlds.threads.traced import Depth, TraceRequest, trace_into

_AT_LEISURE = Plan()
_SWITCHES = {
    SwitchKind.THREAD: "thread {} goes on",
    SwitchKind.WAITER: "waiter {} is woken",
    SwitchKind.OUTSIDE: "what thread {} waits for outside is there",
    SwitchKind.WAITED: "the outside is waited for, {} microseconds",
    SwitchKind.SIGNAL: "signal {} comes",
    SwitchKind.TIME: "time passes until something is due",
    SwitchKind.CIRCLE: "thread {} is where it was before, and so is all else",
    SwitchKind.STOPPED: "thread {} stops the program for ever",
}
_INPUTS = {
    inputs.START: "the clocks at the start",
    inputs.FromOutside.READY: "readiness of descriptors",
    inputs.FromOutside.RESULT: "a call's result",
    inputs.FromOutside.DATA: "data",
    inputs.FromOutside.SIGNAL: "a signal",
    inputs.FromOutside.TURN: "a turn among processes",
    inputs.FromOutside.WENT_ON: "that the program goes on which had stopped itself",
    inputs.PASSED: "time that passed",
    inputs.WAITED: "the end of a wait",
}


class Kind(StrEnum):
    """What can differ."""

    ENDING = "ending"
    OUTPUT = "output"
    SCHEDULE = "schedule"
    INPUT = "input"
    TRACE = "trace"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two runs differ, in words; `step` is the first at which they do."""

    kind: Kind
    words: str
    step: int | None = None


def check_determinism(
    recorded: Recorded,
    *,
    again: Ran | None = None,
    fixed: bool = False,
    plan: Plan = _AT_LEISURE,
    box: Sandbox | None = None,
) -> list[Difference]:
    """Do a recorded run again, unless that was done; empty when it is the same to the bit.

    Values are compared too where addresses are `fixed`: elsewhere every pointer is another.
    """
    if again is None:
        again = run(recorded.launch, replay=recorded.ran, plan=plan, box=box)
    found = compare(recorded.ran, again)
    return [*found, *_in_the_traces(recorded, found, box, fixed=fixed)] if found else []


def check_schedule(
    launch: Launch,
    *,
    seed: int = 0,
    scheduler: str = "random-walk",
    fixed: bool = False,
    plan: Plan = _AT_LEISURE,
) -> list[Difference]:
    """Run a schedule twice from its seed, both with real input; the clocks may differ."""
    first, second = (run(launch, seed=seed, scheduler=scheduler, plan=plan) for _ in range(2))
    found = compare(first, second, clocks=False)
    recorded = Recorded(launch, first)
    return [*found, *_in_the_traces(recorded, found, None, fixed=fixed)] if found else []


# --- what was seen of two runs


def compare(first: Ran, second: Ran, *, clocks: bool = True) -> list[Difference]:
    """In what two runs differ. Without `clocks`, what came from outside may."""
    names = second.differences(first)
    found = [*_endings(first, second), *_outputs(first, second, names)]
    if "processes" in names:
        found.append(Difference(Kind.OTHER, "they differ in their processes"))
    return found + _first_of_members(first, second, clocks=clocks)


def _first_of_members(first: Ran, second: Ran, *, clocks: bool) -> list[Difference]:
    """Of the process that differs and began first: what others do may follow from it."""
    now = places(second.members)
    for number, (place, was) in enumerate(places(first.members).items(), 1):
        found = list(_of_member(was, now[place], clocks=clocks)) if place in now else []
        if found and len(first.members) > 1:
            return [replace(one, words=f"in process {number}, {one.words}") for one in found]
        if found:
            return found
    return []


def _of_member(was: Member, now: Member, *, clocks: bool) -> Iterator[Difference]:
    names = now.differences(was)
    if "exit status" in names and was.parent is not None:
        yield Difference(Kind.ENDING, f"it {_member_ending(now)}, not {_member_ending(was)}")
    if "schedule" in names or "number of steps" in names:
        yield from _schedules(was.schedule, now.schedule)
    if "input" in names and clocks:
        yield from _inputs(was.inputs, now.inputs)


def _member_ending(member: Member) -> str:
    if member.state is State.ENDED:
        return f"ended with {_status(os.waitstatus_to_exitcode(member.status))}"
    return "became another program" if member.state is State.BECAME else "was at work at the end"


def _endings(first: Ran, second: Ran) -> Iterator[Difference]:
    if first.status != second.status:
        words = f"it ended with {_status(second.status)}, not {_status(first.status)}"
        yield Difference(Kind.ENDING, words, second.schedule.diverged_at or None)


def _status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


def _outputs(first: Ran, second: Ran, names: list[str]) -> Iterator[Difference]:
    streams = {
        "standard output": (first.out, second.out),
        "standard error": (first.err, second.err),
    }
    for name, pair in streams.items():
        if name in names:
            yield Difference(Kind.OUTPUT, f"{name} {apart(*pair).told('was', 'is')}")


def _schedules(first: Schedule, second: Schedule) -> Iterator[Difference]:
    one, other = first.switches, second.switches
    shorter = min(len(one), len(other))
    unequal = np.flatnonzero(one[:shorter] != other[:shorter])
    place = int(unequal[0]) if len(unequal) else shorter
    was, now = _switch(one, place), _switch(other, place)
    at = [int(table["steps"][place]) for table in (one, other) if place < len(table)]
    step = second.diverged_at or (min(at) if at else None)
    if place == len(one) == len(other):
        yield Difference(Kind.SCHEDULE, "the steps behind the last decision differ", first.steps)
    else:
        yield Difference(Kind.SCHEDULE, f"decision {place + 1} was: {was}; is: {now}", step)


def _switch(table: Table, place: int) -> str:
    if place >= len(table):
        return "none any more"
    row = table[place]
    words = _SWITCHES[SwitchKind(int(row["kind"]))].format(int(row["choice"]))
    return f"{words} at step {int(row['steps'])}"


def _inputs(first: bytes, second: bytes) -> Iterator[Difference]:
    pairs = zip_longest(inputs.items(first), inputs.items(second))
    for number, (one, other) in enumerate(pairs, 1):
        if one != other:
            words = f"was {_item(one)}, is {_item(other)}"
            yield Difference(Kind.INPUT, f"number {number} of what came from outside {words}")
            return


def _item(item: inputs.Item | None) -> str:
    if item is None:
        return "not there"
    kind, thread, data = item
    own = f"what the program says of itself ({kind})"
    name = _INPUTS.get(kind & inputs.KIND, own)
    return f"{name} for thread {thread}, {len(data)} bytes {data[:8].hex()}"


# --- the first operation that differs


def _in_the_traces(
    recorded: Recorded, found: list[Difference], box: Sandbox | None, *, fixed: bool
) -> Iterator[Difference]:
    """Two traces of it; if they are the same, where they were when the run went another way."""
    request = TraceRequest(depth=Depth.VALUES if fixed else Depth.ACCESSES)
    with ExitStack() as stack:
        folders = [stack.enter_context(scratch.on_disk()).path for _ in range(2)]
        runs = [trace_into(folder, recorded, request, box=box) for folder in folders]
        one, other = (stack.enter_context(Recording.open(folder)) for folder in folders)
        if difference := _first_apart(one, other):
            yield difference
            return
        seen = [difference.step for difference in found]
        steps = [step for step in (*seen, *(ran.schedule.diverged_at for ran in runs)) if step]
        if steps and (place := _at(one, min(steps))):
            yield Difference(Kind.TRACE, f"there: {place}", min(steps))


def _first_apart(first: Recording, second: Recording) -> Difference | None:
    names = Names.read(first), Names.read(second)
    memories = [Memory(each.modules, each.regions) for each in names]
    pairs = zip_longest(parts(first, names[0]), parts(second, names[1]))
    for one, other in pairs:
        if one is None or other is None:
            words = f"one time {_told(one, 0)}, another time {_told(other, 0)}"
            return Difference(Kind.TRACE, words, _step(one, 0) or _step(other, 0))
        place = _unequal(one, other, memories)
        if place is not None:
            step = _step(one, place) or _step(other, place)
            return Difference(Kind.TRACE, _both(one, other, place), step)
    return None


def _unequal(one: Events, other: Events, memories: list[Memory]) -> int | None:
    shorter = min(len(one.events), len(other.events))
    rows = [
        comparable(part, memory)[:shorter]
        for part, memory in zip((one, other), memories, strict=True)
    ]
    unequal = rows[0] != rows[1]
    if one.values is not None and other.values is not None:
        unequal = unequal | (one.values[:shorter] != other.values[:shorter])
    places = np.flatnonzero(unequal)
    if len(places):
        return int(places[0])
    return shorter if len(one.events) != len(other.events) else None


def _step(part: Events | None, place: int) -> int | None:
    return int(part.events["step"][place]) if part and place < len(part.events) else None


def _both(one: Events, other: Events, place: int) -> str:
    first, second = _told(one, place), _told(other, place)
    if first != second or one.values is None or other.values is None:
        return f"one time {first}, another time {second}"
    values = f"{int(one.values[place]):#x} one time, {int(other.values[place]):#x} another time"
    return f"{first}: {values}"


def _told(part: Events | None, place: int) -> str:
    """An operation: "load at bank.c:12 in deposit by thread 1"."""
    if part is None or place >= len(part.events):
        return "it had ended"
    row = part.events[place]
    op = OpKind(int(row["op"])).name.lower()
    return f"{op} {_where(part.names, int(row['site']))} by thread {int(row['thread'])}"


def _where(names: Names, site: int) -> str:
    pc = names.sites["pc"][site : site + 1]
    frames = frames_of(names.modules, pc)[int(pc[0])]
    if not frames:
        return "at a place without a name"
    top = frames[0]
    line = f"{top.file}:{top.line}" if top.file else f"{top.module}+{top.offset:#x}"
    return f"at {line} in {shortened(top.function) or '?'}"


def _at(recording: Recording, step: int) -> str:
    """The last operation up to a step."""
    last = ""
    for part in parts(recording, Names.read(recording)):
        before = np.flatnonzero(part.events["step"] <= step)
        if len(before):
            last = _told(part, int(before[-1]))
    return last
