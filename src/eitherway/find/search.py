# SPDX-License-Identifier: Apache-2.0
"""Runs schedule after schedule within a budget; what is new is confirmed at once and kept."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

import numpy as np

from eitherway.closing import Closing
from eitherway.find import elsewhere
from eitherway.find.candidates import Candidate, Candidates, FoundKind
from eitherway.find.confirm import Opinion, Tracer
from eitherway.find.crew import Crew
from eitherway.find.endings import Ending, Endings
from eitherway.find.failures import consequence, failure_of
from eitherway.find.ways import Batch, Way, limited
from eitherway.model.finding import Confidence, Finding
from eitherway.recording.store import Store
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import surveyed
from eitherway.worlds.threads.guide import PLACES_ROOM, SHOWN_NOTHING
from eitherway.worlds.threads.launch import Launch, program_of
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import Turn
from eitherway.worlds.threads.recorded import Recorded, save
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Surveyed


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop."""

    schedules: int | None = None
    seconds: float | None = None
    at_first: bool = False  # finding

    def is_spent(self, since: float, findings: int) -> bool:
        """Whether it is time; schedules are not handed out beyond their number."""
        late = self.seconds is not None and monotonic() - since >= self.seconds
        return late or (self.at_first and findings > 0)


@dataclass(slots=True)
class Progress:
    """How far a search has come."""

    schedules: int = 0
    different: set[int] = field(default_factory=set)  # hashes of schedules
    outputs: set[tuple[int, int]] = field(default_factory=set)
    endings: Endings = field(default_factory=Endings)
    findings: dict[str, Finding] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    isolation: str = ""
    places: Places = NOWHERE  # plain accesses that are decision points
    interrupted: bool = False


Tell = Callable[[Progress], None]


def _ends_the_run(rows: np.ndarray) -> np.ndarray:
    """Deadlocks of the program itself; those of processes that it started are theirs."""
    ends: np.ndarray = (rows["kind"] == FoundKind.DEADLOCK) & (rows["slot"] == 0)
    return ends


class Search(Closing):
    """One program, searched."""

    def __init__(
        self,
        launch: Launch,
        store: Store,
        *,
        plan: Plan,
        fixed: bool,
        threads: int = 0,
        jobs: int = 1,
    ) -> None:
        """`fixed`: addresses are the same in every run."""
        self._launch = launch
        self._store = store
        self._candidates = Candidates()
        self._failures: dict[str, Ending] = {}  # by the id of their finding
        self._first: dict[Ending, Ran] = {}  # where the run itself is at hand
        self._told: set[Ending] = set()
        self._measured = SHOWN_NOTHING  # by the last run
        self._order_next = 1  # schedules: ever fewer show a new order of locks
        self.recordings: list[str] = []  # that show something, by name
        self._crew = Crew(launch, plan=plan, threads=threads, jobs=jobs)
        self.progress = Progress(isolation=self._crew.isolation)
        self._tracer = Tracer(self._crew.first, fixed=fixed)

    def again(self, runs: Iterable[Ran]) -> None:
        """Do recorded runs again before anything else, and look at them as at any other."""
        for recorded in runs:
            ran = self._crew.first.run(replay=recorded, detect=True)
            if not ran.differences(recorded):
                self._take(Batch("replay", range(1)), surveyed(0, ran))

    def run(self, turns: Iterable[Turn], budget: Budget, tell: Tell) -> Progress:
        """Until the budget is spent or somebody interrupts; what was found stays."""
        since = monotonic()
        results = self._crew.results(self._batches(limited(turns, budget.schedules)))
        with closing(results):
            try:
                for batch, part in results:
                    self._take(batch, part)
                    tell(self.progress)
                    if budget.is_spent(since, len(self.progress.findings)):
                        break
            except KeyboardInterrupt:
                self.progress.interrupted = True
        self._count_failures()
        return self.progress

    def _batches(self, turns: Iterable[Turn]) -> Iterator[Batch]:
        """Each is told what was known when it was its turn."""
        for turn in turns:
            guidance = turn.guidance(self._known_places(), self._measured)
            yield Batch(turn.policy, turn.seeds, guidance)

    def _known_places(self) -> Places:
        """As many as a run can be told."""
        return Places.of(sorted(self.progress.places.numbers)[:PLACES_ROOM])

    def _take(self, batch: Batch, part: Surveyed) -> None:
        found = part.found
        self.progress.places |= part.shown.places
        if part.shown.threads is not None and len(part.shown.threads):
            self._measured = part.shown
        if found.left_out:
            self._note("a run had more races than there is room for; the first ones are told")
        if found.forgotten:
            self._note("long runs forgot their past on the way: a race across that is missed")
        deadlocked = set(found.rows["seed"][_ends_the_run(found.rows)].tolist())
        fresh = [
            ending
            for row in part.rows
            if (ending := self._count(batch, row, deadlocked)) is not None
        ]
        for candidate in self._new(batch, found.rows):
            known = len(self.progress.findings)
            self._confirm(candidate, part.ran or self._again(candidate.way))
            new = len(self.progress.findings) > known
            self._candidates.confirmed(candidate, new=new)
        if part.ran:
            self._first.update(dict.fromkeys(fresh, part.ran))
        if fresh:
            self._tell_failures()
        if self.progress.schedules >= self._order_next:
            self._order_next = 2 * self.progress.schedules
            way = batch.way(int(part.rows["seed"][-1]))
            self._look_at_order(way, part.ran or self._again(way))

    def _count(self, batch: Batch, row: np.void, deadlocked: set[int]) -> Ending | None:
        """Note a run; its ending, if it is the first of its sort."""
        progress, seed = self.progress, int(row["seed"])
        progress.schedules += 1
        progress.different.add(int(row["schedule"]))
        progress.outputs.add((int(row["out_size"]), int(row["out_hash"])))
        ending = Ending.of(
            int(row["status"]), deadlocked=seed in deadlocked, stopped=bool(row["stopped"])
        )
        return ending if progress.endings.add(ending, batch.way(seed)) else None

    def _new(self, batch: Batch, rows: np.ndarray) -> Iterator[Candidate]:
        for row in rows[~_ends_the_run(rows)]:
            candidate = self._candidates.new(batch.way(int(row["seed"])), row)
            if candidate is not None:
                yield candidate

    def _again(self, way: Way) -> Ran:
        return self._crew.first.run(
            seed=way.seed, scheduler=way.scheduler, guidance=way.guidance, detect=True
        )

    def _confirm(self, candidate: Candidate, ran: Ran) -> None:
        if candidate.key.slot:
            program = program_of(self._launch)
            self._keep([elsewhere.finding_of(candidate, ran, program)], ran)
            return
        misuse = candidate.key.kind == FoundKind.LOCK_MISUSE
        opinion = (self._tracer.misuse if misuse else self._tracer.race)(candidate, ran)
        if not opinion.agrees and not opinion.differs:
            what = "misuse of a lock" if misuse else "race"
            self._note(
                f"a bug in EitherWay: the trace of {candidate.way} does not show the {what} seen "
                "while it ran; please report it"
            )
        self._hear(opinion, ran, candidate.way)

    def _look_at_order(self, way: Way, ran: Ran) -> None:
        """Deadlocks and lost wake-ups that did not happen can be seen in runs that went well."""
        self._hear(self._tracer.order(ran), ran, way)

    def _hear(self, opinion: Opinion, ran: Ran, way: Way) -> None:
        self.progress.places |= opinion.places
        for limit in opinion.limits:
            self._note(limit)
        if opinion.differs:
            self._note(
                f"{way} was not the same when done again ({', '.join(opinion.differs)}): what it "
                "showed is not told; eitherway record --verify says why"
            )
        else:
            self._keep(opinion.findings, ran)

    def _tell_failures(self) -> None:
        """With a new exit code, one that was the only one before may be none that was meant."""
        endings = self.progress.endings
        for ending in endings.failures():
            if ending not in self._told:
                self._told.add(ending)
                ran = self._first.get(ending) or self._again(endings.first[ending])
                self._tell_failure(ending, ran)

    def _tell_failure(self, ending: Ending, ran: Ran) -> None:
        found = tuple(failure_of(ending, ran, self.progress.endings, self._tracer))
        self._keep(found, ran)
        self._failures.update({finding.id: ending for finding in found if finding.consequence})

    def _count_failures(self) -> None:
        """How often each was seen is known at the end."""
        progress = self.progress
        for number, ending in self._failures.items():
            words = consequence(ending, progress.endings)
            progress.findings[number] = replace(progress.findings[number], consequence=words)

    def _keep(self, findings: Iterable[Finding], ran: Ran) -> None:
        new = [finding for finding in findings if finding.id not in self.progress.findings]
        if not new:
            return
        path = save(Recorded(self._launch, ran), self._store)
        self.recordings.append(path.name)
        for finding in new:
            self.progress.findings[finding.id] = self._with_evidence(finding, path)

    def _with_evidence(self, finding: Finding, path: Path) -> Finding:
        confidence = Confidence(isolation=self.progress.isolation)
        command = f"eitherway replay {path.name}"
        evidence = os.fspath(path)
        return replace(finding, evidence=evidence, replay=command, confidence=confidence)

    def _note(self, words: str) -> None:
        if words not in self.progress.notes:
            self.progress.notes.append(words)

    def close(self) -> None:
        """End what runs, and give the sandboxes back."""
        self._crew.close()
