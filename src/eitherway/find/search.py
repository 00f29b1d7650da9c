# SPDX-License-Identifier: Apache-2.0
"""Runs schedule after schedule within a budget; what is new is confirmed at once and kept."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from eitherway.closing import Closing
from eitherway.find import given_up, unconfirmed
from eitherway.find.candidates import Candidate, Candidates, seen_again
from eitherway.find.clock import Clock, OutOfTime
from eitherway.find.confirm import Opinion, Tracer
from eitherway.find.crew import Crew, Done, Work
from eitherway.find.driving import Driving
from eitherway.find.endings import Ending, How
from eitherway.find.failures import consequence, failure_of, unexamined, without_repeats
from eitherway.find.progress import Budget, Progress
from eitherway.find.space import Space
from eitherway.find.ways import Batch, Way, limited, token_of
from eitherway.model.finding import Confidence, Finding
from eitherway.model.words import Kind
from eitherway.recording.store import Store
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import surveyed
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.guide import PLACES_ROOM, SHOWN_NOTHING
from eitherway.worlds.threads.launch import Launch, program_of
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import DEPTH_FIRST, TURNS, Turn
from eitherway.worlds.threads.recorded import Recorded, identity, save
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Stopped, Surveyed
from eitherway.worlds.threads.trace_request import TraceRequest
from eitherway.worlds.threads.turns import Turns

Tell = Callable[[Progress], None]
_DRIVEN = "with a driver, what comes from outside is other each time"
_IN_VAIN = "the driver was content with no schedule: what it is to try has not been tried"
_NO_TIME = "the time was over while {}; --seconds gives it longer"
_RUNNING = "a schedule was still running"
_CONFIRMING = "what was seen was looked at in a trace"
_ORDER = "deadlocks and lost wake-ups were looked for in the trace of a run"
_NO_ORDER = (
    "deadlocks and lost wake-ups that did not happen were not looked for: the runs are too long; "
    "--seconds gives it longer"
)
_PER_SWITCH = 2e-5  # seconds that looking at the order of a run takes, at least


_ENDS = {int(FoundKind.DEADLOCK): How.DEADLOCK, int(FoundKind.HANG): How.CIRCLE}


def _ends_the_run(rows: np.ndarray) -> np.ndarray:
    """Deadlocks of the program itself; those of processes that it started are theirs."""
    ends: np.ndarray = np.isin(rows["kind"], list(_ENDS)) & (rows["slot"] == 0)
    return ends


def _known_ends(rows: np.ndarray) -> dict[int, How]:
    """By seed, of runs that the runtime ended because they would not go on."""
    ended = rows[_ends_the_run(rows)]
    return {int(row["seed"]): _ENDS[int(row["kind"])] for row in ended}


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
        places: Places = NOWHERE,
    ) -> None:
        """`fixed`: addresses are the same in every run; `places` that are known to be shared."""
        self._launch = launch
        self._store = store
        self._candidates = Candidates()
        self._failures: dict[str, Ending] = {}  # by the id of their finding
        self._first: dict[Ending, Ran] = {}  # where the run itself is at hand
        self._told: set[Ending] = set()
        self._measured = SHOWN_NOTHING  # by the last run
        self._order_next = 1  # schedules: ever fewer show a new order of locks
        self._doing = _RUNNING
        self._last: tuple[Way, Ran | None] | None = None
        self.recordings: list[str] = []  # that show something, by name
        self._crew = Crew(launch, plan=plan, threads=threads, jobs=jobs)
        self.progress = Progress(isolation=self._crew.isolation, places=places)
        known = self.progress.findings
        self._tracer = Tracer(self._crew.first, fixed=fixed, known=known)
        self._space = Space(self._crew.first, self._tracer, _DRIVEN if plan.driver else "")
        self._space.learn(places)
        self._clock = Clock(None)
        self._doubtful: dict[Way, list[Candidate]] = {}  # seen, and in no trace yet
        self._felled: list[tuple[Batch, np.ndarray]] = []  # seen in runs that nobody can do again
        self._driving = Driving(plan.driver) if plan.driver else None

    def _do_again(self, runs: Iterable[Ran]) -> None:
        """Recorded runs, looked at as at any other."""
        for recorded in runs:
            ran = self._crew.first.run(replay=recorded, detect=True)
            if not ran.differences(recorded):
                self._take(Batch("replay", range(1)), surveyed(0, ran))

    def try_turns(self, turns: Turns) -> None:
        """Let threads have these turns, as far as they fit, before anything else."""
        guidance = turns.guidance(self._known_places())
        ran = self._crew.first.run(scheduler=TURNS, guidance=guidance, detect=True)
        self._take(Batch(TURNS, range(1), guidance), surveyed(0, ran))

    def functions(self) -> frozenset[str]:
        """That the last run was in, as far as a trace of its accesses shows; nothing of none."""
        if self._last is None:
            return frozenset()
        way, ran = self._last
        trace = self._tracer.trace(ran or self._again(way), TraceRequest()).trace
        return frozenset(trace.place(number).function for number in range(len(trace.places)))

    def run(
        self,
        turns: Iterable[Turn],
        budget: Budget,
        tell: Tell,
        clock: Clock | None = None,
        *,
        first: Iterable[Ran] = (),
    ) -> Progress:
        """Until the budget is spent or somebody interrupts; what was found stays.

        `first`: recorded runs that are done again before anything else.
        """
        self._clock = clock or Clock(budget.seconds)
        self._crew.hurry(self._clock.until)
        some = limited(self._open(turns), budget.schedules, self._space.unused)
        try:
            with self._clock.enforced(), closing(self._crew.results(self._works(some))) as results:
                self._do_again(first)
                self._search(results, budget, tell)
        except OutOfTime:
            self._note(_NO_TIME.format(self._doing))
        except KeyboardInterrupt as interrupt:
            self.progress.interrupted = interrupt
        self._tell_doubtful()
        self._drop_meant()
        self._tell_unexamined()
        self._count_failures()
        self.progress.findings = without_repeats(self.progress.findings)
        self.progress.in_vain = not self.progress.schedules
        if self._driving and self._driving.in_vain:
            self.progress.in_vain = True
            self._note(_IN_VAIN)
        self.progress.space, self.progress.exhausted = self._space.words(), self._space.exhausted
        return self.progress

    def _search(self, results: Iterable[Done], budget: Budget, tell: Tell) -> None:
        for batch, part in results:
            self._see_driver(part)
            self._take(batch, part)
            tell(self.progress)
            self._doing = _RUNNING
            if self._space.exhausted or budget.is_spent(self._clock, self.progress.findings):
                break
        self._tell_failures()  # those too that were thought to be meant
        if self._order_next == 1 and not budget.is_content(self.progress.findings):
            self._look_at_order()  # there was no time for it yet

    def _see_driver(self, part: Surveyed) -> None:
        cut_off = np.any(part.rows["stopped"] == Stopped.WITH_ALL)
        if (
            self._driving
            and part.ran
            and not cut_off
            and (said := self._driving.see(part.ran.course))
        ):
            self._note(said)

    def _open(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Those that still have something to run; none when there is nothing else in turn."""
        skipped = 0
        for turn in turns:
            if self._space.exhausted:
                return
            if turn.policy != DEPTH_FIRST or not self._space.over:
                skipped = 0
                yield turn
            elif skipped:
                return
            else:
                skipped += 1

    def _works(self, turns: Iterable[Turn]) -> Iterator[Work]:
        """Each is told what was known when it was its turn."""
        for turn in turns:
            if turn.policy == DEPTH_FIRST:
                yield partial(self._space.runs, turn)
                continue
            guidance = turn.guidance(self._known_places(), self._measured)
            yield Batch(turn.policy, turn.seeds, guidance)

    def _known_places(self) -> Places:
        """As many as a run can be told."""
        return Places.of(sorted(self.progress.places.numbers)[:PLACES_ROOM])

    def _take(self, batch: Batch, part: Surveyed) -> None:
        found = part.found
        self.progress.places |= part.shown.places
        self.progress.coverage.add(part.shown.pairs)
        if part.shown.threads is not None and len(part.shown.threads):
            self._measured = part.shown
        if found.left_out:
            self._note("a run had more races than there is room for; the first ones are told")
        if found.forgotten:
            self._note("long runs forgot their past on the way: a race across that is missed")
        rows = found.rows[found.rows["kind"] != FoundKind.GIVEN_UP]
        known = _known_ends(rows)
        felled = part.rows["seed"][part.rows["stopped"] == Stopped.WITH_SERVER]
        in_felled = np.isin(rows["seed"], felled)
        if in_felled.any():
            self._felled.append((batch, rows[in_felled]))
        no_run = given_up.seeds_of(found.given_up)
        counted = [row for row in part.rows if int(row["seed"]) not in no_run]
        fresh = [e for row in counted if (e := self._count(batch, row, known)) is not None]
        self._see_given_up(batch, part)
        cut_off = part.rows["seed"][part.rows["stopped"] == Stopped.WITH_ALL]
        whole = part.rows["seed"][~np.isin(part.rows["seed"], [*cut_off, *felled, *no_run])]
        with self._clock.confirming():
            for way, candidates in self._new(batch, rows[~in_felled]).items():
                self._doubtful[way] = candidates
                if way.seed not in cut_off:
                    self._confirm_way(way, candidates, part.ran)
                    del self._doubtful[way]
        if part.ran:
            self._first.update(dict.fromkeys(fresh, part.ran))
        if fresh:
            self._tell_failures()
        if len(whole):
            self._last = batch.way(int(whole[-1])), part.ran
        if self.progress.schedules >= self._order_next and not self._clock.is_late:
            self._look_at_order()
        self._space.learn(self.progress.places)

    def _see_given_up(self, batch: Batch, part: Surveyed) -> None:
        for row in part.found.given_up[:1]:
            ran = part.ran or self._again(batch.way(int(row["seed"])))
            if not self.progress.schedules:
                given_up.refuse(row, ran)
            self._note(given_up.words_of(row, ran))

    def _count(self, batch: Batch, row: np.void, known: dict[int, How]) -> Ending | None:
        """Note a run; its ending, if it is the first of its sort."""
        progress, seed = self.progress, int(row["seed"])
        if row["stopped"] == Stopped.WITH_ALL:
            progress.cut_off += 1
            return None
        progress.schedules += 1
        progress.different.add(int(row["schedule"]))
        progress.outputs.add((int(row["out_size"]), int(row["out_hash"])))
        sure = How.FELLED if row["stopped"] == Stopped.WITH_SERVER else known.get(seed)
        ending = Ending.of(int(row["status"]), known=sure, stopped=bool(row["stopped"]))
        return ending if progress.endings.add(ending, batch.way(seed)) else None

    def _new(
        self, batch: Batch, rows: np.ndarray, *, first_only: bool = False
    ) -> dict[Way, list[Candidate]]:
        """What is worth a trace, by schedule; `first_only`: if nothing is known of its side."""
        first_only |= self._clock.is_late
        found: dict[Way, list[Candidate]] = {}
        for row in rows[~_ends_the_run(rows)]:
            way = batch.way(int(row["seed"]))
            candidate = self._candidates.new(way, row, first_only=first_only)
            if candidate is not None:
                found.setdefault(way, []).append(candidate)
        return found

    def _again(self, way: Way) -> Ran:
        return self._crew.first.run(
            seed=way.seed, scheduler=way.scheduler, guidance=way.guidance, detect=True, again=True
        )

    def _confirm_way(self, way: Way, candidates: list[Candidate], ran: Ran | None) -> None:
        """Those of a survey are confirmed in a run of their own, as that one sees them."""
        again = ran or self._again(way)
        seen = candidates if ran else seen_again(candidates, again.found.rows)
        if len(seen) < len(candidates):
            self._note(f"{way} was not the same when done again: not all that it showed is told")
        if seen:
            self._confirm(seen, again)

    def _confirm(self, candidates: list[Candidate], ran: Ran) -> None:
        """All of one schedule at once."""
        before = len(self.progress.findings)
        self._doing = _CONFIRMING
        for candidate in candidates:
            if candidate.key.side.slot:
                program = program_of(self._launch)
                started = unconfirmed.program_of_slot(ran, candidate.key.side.slot) or program
                finding = unconfirmed.finding_of(candidate, started, unconfirmed.ELSEWHERE)
                self._keep([finding], ran, candidate.way)
        own = [candidate for candidate in candidates if not candidate.key.side.slot]
        locks = [c for c in own if c.key.side.kind == FoundKind.LOCK_MISUSE]
        accesses = [c for c in own if c.key.side.kind != FoundKind.LOCK_MISUSE]
        if locks:
            self._hear(self._tracer.misuse(locks, ran), ran, locks[0].way)
        if accesses:
            self._hear(self._tracer.races(accesses, ran), ran, accesses[0].way)
        self._candidates.confirmed(candidates, new=len(self.progress.findings) > before)

    def _look_at_order(self) -> None:
        """Deadlocks and lost wake-ups that did not happen can be seen in runs that went well."""
        if self._last is None:
            return
        self._order_next = 2 * self.progress.schedules
        self._doing = _ORDER
        with self._clock.confirming():
            way, ran = self._last[0], self._last[1] or self._again(self._last[0])
            if not self._clock.affords(len(ran.schedule.switches) * _PER_SWITCH):
                self._note(_NO_ORDER)
            elif How.DEADLOCK in _known_ends(ran.found.rows).values():
                self._tell_failure(Ending(How.DEADLOCK), ran, way)
            else:
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
            return
        if opinion.denied:
            self._note(
                f"a bug in EitherWay: the trace of {way} does not show what was seen while it ran; "
                "please report it"
            )
        self._keep(opinion.findings, ran, way)

    def _tell_doubtful(self) -> None:
        """What was seen in runs that there was no time to do again is told as that."""
        self._tell_unconfirmed(chain.from_iterable(self._doubtful.values()), unconfirmed.NO_TIME)
        self._doubtful.clear()
        for batch, rows in self._felled:
            found = self._new(batch, rows, first_only=True).values()
            self._tell_unconfirmed(chain.from_iterable(found), unconfirmed.FELLED)
        self._felled.clear()

    def _tell_unconfirmed(self, candidates: Iterable[Candidate], reason: str) -> None:
        program = program_of(self._launch)
        for candidate in candidates:
            side = candidate.key.side
            if not side.slot and not self._candidates.is_confirmed(side):
                finding = unconfirmed.finding_of(candidate, program, reason)
                self.progress.findings.setdefault(finding.id, finding)

    def _tell_failures(self) -> None:
        """With a new exit code, one that was the only one before may be none that was meant."""
        endings = self.progress.endings
        for ending in endings.failures():
            if ending not in self._told and ending.how is not How.FELLED:
                ran = self._first.get(ending) or self._again(endings.first[ending])
                self._tell_failure(ending, ran, endings.first[ending])
                self._told.add(ending)

    def _drop_meant(self) -> None:
        """Which of several exit codes is meant can change with every run; at the end it is sure."""
        failures = self.progress.endings.failures()
        meant = [number for number, ending in self._failures.items() if ending not in failures]
        for number in meant:
            del self._failures[number]
            self.progress.findings.pop(number, None)
            self.progress.tokens.pop(number, None)

    def _tell_unexamined(self) -> None:
        """How runs ended that there was no time to do again is told as that."""
        endings, findings = self.progress.endings, self.progress.findings
        is_known = any(finding.kind is Kind.DEADLOCK for finding in findings.values())
        for ending in endings.failures():
            if ending in self._told or (ending.how is How.DEADLOCK and is_known):
                continue
            finding = unexamined(ending, endings, program_of(self._launch))
            findings.setdefault(finding.id, finding)
            self._failures[finding.id] = ending

    def _tell_failure(self, ending: Ending, ran: Ran, way: Way) -> None:
        found = tuple(failure_of(ending, ran, self.progress.endings, self._tracer))
        for finding in found:
            if finding.consequence:  # what could happen has happened: this run shows it better
                self.progress.findings.pop(finding.id, None)
        self._keep(found, ran, way)
        self._failures.update({finding.id: ending for finding in found if finding.consequence})

    def _count_failures(self) -> None:
        """How often each was seen is known at the end."""
        progress = self.progress
        for number, ending in self._failures.items():
            words = consequence(ending, progress.endings)
            progress.findings[number] = replace(progress.findings[number], consequence=words)

    def _keep(self, findings: Iterable[Finding], ran: Ran, way: Way) -> None:
        new: dict[str, Finding] = {}  # of one id, the first: it has its history
        for finding in findings:
            if finding.id not in self.progress.findings:
                new.setdefault(finding.id, finding)
        if not new:
            return
        path = save(Recorded(self._launch, ran), self._store)
        self.recordings.append(path.name)
        token = token_of(way, identity(program_of(self._launch)))
        for number, finding in new.items():
            self.progress.findings[number] = self._with_evidence(finding, path)
            if token:
                self.progress.tokens[number] = token

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
