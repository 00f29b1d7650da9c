# SPDX-License-Identifier: Apache-2.0
"""`check` of a process tree: one recorded run, its races, and both orders of each.

The run is an ordered one: one call at a time, the older process first, or by a seed if that fails.
So every check of the same program on the same files finds the same.

A branch in which the order of two calls decides nothing may still fail where the recorded run does
not: it leaves out what came between. That is a real run, so it is taken as a recorded one in its
turn, and the pair that decides is looked for there.

Where a run cannot be done again (files or processes cannot be kept apart, or what is needed for it
must not be kept), races are found and none is tried.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from eitherway.closing import Closing
from eitherway.detect import detect_all
from eitherway.errors import Unavailable
from eitherway.find.tree_judge import CONTINUATIONS, LOUD, QUIET, TreeJudge, Tried
from eitherway.find.tree_races import Candidate, Candidates, candidates_of
from eitherway.find.tree_rules import Rules
from eitherway.judge.trial import Way, way
from eitherway.model.finding import Finding
from eitherway.model.outcome import Outcome
from eitherway.model.words import Arm, Class, Kind
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.processes.apart import apart, as_permitted, is_on_own_files, lacking
from eitherway.worlds.processes.branch import Spec
from eitherway.worlds.processes.log import Ending, Log
from eitherway.worlds.processes.run import Ran, run
from eitherway.worlds.processes.traced import Traced, traced
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.target import Sink

_SEEDS = 4  # orders that are recorded until one does not fail
_REDACTED = "what it would be done again with is left out (--redact)"
_DEEPER = 2  # branches that fail and are looked at in their turn

Tell = Callable[[str], None]


@dataclass(slots=True)
class Checked:
    """What a check of a tree found, and what it looked at."""

    recording: Path
    status: int  # of the recorded run, as waitpid tells it
    calls: int
    processes: int
    operations: int
    isolation: str
    resources: int = 0  # objects that calls touched
    findings: dict[str, Finding] = field(default_factory=dict)
    races: int = 0  # distinct ones that could be tried
    clusters: int = 0
    tried: int = 0
    branches: int = 0
    quiet: int = 0  # those whose order does not matter as far as was seen
    covered: int = 0  # inconclusive ones on what a finding is about already
    parts: int = 0  # pairs of three calls that a finding is about
    diverged: int = 0  # whose order could not be had
    waits: int = 0  # races that cannot be tried
    left_out: Mapping[str, int] = field(default_factory=dict)
    not_modelled: Mapping[str, int] = field(default_factory=dict)  # calls, by name
    ending: Ending | None = None  # of the recorded run, by the tracer's own account
    untried: str = ""  # why no order but the recorded one was run
    interrupted: bool = False


class _Run(NamedTuple):
    """One that was recorded."""

    path: Path
    ran: Ran
    outcome: Outcome


class TreeSearch(Closing):
    """One command; its sandboxes are made once."""

    def __init__(
        self,
        launch: Launch,
        store: Store,
        *,
        jobs: int = 1,
        rules: Rules | None = None,
        continuations: int = CONTINUATIONS,
        redact: bool = False,
    ) -> None:
        """`jobs` branches run at a time; with `redact` none, and recordings hold no secrets."""
        self._launch = launch
        self._store = store
        self._rules = rules or Rules()
        self._continuations = continuations
        self._redact = redact
        self._stack = ExitStack()
        try:
            self._boxes = [self._stack.enter_context(as_permitted(launch))]
            self.untried = _REDACTED if redact else lacking(self._boxes[0])
            if self.untried and self._rules.ask:
                raise Unavailable(f"no order can be held against what is asked: {self.untried}")
            while not self.untried and len(self._boxes) < jobs:
                self._boxes.append(self._stack.enter_context(apart(launch)))
        except BaseException:
            self._stack.close()
            raise

    @property
    def on_own_files(self) -> bool:
        """Whether the recorded run is not kept apart."""
        return is_on_own_files(self._boxes[0])

    def check(self, seconds: float, tell: Tell, show: tuple[Sink, Sink] | None = None) -> Checked:
        """Record, then try races until the time is over."""
        if self.untried:
            return self._look(show)
        (path, ran, recorded), failed = self._benign(show)
        self._rules = self._rules.after(recorded)
        trace = traced(ran.log, self._launch.directory)
        checked = self._checked(path, trace)
        try:
            until = monotonic() + seconds
            threes = self._betrayed(failed, checked, until, tell) if failed else []
            self._try_all(trace, recorded, checked, until, tell, threes=threes)
        except KeyboardInterrupt:
            checked.interrupted = True
        return checked

    def _checked(self, path: Path, trace: Traced) -> Checked:
        ending = trace.log.ending
        return Checked(
            path,
            status=ending.status,
            calls=len(trace.log.calls),
            processes=sum(life.is_process for life in trace.tree.lives.values()),
            operations=len(trace.trace),
            resources=len(trace.trace.objects),
            not_modelled=ending.calls_not_modelled,
            ending=ending,
            untried=self.untried,
            isolation=str(self._boxes[0].isolation),
        )

    def _look(self, show: tuple[Sink, Sink] | None) -> Checked:
        """One run, and of each sort of race the first.

        On the user's own files it is a run like any other: time and random bytes are real.
        """
        seed = None if self.on_own_files else 0
        with self._store.new() as slot:
            ran = run(
                self._launch, self._boxes[0], slot.path, seed=seed, show=show, redact=self._redact
            )
            self._store.publish(slot.path)
        trace = traced(ran.log, self._launch.directory)
        checked = self._checked(slot.path, trace)
        found = _candidates(slot.path, trace)
        _count(checked, found)
        for candidate, *_ in found.groups[: found.clusters]:
            _add(checked, replace(candidate.finding, reason=f"not tried: {self.untried}"))
        return checked

    def _benign(self, show: tuple[Sink, Sink] | None) -> tuple[_Run, _Run | None]:
        """A run that does not fail, if there is one among the first few orders; one that does.

        What was killed early makes no calls that could be told to race.
        """
        first = self._record(0, show)
        for seed in range(1, _SEEDS):
            if not first.outcome.fails:
                break
            self._boxes[0].reset()
            other = self._record(seed, None)
            if not other.outcome.fails:
                return other, first
        return first, None

    def _record(self, seed: int, show: tuple[Sink, Sink] | None) -> _Run:
        with self._store.new() as slot:
            ran = run(self._launch, self._boxes[0], slot.path, seed=seed, show=show)
            self._store.publish(slot.path)
            outcome = self._rules.outcome(ran, self._boxes[0], self._launch)
            return _Run(slot.path, ran, outcome)

    def _judge(self, trace: Traced) -> TreeJudge:
        return TreeJudge(
            self._launch,
            trace,
            self._boxes,
            self._store,
            rules=self._rules,
            continuations=self._continuations,
        )

    def _betrayed(
        self, failed: _Run, checked: Checked, until: float, tell: Tell
    ) -> list[Candidate]:
        """Checks that were betrayed in a run that fails: in one that does not, none may be used."""
        trace = traced(failed.ran.log, self._launch.directory)
        threes: list[Candidate] = []
        with self._judge(trace) as judge:
            try:
                for instances in _in_time(_candidates(failed.path, trace), until, tell):
                    if instances[0].finding.kind is not Kind.TOCTOU:
                        continue
                    tried = judge.tried(instances)
                    if tried.klass in LOUD:
                        _add(checked, judge.told(tried))
                        threes += instances
            finally:
                checked.branches += judge.branches
        return threes

    def _try_all(
        self,
        trace: Traced,
        recorded: Outcome,
        checked: Checked,
        until: float,
        tell: Tell,
        *,
        threes: list[Candidate],
    ) -> None:
        """`threes`: those whose pairs need not be tried any more."""
        found = _candidates(checked.recording, trace)
        _count(checked, found)
        results: list[Tried] = []
        with self._judge(trace) as judge:
            try:
                for instances in _in_time(found, until, tell):
                    checked.tried += 1
                    left = [each for each in instances if not _is_part(each, threes)]
                    if not left:
                        checked.parts += 1
                        continue
                    results.append(tried := judge.tried(left))
                    if tried.klass in LOUD:
                        _add(checked, judge.told(tried))
                        threes += instances
            finally:
                checked.branches += judge.branches
                _sum_up(checked, judge, results)
            unknown = _unexplained(results, recorded)
            deeper = [(judge.kept(spec), how) for how, spec in list(unknown.items())[:_DEEPER]]
        for kept, how in deeper:
            self._look_deeper(kept, how, checked, until, tell)

    def _look_deeper(
        self, path: Path, how: Way, checked: Checked, until: float, tell: Tell
    ) -> None:
        """A branch that fails, as a recorded run: the pair that mends it is the one to blame."""
        with Recording.open(path) as recording:
            trace = traced(Log.read(recording), self._launch.directory)
        with self._judge(trace) as judge:
            try:
                for instances in _in_time(_candidates(path, trace), until, tell):
                    tried = judge.tried(instances)
                    blamed = tried.klass in LOUD and way(tried.verdict.decisive.control) == how
                    if blamed:
                        _add(checked, judge.told(tried))
                        return
            finally:
                checked.branches += judge.branches

    def close(self) -> None:
        """End what is held ready."""
        self._stack.close()


def _candidates(path: Path, trace: Traced) -> Candidates:
    return candidates_of(trace, detect_all(trace.trace), os.fspath(path))


def _count(checked: Checked, found: Candidates) -> None:
    checked.races, checked.clusters = len(found.groups), found.clusters
    checked.waits, checked.left_out = found.untried, found.left_out


def _in_time(found: Candidates, until: float, tell: Tell) -> Iterator[tuple[Candidate, ...]]:
    for number, instances in enumerate(found.groups, 1):
        if monotonic() > until:
            return
        title = instances[0].finding.operations[0].touched
        tell(f"trying race {number} of {len(found.groups)}: {title}")
        yield instances


def _is_part(candidate: Candidate, threes: list[Candidate]) -> bool:
    return any(candidate.is_part_of(three) for three in threes)


def _add(checked: Checked, finding: Finding) -> None:
    checked.findings.setdefault(finding.id, finding)


def _sum_up(checked: Checked, judge: TreeJudge, results: list[Tried]) -> None:
    """What is not decided is told, unless it is about something that a finding names already."""
    named = {_about(finding) for finding in checked.findings.values()}
    for tried in results:
        if tried.klass in QUIET:
            checked.quiet += 1
            checked.diverged += tried.klass is Class.SINGLE_ORDERING
        elif tried.klass is Class.INCONCLUSIVE:
            finding = judge.told(tried)
            if _about(finding) in named:
                checked.covered += 1
            else:
                _add(checked, finding)


def _about(finding: Finding) -> frozenset[str]:
    return frozenset(operation.variable for operation in finding.operations)


def _unexplained(results: list[Tried], recorded: Outcome) -> dict[Way, Spec]:
    """Ways to fail that no pair is to blame for, each with the first branch that showed it."""
    trials = [(tried, trial) for tried in results for trial in tried.verdict.trials]
    blamed = {
        way(outcome)
        for tried, trial in trials
        if tried.klass in LOUD
        for outcome in (trial.flip, trial.control)
    }
    found: dict[Way, Spec] = {}
    for tried, trial in trials:
        for arm, outcome in ((Arm.CONTROL, trial.control), (Arm.FLIP, trial.flip)):
            new = outcome.fails and way(outcome) not in (way(recorded), *blamed)
            if new:
                spec = Spec(tried.candidate.anchors, arm, trial.continuation)
                found.setdefault(way(outcome), spec)
    return found
