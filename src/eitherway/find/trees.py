# SPDX-License-Identifier: Apache-2.0
"""`check` of a process tree: one recorded run, its races, and both orders of each.

The run is an ordered one: one call at a time, the older process first. So every check of the same
program on the same files finds the same.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from eitherway.closing import Closing
from eitherway.detect import detect_all
from eitherway.find.advice import Advice
from eitherway.findings.from_races import findings_of
from eitherway.judge.experiment import Verdict, judge, worst
from eitherway.judge.sentences import consequence, side
from eitherway.judge.trial import Trial
from eitherway.model.finding import Confidence, Finding, Source
from eitherway.model.outcome import Outcome
from eitherway.model.race import Race
from eitherway.model.words import OURS, Arm, Class
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind as Isolated
from eitherway.worlds.processes.branch import Branches, Spec
from eitherway.worlds.processes.cut import Anchors, Choice, Cuts, Pair
from eitherway.worlds.processes.run import Ran, run
from eitherway.worlds.processes.traced import Traced, traced
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.target import Sink

CONTINUATIONS = 2
INSTANCES = 4  # of one race that are tried
_LOUD = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)
_QUIET = (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)
_SHOWN = 3  # differences that a sentence names

Tell = Callable[[str], None]


@dataclass(slots=True)
class Checked:
    """What a check of a tree found, and what it looked at."""

    recording: Path
    calls: int
    processes: int
    operations: int
    isolation: str
    findings: dict[str, Finding] = field(default_factory=dict)
    races: int = 0  # distinct ones that could be tried
    tried: int = 0
    branches: int = 0
    quiet: int = 0  # those whose order does not matter as far as was seen
    waits: int = 0  # races of waits, which are not tried
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A race with the finding that it would be."""

    finding: Finding
    anchors: Anchors
    operations: tuple[int, ...]


class TreeSearch(Closing):
    """One command; its sandbox is made once."""

    def __init__(self, launch: Launch, store: Store) -> None:
        self._launch = launch
        self._store = store
        self._advice: Advice | None = None
        self._stack = ExitStack()
        require = [Isolated.FILES, Isolated.PROCESSES]
        self._box = self._stack.enter_context(Sandbox(require=require, work=[launch.directory]))

    def check(self, seconds: float, tell: Tell, show: tuple[Sink, Sink] | None = None) -> Checked:
        """Record, then try races until the time is over."""
        path, ran = self._record(show)
        trace = traced(ran.log, self._launch.directory)
        races = detect_all(trace.trace)
        checked = Checked(
            path,
            calls=len(ran.log.calls),
            processes=sum(life.is_process for life in trace.tree.lives.values()),
            operations=len(trace.trace),
            isolation=str(self._box.isolation),
        )
        try:
            self._try_all(trace, list(races), checked, monotonic() + seconds, tell)
        except KeyboardInterrupt:
            checked.interrupted = True
        return checked

    def _record(self, show: tuple[Sink, Sink] | None) -> tuple[Path, Ran]:
        with self._store.new() as slot:
            ran = run(self._launch, self._box, slot.path, seed=0, show=show)
            self._store.publish(slot.path)
            return slot.path, ran

    def _try_all(
        self, trace: Traced, races: list[Race], checked: Checked, until: float, tell: Tell
    ) -> None:
        found = list(_candidates(trace, races, os.fspath(checked.recording)))
        checked.waits = len(races) - len(found)
        candidates = _grouped(found)
        checked.races = len(candidates)
        self._advice = Advice(self._launch, trace, self._box)
        with Branches(self._launch, trace, self._box) as branches:
            for number, instances in enumerate(candidates.values(), 1):
                if monotonic() > until:
                    return
                tell(f"trying race {number} of {len(candidates)}: {_title(instances[0].finding)}")
                self._try(branches, instances, checked)

    def _try(self, branches: Branches, instances: list[_Candidate], checked: Checked) -> None:
        checked.tried += 1
        shown: list[tuple[_Candidate, Verdict]] = []
        for candidate in instances[:INSTANCES]:
            shown.append((candidate, _experiment(branches, candidate.anchors, checked)))
            if shown[-1][1].klass in _LOUD:
                break
        verdict = worst(verdict for _, verdict in shown)
        candidate, own = next(pair for pair in shown if pair[1].klass is verdict.klass)
        if verdict.klass in _QUIET:
            checked.quiet += 1
            return
        finding = self._told(branches, candidate, replace(verdict, trials=own.trials))
        checked.findings[finding.id] = finding

    def _told(self, branches: Branches, candidate: _Candidate, verdict: Verdict) -> Finding:
        relaxed = any(spec.anchors == candidate.anchors for spec in branches.relaxed)
        finding = replace(
            candidate.finding,
            klass=verdict.klass,
            reason=verdict.reason,
            consequence=consequence(verdict, candidate.finding.operations, _other(candidate)),
            confidence=Confidence(
                paths=1,
                schedules=verdict.witnesses,
                arms=verdict.arms,
                isolation=str(self._box.isolation),
                matching="relaxed" if relaxed else "strict",
            ),
        )
        return self._with_evidence(branches, candidate, verdict, finding)

    def _with_evidence(
        self, branches: Branches, candidate: _Candidate, verdict: Verdict, finding: Finding
    ) -> Finding:
        if verdict.klass not in _LOUD:
            return finding
        trial = verdict.decisive
        with self._store.new() as slot:
            spec = Spec(candidate.anchors, Arm.FLIP, trial.continuation)
            branches.recorded(spec, slot.path)
            self._store.publish(slot.path)
        return replace(
            finding,
            evidence=os.fspath(slot.path),
            replay=f"eitherway replay {slot.path.name}",
            explanation=(
                *finding.explanation,
                *differences(trial),
                *self._advised(candidate, trial),
            ),
        )

    def _advised(self, candidate: _Candidate, trial: Trial) -> Iterator[str]:
        if isinstance(candidate.anchors, Pair) and self._advice:
            swapped = trial.control.fails and not trial.flip.fails
            yield from self._advice.on(candidate.anchors, candidate.operations, swapped=swapped)

    def close(self) -> None:
        """End what is held ready."""
        self._stack.close()


def _distance(race: Race) -> int:
    """Nearer calls are more likely to come the other way round."""
    return race.operations[-1] - race.operations[0]


def _candidates(trace: Traced, races: list[Race], evidence: str) -> Iterator[_Candidate]:
    """The races that can be tried, the nearest first."""
    cuts = Cuts(trace)
    tried = [(race, cuts.anchors(race)) for race in sorted(races, key=_distance)]
    chosen = [(race, anchors) for race, anchors in tried if anchors is not None]
    found = findings_of(
        trace.trace,
        [race for race, _ in chosen],
        source=Source(OURS),
        evidence=evidence,
        describe=trace.describe,
    )
    for (race, anchors), finding in zip(chosen, found, strict=True):
        yield _Candidate(finding, anchors, race.operations)


def _grouped(candidates: Iterable[_Candidate]) -> Mapping[str, list[_Candidate]]:
    """By id, the nearest first; two calls that meet in several ways are tried once."""
    groups: dict[str, list[_Candidate]] = {}
    known: set[Anchors] = set()
    for candidate in candidates:
        if candidate.anchors not in known:
            known.add(candidate.anchors)
            groups.setdefault(candidate.finding.id, []).append(candidate)
    return groups


def _other(candidate: _Candidate) -> str:
    """The order that was not recorded, where it is not two that change places."""
    if not isinstance(candidate.anchors, Choice):
        return ""
    waits = [op for op in candidate.finding.operations if op.op.startswith("wait")]
    return f"When the {side(waits[0])} finds process {candidate.anchors.instead} first"


def _experiment(branches: Branches, anchors: Anchors, checked: Checked) -> Verdict:
    def branch(arm: Arm, continuation: int) -> Outcome:
        checked.branches += 1
        return branches.branch(Spec(anchors, arm, continuation))

    return judge(branch, CONTINUATIONS)


def differences(trial: Trial) -> Iterator[str]:
    """What the other order leaves that the recorded one does not, in sentences."""
    flip, control = trial.flip.output, trial.control.output
    names = sorted(
        (name for name in {*flip, *control} if flip.get(name) != control.get(name)),
        key=lambda name: (name.startswith("file "), name),
    )
    for name in names[:_SHOWN]:
        yield (
            f"In the recorded order {_ends(name, control.get(name))}; in the other order "
            f"{_ends(name, flip.get(name))}."
        )
    if len(names) > _SHOWN:
        yield f"{len(names) - _SHOWN} more files or outputs differ."


def _ends(name: str, value: str | None) -> str:
    if value is None:
        return f"{name} is not there"
    text = value.partition(" ")[2] if name.startswith("file ") else value
    return f"{name} is {text}" if text.startswith(("'", '"')) else f"{name} is another"


def _title(finding: Finding) -> str:
    return finding.operations[0].touched
