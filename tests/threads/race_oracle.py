# SPDX-License-Identifier: Apache-2.0
"""Judges what the runtime found against the trace of the same run, byte by byte and by brute force.

Every row must be a real race, and the first racy access to every byte must have a row. The order of
events is that of `edges.py`, with a full vector clock for each event.

    python -m tests.threads.race_oracle --count 400        from the project's folder
"""

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.threads.race_programs import batch

from eitherway.model.trace import Table
from eitherway.model.words import ACCESSES, OpFlag, OpKind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.edges import edges_of
from eitherway.worlds.threads.events import Came, Events
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import run

RACE, USE_AFTER_FREE = 1, 2
CELL = 4  # bytes of which the runtime forgets at once that they were freed


@dataclass(frozen=True, slots=True)
class Access:
    """One event on memory."""

    event: int
    thread: int
    op: OpKind
    atomic: bool

    @property
    def writes(self) -> bool:
        return self.op is not OpKind.LOAD


class Clocks:
    """Whether one event happened before another."""

    def __init__(self, events: Table) -> None:
        sources = defaultdict(list)
        for source, target, _ in edges_of(events).tolist():
            sources[target].append(source)
        threads: list[int] = events["thread"].tolist()
        self.threads = threads
        self.of: list[list[int]] = []
        last: dict[int, int] = {}
        for event, thread in enumerate(threads):
            before = [*sources[event], *([last[thread]] if thread in last else [])]
            clock = [-1] * (max(threads) + 1)
            for other in before:
                clock = [max(pair) for pair in zip(clock, self.of[other], strict=True)]
            clock[thread] = event
            self.of.append(clock)
            last[thread] = event

    def before(self, one: int, other: int) -> bool:
        return self.of[other][self.threads[one]] >= one


@dataclass(slots=True)
class Verdict:
    """What the trace says."""

    races: defaultdict[int, list[Access]] = field(default_factory=lambda: defaultdict(list))
    used: set[int] = field(default_factory=set)  # events that use what was freed before
    first: dict[int, int] = field(default_factory=dict)  # the first racy event of each byte


class Judge:
    """Goes through the accesses in order, with the whole past of each byte."""

    def __init__(self, run: Events) -> None:
        events = run.events
        self.clocks = Clocks(events)
        self.past: defaultdict[int, list[Access]] = defaultdict(list)
        self.freed: dict[int, Access] = {}  # by byte
        self.verdict = Verdict()
        fresh = deque(row for row in run.names.memory if row["what"] == Came.THREAD_LOCAL)
        for event in np.flatnonzero(np.isin(events["op"], [int(op) for op in ACCESSES])).tolist():
            while fresh and int(fresh[0]["event"]) <= event:
                self._forget(fresh.popleft())
            self._see(event, events[event])

    def _forget(self, row: np.void) -> None:
        """A new thread's own: what was done there by an earlier one has nothing to do with it."""
        start, end = int(row["address"]), int(row["address"]) + int(row["size"])
        for byte in [byte for byte in self.past if start <= byte < end]:
            del self.past[byte]

    def _see(self, event: int, row: np.void) -> None:
        atomic = bool(row["flags"] & OpFlag.ATOMIC)
        access = Access(event, int(row["thread"]), OpKind(int(row["op"])), atomic)
        for byte in range(int(row["address"]), int(row["address"]) + int(row["size"])):
            if access.op is OpKind.ALLOCATE:
                self.freed.pop(byte, None)
                self.past[byte] = [access]
                continue
            if byte in self.freed:
                self._use_freed(byte, access)
            self._compare(byte, access)
            self.past[byte].append(access)
            if access.op is OpKind.FREE:
                self.past[byte], self.freed[byte] = [], access

    def _use_freed(self, byte: int, access: Access) -> None:
        free = self.freed[byte]
        if self.clocks.before(free.event, access.event):
            self.verdict.used.add(access.event)
        else:
            self._race(byte, free, access)
        start = byte // CELL * CELL
        for other in range(start, start + CELL):
            self.freed.pop(other, None)

    def _compare(self, byte: int, access: Access) -> None:
        for past in self.past[byte]:
            conflict = (past.writes or access.writes) and not (past.atomic and access.atomic)
            if conflict and not self.clocks.before(past.event, access.event):
                self._race(byte, past, access)

    def _race(self, byte: int, past: Access, access: Access) -> None:
        self.verdict.races[access.event].append(past)
        self.verdict.first.setdefault(byte, access.event)


_KEY = ("thread", "step", "op", "address")  # one step may have several accesses


def disagreements(rows: Table, run: Events) -> Iterator[str]:
    """What the rows say that the trace does not, and what they leave out."""
    verdict = Judge(run).verdict
    columns = zip(*(run.events[name].tolist() for name in _KEY), strict=True)
    at = {key: event for event, key in enumerate(columns) if key[2] in {int(o) for o in ACCESSES}}
    told: set[tuple[int, int]] = set()
    for row in rows:
        key = tuple(int(row[name]) for name in _KEY)
        if key not in at:
            yield f"no access is at {key}"
            continue
        told.add((int(row["kind"]), at[key]))
        if not _is_real(row, at[key], verdict):
            yield f"event {at[key]} has no such race: {row}"
    for byte, event in verdict.first.items():
        if (RACE, event) not in told:
            yield f"event {event} races on {byte:#x}, first of all, and is not told"
    for event in verdict.used:
        if (USE_AFTER_FREE, event) not in told:
            yield f"event {event} uses what was freed, and is not told"


def _is_real(row: np.void, event: int, verdict: Verdict) -> bool:
    if int(row["kind"]) == USE_AFTER_FREE:
        return event in verdict.used
    past_wrote = int(row["past_op"]) != OpKind.LOAD
    return int(row["kind"]) == RACE and any(
        past.thread == int(row["past_thread"]) and past.writes == past_wrote
        for past in verdict.races[event]
    )


def built(seeds: Sequence[int], folder: Path) -> Path:
    """The programs of these seeds, in one file."""
    source, program = folder / f"races{seeds[0]}.c", folder / f"races{seeds[0]}"
    source.write_text(batch(seeds), encoding="utf-8")
    command = [sys.executable, "-m", "eitherway", "cc", "-g", "-O0", str(source)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def judged(program: Path, number: int, seed: int) -> tuple[int, list[str]]:
    """How many rows one schedule of a program has, and what is wrong with them."""
    with tempfile.TemporaryDirectory() as name:
        launch = Launch.here([str(program), str(number)])
        ran = run(launch, seed=seed, trace=Path(name), detect=True)
        if ran.status != 0:
            return 0, [f"it ended with {ran.status}: {ran.err.beginning!r}"]
        with Recording.open(name) as recording:
            events = Events.read(recording)
    rows = ran.found.rows
    return len(rows), list(disagreements(rows, events))


_AT_ONCE = 25  # programs in one file


def main() -> int:
    """Judge as many programs as asked for, and say where there is disagreement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100, help="programs")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--schedules", type=int, default=4, help="of each program")
    asked = parser.parse_args()
    fix_addresses()
    total, wrong = 0, 0
    with tempfile.TemporaryDirectory() as name:
        for begin in range(asked.first, asked.first + asked.count, _AT_ONCE):
            seeds = range(begin, min(begin + _AT_ONCE, asked.first + asked.count))
            program = built(seeds, Path(name))
            for number, seed in ((n, s) for n in range(len(seeds)) for s in range(asked.schedules)):
                rows, problems = judged(program, number, seed)
                total, wrong = total + rows, wrong + bool(problems)
                for problem in problems[:3]:
                    print(f"program {seeds[number]}, schedule {seed}: {problem}")
    print(f"{asked.count} programs, {asked.schedules} schedules each: {total} rows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
