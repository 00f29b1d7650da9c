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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from eitherway.closing import Closing
from eitherway.detect import detect_all
from eitherway.errors import Unavailable
from eitherway.find.tree_causes import by_cause, shares_with
from eitherway.find.tree_judge import CONTINUATIONS, LOUD, QUIET, TreeJudge, Tried
from eitherway.find.tree_races import Candidate, Candidates, candidates_of
from eitherway.find.tree_rules import Rules
from eitherway.find.tree_takers import taken_under_locks
from eitherway.find.tree_threads import ordered_by_threads
from eitherway.judge.experiment import Verdict
from eitherway.judge.trial import Way, way
from eitherway.judge.why import Why
from eitherway.model import outcome as outcomes
from eitherway.model.finding import Finding
from eitherway.model.outcome import Outcome
from eitherway.model.words import Arm, Class, Kind
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.processes.apart import (
    among_own,
    apart,
    as_permitted,
    is_kept,
    is_on_own_files,
    lacking,
)
from eitherway.worlds.processes.branch import Spec
from eitherway.worlds.processes.cut import Choice, Pair, Unended
from eitherway.worlds.processes.killed import is_killed
from eitherway.worlds.processes.log import Ending, Log
from eitherway.worlds.processes.refused import refused_at
from eitherway.worlds.processes.run import Limits, Ran, run
from eitherway.worlds.processes.serving import serves
from eitherway.worlds.processes.traced import Traced, traced
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.target import Sink

_HANGS = 30  # seconds of sleep of all, with nothing outside that could wake one
_MOST = 1 << 21  # calls
# A run that never ends is ended after this, unless --timeout says when. What was recorded is looked
# at, and no other order is run: none would come to an end either.
_RECORDED = Limits(_HANGS, calls=_MOST, seconds=600, rest=60)
_SEEDS = 4  # orders that are recorded until one does not fail
_LATER = (1, 2)  # seeds of orders in which who was killed early may live longer
_NO_END = "the recorded run came to no end, and had to be ended"
_REDACTED = "what it would be done again with is left out (--redact)"
_WAITS = 4  # branches whose wait found another child, and that are looked at in their turn
_TURNS = 4  # the same of those in which a process went another way, to the same end
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
    one_order: Counter[Why] = field(default_factory=Counter)  # the other was not had: why
    unsure: int = 0  # both orders say nothing
    covered: Counter[Why] = field(default_factory=Counter)  # of those, what is not told: why
    parts: int = 0  # pairs of three calls that a finding is about
    waits: int = 0  # races that cannot be tried
    left_out: Mapping[str, int] = field(default_factory=dict)
    ending: Ending | None = None  # of the recorded run, by the tracer's own account
    serves: bool = False  # whether the recorded run waits for who comes from outside
    refused: tuple[str, ...] = ()  # names at which the sandbox alone refused a call of it
    unmet: tuple[str, ...] = ()  # what it does that nobody asked for, where something is asked
    untried: str = ""  # why no order but the recorded one was run
    interrupted: KeyboardInterrupt | None = None

    @property
    def is_cut(self) -> bool:
        """Whether the recorded run had to be ended, and not for waiting as servers do."""
        ending = self.ending
        return ending is not None and bool(
            ending.late or ending.endless or (ending.hangs and not self.serves)
        )


class _Run(NamedTuple):
    """One that was recorded."""

    path: Path
    ran: Ran
    outcome: Outcome

    @property
    def fails(self) -> bool:
        """What had to be ended tells as little as what failed."""
        return self.outcome.fails or self.outcome.ending is outcomes.Ending.BUDGET


class _Looked(NamedTuple):
    """A run that was looked through, and what is to be tried of it."""

    trace: Traced
    found: Candidates


@dataclass(frozen=True, slots=True)
class _Pace:
    """How long races are tried, and who is told of each."""

    until: float
    tell: Tell

    def each(self, groups: Sequence[tuple[Candidate, ...]]) -> Iterator[tuple[Candidate, ...]]:
        """Those that there is time for."""
        for number, instances in enumerate(groups, 1):
            if monotonic() > self.until:
                return
            title = instances[0].finding.operations[0].touched
            self.tell(f"trying race {number} of {len(groups)}: {title}")
            yield instances


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
        keep: bool = False,
        timeout: float | None = None,
    ) -> None:
        """`jobs` branches run at a time; `timeout` is for each run, in seconds.

        With `redact` none, and recordings hold no secrets; with `keep` none, and what the recorded
        run does stays done.
        """
        self._launch = launch
        self._store = store
        self._rules = rules or Rules()
        self._continuations = continuations
        self._redact = redact
        self._limits = Limits(seconds=timeout)
        self._recorded = _RECORDED if timeout is None else Limits(_HANGS, seconds=timeout)
        self._stack = ExitStack()
        try:
            first = (among_own if keep else as_permitted)(launch)
            self._boxes = [self._stack.enter_context(first)]
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

    @property
    def kept(self) -> bool:
        """Whether that is wanted."""
        return is_kept(self._boxes[0])

    def check(self, seconds: float, tell: Tell, show: tuple[Sink, Sink] | None = None) -> Checked:
        """Record, then try races until the time is over."""
        if self.untried:
            return self._look(show)
        (path, ran, recorded), failed = self._benign(show)
        self._rules = self._rules.after(recorded)
        trace = traced(ran.log, self._launch.directory)
        checked = self._checked(path, trace)
        if self._rules.ask:
            checked.unmet = (*recorded.complaints, *self._rules.nowhere(recorded))
        looked = _Looked(trace, _candidates(path, trace))
        if _is_cut(ran.log):
            checked.untried = _NO_END
            _tell_each(checked, looked.found)
            return checked
        try:
            pace = _Pace(monotonic() + seconds, tell)
            threes = self._betrayed(failed, checked, pace) if failed else []
            self._try_all(looked, recorded, checked, pace, threes=threes)
            self._let_live(looked, checked, pace)
        except KeyboardInterrupt as interrupt:
            checked.interrupted = interrupt
        checked.findings = {each.id: each for each in by_cause(checked.findings.values())}
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
            ending=ending,
            serves=bool(ending.hangs) and serves(trace.log),
            refused=refused_at(trace),
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
                self._launch,
                self._boxes[0],
                slot.path,
                seed=seed,
                show=show,
                redact=self._redact,
                limits=self._limits,
            )
            self._store.publish(slot.path)
        trace = traced(ran.log, self._launch.directory)
        checked = self._checked(slot.path, trace)
        _tell_each(checked, _candidates(slot.path, trace))
        return checked

    def _benign(self, show: tuple[Sink, Sink] | None) -> tuple[_Run, _Run | None]:
        """A run that does not fail, if there is one among the first few orders; one that does.

        What was killed early makes no calls that could be told to race.
        """
        first = self._record(0, show)
        for seed in range(1, _SEEDS):
            if not first.fails or _is_cut(first.ran.log):
                break
            self._boxes[0].reset()
            other = self._record(seed, None)
            if not other.fails:
                return other, first
        return first, None

    def _record(self, seed: int, show: tuple[Sink, Sink] | None) -> _Run:
        with self._store.new() as slot:
            ran = run(
                self._launch,
                self._boxes[0],
                slot.path,
                seed=seed,
                show=show,
                limits=self._recorded,
            )
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
            timeout=self._limits.seconds,
        )

    def _betrayed(self, failed: _Run, checked: Checked, pace: _Pace) -> list[Candidate]:
        """Checks that were betrayed in a run that fails: in one that does not, none may be used."""
        trace = traced(failed.ran.log, self._launch.directory)
        threes: list[Candidate] = []
        with self._judge(trace) as judge:
            try:
                for instances in pace.each(_candidates(failed.path, trace).groups):
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
        looked: _Looked,
        recorded: Outcome,
        checked: Checked,
        pace: _Pace,
        *,
        threes: list[Candidate],
    ) -> None:
        """`threes`: those whose pairs need not be tried any more."""
        trace, found = looked
        _count(checked, found)
        results: list[Tried] = []
        with self._judge(trace) as judge:
            try:
                for instances in pace.each(found.groups):
                    checked.tried += 1
                    left = [each for each in instances if not _is_part(each, threes)]
                    if not left:
                        checked.parts += 1
                        continue
                    results.append(tried := judge.tried(left))
                    _count_quiet(checked, tried)
                    if tried.klass in LOUD:
                        _tell(checked, judge.told(tried))
                        threes += instances
            finally:
                checked.branches += judge.branches
                _sum_up(checked, judge, results)
            self._look_through_threads(judge, trace, checked, pace)
            self._let_others_take(judge, results, checked, pace)
            self._look_behind(judge, found, results, checked, pace)
            unknown = _unexplained(results, recorded)
            deeper = [(judge.kept(spec), how) for how, spec in list(unknown.items())[:_DEEPER]]
            if not unknown:
                self._blame_refuted(judge, results, checked, pace)
        for kept, how in deeper:
            self._look_deeper(kept, how, checked, pace)

    def _look_through_threads(
        self, judge: TreeJudge, trace: Traced, checked: Checked, pace: _Pace
    ) -> None:
        """What threads of one process may order or not: told where the other order came."""
        named = {_about(finding) for finding in checked.findings.values()}
        found = ordered_by_threads(trace, os.fspath(checked.recording))
        groups = [each for each in found.groups if _about(each[0].finding) not in named]
        self._try_if_had(judge, groups, checked, pace)

    def _let_others_take(
        self, judge: TreeJudge, results: list[Tried], checked: Checked, pace: _Pace
    ) -> None:
        """What another would have taken out of a pipe, but for a lock in memory.

        Where it comes to the same end by that, what it did may meet now with what the first does.
        """
        trace, evidence = judge.traced, os.fspath(checked.recording)
        known = {tried.candidate.finding.id for tried in results}
        found = taken_under_locks(trace, evidence, results)
        taken = self._try_if_had(judge, found.groups, checked, pace)
        before = judge.branches
        for spec in _had(taken)[:_TURNS]:
            self._look_at(spec, judge, known, checked, pace)
        checked.branches += judge.branches - before

    def _try_if_had(
        self,
        judge: TreeJudge,
        groups: Sequence[tuple[Candidate, ...]],
        checked: Checked,
        pace: _Pace,
    ) -> list[Tried]:
        """Of what may be in order it tells only where the other order came."""
        before = judge.branches
        checked.races += len(groups)
        results: list[Tried] = []
        for instances in pace.each(groups):
            checked.tried += 1
            results.append(tried := judge.tried(instances))
            if tried.klass in LOUD and tried.verdict.decisive.flipped:
                finding = judge.told(tried)
                if finding.klass in LOUD:
                    _add(checked, finding)
                    continue
            if tried.klass is Class.INCONCLUSIVE:
                _cover(checked, tried.verdict)
            _count_quiet(checked, tried)
        checked.branches += judge.branches - before
        return results

    def _look_behind(
        self,
        judge: TreeJudge,
        found: Candidates,
        results: list[Tried],
        checked: Checked,
        pace: _Pace,
    ) -> None:
        """Races that are not in this run: a wait hid them, or nobody came to where they are.

        A wait found a child that it could have found later: what that child did came before all
        that its parent did afterwards, in this run and by chance. Where the wait finds another one
        first, it may come at any time. And who finds in the other order what it did not find here
        may go another way: that it came to the same end says nothing of the calls on that way.
        """
        known = {instances[0].finding.id for instances in found.groups}
        before = judge.branches
        for wait in _other_children(results)[:_WAITS]:
            spec = Spec(wait.candidate.anchors, Arm.FLIP, 0)
            if not self._look_at(spec, judge, known, checked, pace):
                self._blame(wait, judge, checked, pace)
        for spec in _other_ways(results)[:_TURNS]:
            self._look_at(spec, judge, known, checked, pace)
        checked.branches += judge.branches - before

    def _let_live(self, looked: _Looked, checked: Checked, pace: _Pace) -> None:
        """Who was killed early made no calls that could race: a run in which it makes some.

        The older process goes first, so who is killed by the one that started it has done nothing.
        """
        if not is_killed(looked.trace):
            return
        known = {each[0].finding.id for each in looked.found.groups}
        for seed in _LATER:
            if monotonic() > pace.until:
                return
            self._boxes[0].reset()
            path, ran, _ = self._record(seed, None)
            other = traced(ran.log, self._launch.directory)
            if not _is_cut(ran.log) and self._try_those(path, other, known, checked, pace):
                return

    def _try_those(
        self, path: Path, trace: Traced, known: set[str], checked: Checked, pace: _Pace
    ) -> int:
        """Races of another run that are not known yet; how many there are."""
        groups = [
            instances
            for instances in _candidates(path, trace).groups
            if instances[0].finding.id not in known
        ]
        known |= {instances[0].finding.id for instances in groups}
        checked.races += len(groups)
        self._try_new(groups, trace, checked, pace)
        return len(groups)

    def _look_at(
        self, spec: Spec, judge: TreeJudge, known: set[str], checked: Checked, pace: _Pace
    ) -> bool:
        """Whether a branch has races that are not known, and one of them does harm."""
        if monotonic() > pace.until:
            return False
        told = len(checked.findings)
        with self._store.new() as slot:
            judge.record(spec, slot.path)
            with Recording.open(slot.path) as recording:
                trace = traced(Log.read(recording), self._launch.directory)
            self._try_those(slot.path, trace, known, checked, pace)
        return len(checked.findings) > told

    def _blame(self, wait: Tried, judge: TreeJudge, checked: Checked, pace: _Pace) -> None:
        """Nothing that came earlier or later by it does harm: then which child it finds may."""
        if checked.findings or monotonic() > pace.until:
            return
        tried = judge.tried([wait.candidate])
        if tried.klass in LOUD:
            _count_quiet(checked, wait, by=-1)
            _tell(checked, judge.told(tried))

    def _blame_refuted(
        self, judge: TreeJudge, results: list[Tried], checked: Checked, pace: _Pace
    ) -> None:
        """Nothing else does what they did: two that do the same harm refute each other.

        A race is not blamed for what comes in its better order too, as another one decides that.
        Where no other is told, both do, each by itself.
        """
        if any(finding.klass in LOUD for finding in checked.findings.values()):
            return
        for tried in filter(None, map(_unrefuted, results)):
            if monotonic() > pace.until:
                return
            finding = judge.told(tried)
            if finding.klass in LOUD:
                _count_quiet(checked, tried, by=-1)
                _tell(checked, finding)
                return

    def _try_new(
        self,
        groups: list[tuple[Candidate, ...]],
        trace: Traced,
        checked: Checked,
        pace: _Pace,
    ) -> None:
        with self._judge(trace) as judge:
            try:
                for instances in pace.each(groups):
                    checked.tried += 1
                    tried = judge.tried(instances)
                    _count_quiet(checked, tried)
                    if tried.klass in LOUD:
                        _tell(checked, judge.told(tried))
                    elif tried.klass is Class.INCONCLUSIVE:
                        _cover(checked, tried.verdict)
            finally:
                checked.branches += judge.branches

    def _look_deeper(self, path: Path, how: Way, checked: Checked, pace: _Pace) -> None:
        """A branch that fails, as a recorded run: the pair that mends it is the one to blame."""
        with Recording.open(path) as recording:
            trace = traced(Log.read(recording), self._launch.directory)
        with self._judge(trace) as judge:
            try:
                for instances in pace.each(_candidates(path, trace).groups):
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


def _is_cut(log: Log) -> bool:
    """Whether it would have gone on: another order would not end sooner."""
    return bool(log.ending.late) or bool(log.ending.endless and len(log.calls) >= _MOST)


def _tell_each(checked: Checked, found: Candidates) -> None:
    """Of each sort of race the first, where none is tried."""
    _count(checked, found)
    for candidate, *_ in found.groups[: found.clusters]:
        _add(checked, replace(candidate.finding, reason=f"not tried: {checked.untried}"))


def _count(checked: Checked, found: Candidates) -> None:
    checked.races, checked.clusters = len(found.groups), found.clusters
    checked.waits, checked.left_out = found.untried, found.left_out


def _is_part(candidate: Candidate, threes: list[Candidate]) -> bool:
    return any(candidate.is_part_of(three) for three in threes)


def _add(checked: Checked, finding: Finding) -> None:
    checked.findings.setdefault(finding.id, finding)


def _tell(checked: Checked, finding: Finding) -> None:
    """Of a race that was tried."""
    checked.unsure += finding.klass is Class.INCONCLUSIVE
    _add(checked, finding)


def _cover(checked: Checked, verdict: Verdict) -> None:
    checked.unsure += 1
    checked.covered.update(filter(None, [verdict.why]))


def _count_quiet(checked: Checked, tried: Tried, by: int = 1) -> None:
    """Of an order that could not be had nobody knows whether it matters."""
    if tried.klass is Class.K_WITNESS_HARMLESS:
        checked.quiet += by
    elif tried.klass is Class.SINGLE_ORDERING and (why := tried.verdict.why):
        checked.one_order[why] += by


def _sum_up(checked: Checked, judge: TreeJudge, results: list[Tried]) -> None:
    """What is not decided is told, unless it is about something that a finding names already."""
    told = list(checked.findings.values())
    named = {_about(finding) for finding in told}
    for tried in results:
        if tried.klass is Class.INCONCLUSIVE:
            finding = judge.told(tried)
            if _about(finding) in named or any(shares_with(finding, other) for other in told):
                _cover(checked, tried.verdict)
            else:
                _tell(checked, finding)


def _about(finding: Finding) -> frozenset[str]:
    return frozenset(operation.variable for operation in finding.operations)


def _unrefuted(tried: Tried) -> Tried | None:
    """With what its order did where that was refuted; None where nothing was."""
    trials = tuple(replace(trial, refuted=False) for trial in tried.verdict.trials)
    klass = max((trial.klass for trial in trials), key=lambda each: each.weight)
    if tried.klass not in QUIET or klass not in LOUD or trials == tried.verdict.trials:
        return None
    return replace(tried, verdict=replace(tried.verdict, klass=klass, trials=trials, why=None))


def _other_children(results: list[Tried]) -> list[Tried]:
    """Waits for any child, each of which finds another one, while the first goes on."""
    return [
        replace(tried, candidate=replace(tried.candidate, anchors=Unended(tried.candidate.anchors)))
        for tried in results
        if isinstance(tried.candidate.anchors, Choice)
    ]


def _had(taken: list[Tried]) -> list[Spec]:
    """Branches in which another took something, to the same end."""
    return [
        Spec(tried.candidate.anchors, Arm.FLIP, trial.continuation)
        for tried in taken
        for trial in tried.verdict.trials[:1]
        if tried.klass in QUIET and trial.flipped
    ]


def _other_ways(results: list[Tried]) -> list[Spec]:
    """Branches that do the same in the other order, with other calls."""
    found: dict[int, Spec] = {}
    for tried in results:
        for trial in tried.verdict.trials if isinstance(tried.candidate.anchors, Pair) else ():
            if tried.klass in QUIET and trial.flipped and trial.flip.steps != trial.control.steps:
                spec = Spec(tried.candidate.anchors, Arm.FLIP, trial.continuation)
                found.setdefault(trial.flip.steps, spec)
    return list(found.values())


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
