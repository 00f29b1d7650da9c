# SPDX-License-Identifier: Apache-2.0
"""Confirms what programs say of themselves by running all their schedules, where there are few.

    python -m tests.corpus.enumerate [--seconds N] [--write] [PROGRAM ...]

Every schedule is traced, and looked at with the definitions in `tests/detect/oracle.py`: this
shares neither the runtime's detection nor `detect/` with what is measured. What schedules show is
compared with what is expected: data races, failures, hangs, and where threads are stuck. The rest
(use after free, lock misuse) is confirmed by reading the program.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from time import monotonic

import numpy as np
import numpy.typing as npt
from benchmarks.measure import progress, published, table
from tests.corpus.checked import build
from tests.corpus.expect import PROGRAMS, Expectation, Truth, truths
from tests.corpus.told import Told, fits, line_in, told_of
from tests.detect.oracle import ALL_EDGES, Graph, access_side, conflicting

from eitherway.detect import detect_all
from eitherway.find.confirm import ACCESSES as RACES
from eitherway.find.endings import Ending
from eitherway.findings.from_races import findings_of, side_of
from eitherway.model.finding import Source
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import ACCESSES, STORES, Kind, OpFlag, OpKind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.exhaustive import SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.guide import End, Guidance
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.places import Places, places_of
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Server

SECONDS = 20.0  # for each program
LIMIT = 400  # decisions of a run: beyond that, somebody spins
PAGE = PROGRAMS / "README.md"
STUCK = frozenset({Kind.DEADLOCK, Kind.LOST_WAKEUP})
SHOWN = STUCK | {Kind.DATA_RACE, Kind.FAILURE, Kind.HANG}


@dataclass(slots=True)
class Enumerated:
    """What all schedules of a program, or as many as there was time for, have shown."""

    truth: Truth
    schedules: int = 0
    bound: int = -1  # preemptions up to which all were run
    complete: bool = False  # there are no others
    told: set[Told] = field(default_factory=set)
    stuck: set[frozenset[int]] = field(default_factory=set)  # lines where threads were, in the end

    def shows(self, expected: Expectation) -> bool:
        """Whether some schedule does; what a thread that is stuck had taken is not told then."""
        if expected.kinds & STUCK:
            lines = frozenset[int]().union(*expected.sites)
            return any(lines & stuck for stuck in self.stuck)
        return any(fits(expected, one) for one in self.told)

    @property
    def missed(self) -> list[str]:
        """What schedules can show, is expected, and was not shown."""
        wanted = (one for one in self.truth.expected if one.kinds <= SHOWN)
        return [one.words for one in wanted if not self.shows(one)]

    @property
    def false(self) -> list[str]:
        """What was shown, and is neither expected nor allowed."""
        known = (*self.truth.expected, *self.truth.allowed)
        told = [str(one) for one in self.told if not any(fits(e, one) for e in known)]
        may_be_stuck = any(one.kinds & STUCK for one in known)
        return told + ([] if may_be_stuck else [f"stuck at {sorted(one)}" for one in self.stuck])

    @property
    def how(self) -> str:
        """In words."""
        if self.complete:
            return f"all schedules, in {self.schedules:,} runs"
        within = (
            f", among them all with at most {self.bound} preemptions" if self.bound >= 0 else ""
        )
        return f"{self.schedules:,} runs{within}"


class Enumerator:
    """Runs the schedules of one program."""

    def __init__(self, server: Server, truth: Truth) -> None:
        self.result = Enumerated(truth)
        self._server = server
        self._search = Search(self._run, self._sides, limit=LIMIT)

    def all(self, seconds: float) -> Enumerated:
        """Bound after bound, until there are no others or the time is over."""
        until = monotonic() + seconds
        for item in growing(self._search, range(32)):
            if isinstance(item, Pass):
                self.result.bound = item.bound if item.complete else self.result.bound
                self.result.complete = item.complete and not item.others
                self.result.schedules = (
                    item.schedules if self.result.complete else (self.result.schedules)
                )
            elif monotonic() > until:
                break
            elif item.shown.end is End.ITSELF:
                self._look(item)
        return self.result

    def _run(self, guidance: Guidance) -> Ran:
        return self._server.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

    def _traced(self, ran: Ran) -> Events:
        with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
            self._server.run(replay=ran, trace=Path(name))
            with Recording.open(name, incomplete=True) as recording:
                return Events.read(recording)

    def _sides(self, ran: Ran) -> Places:
        events = self._traced(ran)
        races = detect_all(trace_of(events), RACES)
        return places_of(events, {number for race in races for number in race.operations})

    def _look(self, ran: Ran) -> None:
        self.result.schedules += 1
        trace, source = trace_of(self._traced(ran)), self.result.truth.source
        if any(ran.found.rows["kind"] == FoundKind.HANG):  # too long to look at each pair of it
            self.result.told.add(Told(Kind.HANG, tuple(circling(trace, source))))
            return
        races = [Race(Kind.DATA_RACE, pair) for pair in racing(trace)]
        found = findings_of(trace, races, source=Source("enumeration"))
        self.result.told.update(told_of(finding, source) for finding in found)
        if any(ran.found.rows["kind"] == FoundKind.DEADLOCK):
            self.result.stuck.add(frozenset(blocked(trace, source)))
        elif ran.status != 0:
            self.result.told.add(Told(Kind.FAILURE, (), words=_words(ran.status)))


def racing(trace: Trace) -> Iterator[tuple[int, int]]:
    """Every race between two sides, by its definition; one pair of operations for each."""
    graph = Graph(trace, ALL_EDGES)
    by_object: defaultdict[int, list[int]] = defaultdict(list)
    again = _again_and_again(trace)
    for op in graph.ops:
        if op.kind in ACCESSES and op.range is not None and not again[op.index]:
            by_object[op.range.object].append(op.index)
    told = set[frozenset[object]]()
    for accesses in by_object.values():
        for one, other in combinations(accesses, 2):
            sides = frozenset((access_side(graph, one), access_side(graph, other)))
            if sides not in told and _races(graph, one, other):
                told.add(sides)
                yield one, other


def _again_and_again(trace: Trace) -> npt.NDArray[np.bool_]:
    """Which operations are the same as those just before and just after: a thread that spins.

    What orders these two orders it.
    """
    same = trace.operations[1:] == trace.operations[:-1]
    again: npt.NDArray[np.bool_] = np.r_[False, same] & np.r_[same, False]
    return again


def _races(graph: Graph, one: int, other: int) -> bool:
    both = graph.ops[one], graph.ops[other]
    return (
        both[0].actor != both[1].actor
        and any(op.kind in STORES for op in both)
        and not all(op.flags & OpFlag.ATOMIC for op in both)
        and conflicting(graph, one, other)
    )


def blocked(trace: Trace, source: Path) -> Iterator[int]:
    """The lines at which threads wait for ever."""
    for index in range(len(trace)):
        if trace.operation(index).flags & OpFlag.BLOCKED:
            yield line_in(side_of(trace, index).stack, source)


def circling(trace: Trace, source: Path) -> Iterator[int]:
    """The lines of the last operation of each thread that did not end."""
    actors = trace.operations["actor"].tolist()
    for index in {actor: index for index, actor in enumerate(actors)}.values():
        if trace.operations["kind"][index] != int(OpKind.END):
            yield line_in(side_of(trace, index).stack, source)


def _words(status: int) -> str:
    told = -status if status < 0 else status << 8
    return str(Ending.of(told))


def enumerated(truth: Truth, seconds: float) -> Enumerated:
    """One program."""
    fix_addresses()
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        program = Path(name) / truth.name
        build(truth.source, program)
        with Server(Launch.here([str(program)]), threads=4) as server:
            return Enumerator(server, truth).all(seconds)


def row(result: Enumerated) -> list[str]:
    """Of the table in the page."""
    read = [one.words for one in result.truth.expected if not one.kinds <= SHOWN]
    notes = [f"by reading: {words}" for words in read]
    notes += [f"**not shown**: {words}" for words in result.missed]
    notes += [f"**not said**: {words}" for words in result.false]
    return [result.truth.name, result.how, "; ".join(notes)]


def main() -> None:
    """Enumerate, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"each ({SECONDS:g})")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    options = parser.parse_args()
    chosen = [one for one in truths() if not options.programs or one.name in options.programs]
    rows = []
    with ProcessPoolExecutor(2) as pool:
        for result in pool.map(partial(enumerated, seconds=options.seconds), chosen):
            progress(f"{result.truth.name}: {result.how}")
            rows.append(row(result))
    text = table(["program", "what was run", "what else"], rows)
    published(text, "confirmed", PAGE if options.write else None)


if __name__ == "__main__":
    main()
