# SPDX-License-Identifier: Apache-2.0
"""Judges kept findings, each from the recording that shows it; branches that show more are kept."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from eitherway.closing import Closing
from eitherway.errors import BadInput, Problem, Unavailable
from eitherway.find.clock import OutOfTime, alarm
from eitherway.find.judged import NOT_SHOWN, Judge
from eitherway.find.known import Known
from eitherway.find.specification import ANYTHING, Specification
from eitherway.find.tree_kept import TreeJudging
from eitherway.find.tree_rules import Rules
from eitherway.model.finding import Finding
from eitherway.model.words import Class, Kind, World
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.sandbox.confined import confined
from eitherway.worlds.processes.recorded import is_tree
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, is_made_here, load, save
from eitherway.worlds.threads.run import Ran


class Judging(Closing):
    """One program and one recording are held ready: findings of one should come together."""

    def __init__(
        self,
        store: Store,
        *,
        plan: Plan,
        fixed: bool,
        continuations: int,
        jobs: int = 1,
        specification: Specification = ANYTHING,
        rules: Rules | None = None,
    ) -> None:
        """`fixed`: addresses are the same in every run; `jobs` branches run at a time.

        `rules` are for trees of processes.
        """
        self._store = store
        self._plan = plan
        self._fixed = fixed
        self._continuations = continuations
        self._jobs = jobs
        self._specification = specification
        self._trees = TreeJudging(store, rules or Rules(specification), continuations, jobs)
        self._stack = ExitStack()
        self._ready: tuple[Launch, Judge] | None = None
        self._recorded: tuple[str, Recorded] | None = None

    def judged(self, finding: Finding) -> Finding:
        """The finding with its class. Raises a Problem when its run cannot be done again.

        In what shows the worse order of one that was judged before, a thread may come too late for
        its access: then both are in the other one.
        """
        if finding.world is World.PROCESSES:
            return self._trees.judged(finding)
        told = self._judged_by(finding, finding)
        if told.reason != NOT_SHOWN or not finding.orders:
            return told
        name = finding.orders[-1].replay.split()[-1]
        return self._judged_by(finding, replace(finding, evidence=str(self._store.find(name))))

    def _judged_by(self, finding: Finding, shown: Finding) -> Finding:
        if self._recorded is None or self._recorded[0] != shown.evidence:
            self._recorded = shown.evidence, recorded_of(shown)
        recorded = self._recorded[1]
        judge = self._judge_of(recorded.launch)

        def keep(ran: Ran) -> Path:
            return save(Recorded(recorded.launch, ran), self._store)

        return judge.judged(finding, recorded.ran, keep)

    def _judge_of(self, launch: Launch) -> Judge:
        if self._ready is None or self._ready[0] != launch:
            self._stack.close()
            self._ready = launch, self._made(launch)
        return self._ready[1]

    def _made(self, launch: Launch) -> Judge:
        enter = self._stack.enter_context
        boxes = [enter(confined(work=[launch.directory])) for _ in range(self._jobs)]
        explorers = [enter(Explorer(launch, box, plan=self._plan)) for box in boxes]
        judge = Judge(
            explorers,
            fixed=self._fixed,
            isolation=str(boxes[0].isolation),
            places=Known(launch, self._store).places,
            continuations=self._continuations,
            specification=replace(
                self._specification, directory=launch.directory, environment=launch.environment
            ),
        )
        return enter(judge)

    def close(self) -> None:
        """End what is held ready."""
        self._stack.close()


def is_open(finding: Finding) -> bool:
    """Whether it can be judged, and was not."""
    can_be = finding.kind is Kind.DATA_RACE or finding.world is World.PROCESSES
    return can_be and finding.klass is Class.UNJUDGED


class Judged(NamedTuple):
    """Those that could be, and notes; what interrupted it, if anything did."""

    findings: list[Finding]
    notes: list[str]
    interrupted: KeyboardInterrupt | None = None


def judge_all(
    judging: Judging,
    findings: Sequence[Finding],
    tell: Callable[[str], None],
    seconds: float | None = None,
    keep: Callable[[Finding], object] = lambda _: None,
) -> Judged:
    """One after the other, each kept when it is judged; after so many seconds no other is begun.

    The one that is under way then has as many seconds more.
    """
    judged: list[Finding] = []
    notes: list[str] = []
    interrupted = None
    try:
        with suppress(OutOfTime), alarm(2 * seconds) if seconds else nullcontext():
            for one in _judged_each(judging, findings, tell, seconds, notes):
                judged.append(one)
                keep(one)
    except KeyboardInterrupt as interrupt:
        interrupted = interrupt
    if left := len(findings) - len(judged) - len(notes):
        when = "before it was interrupted" if interrupted else "in the time that there was"
        notes.append(f"{left} were not judged {when}: eitherway judge")
    told = [f"{len(judged)} of {len(findings)} findings were judged", *notes]
    return Judged(judged, told, interrupted)


def _judged_each(
    judging: Judging,
    findings: Sequence[Finding],
    tell: Callable[[str], None],
    seconds: float | None,
    notes: list[str],
) -> Iterator[Finding]:
    """`notes` are told of each that cannot be."""
    until = None if seconds is None else monotonic() + seconds
    for number, finding in enumerate(findings, 1):
        if until is not None and monotonic() > until:
            return
        tell(f"judging {number} of {len(findings)}: {finding.id}")
        try:
            one = judging.judged(finding)
        except Problem as problem:
            notes.append(f"{finding.id} is not judged: {problem.message}")
        else:
            yield one


def recorded_of(finding: Finding) -> Recorded:
    """The run that shows it."""
    if not finding.evidence:
        raise BadInput("no recording shows it", fix="eitherway check -- ./program ARGS")
    return recorded_at(finding.evidence)


def recorded_at(path: str | os.PathLike[str]) -> Recorded:
    """To judge is to start what a recording names: only one that was made in this place."""
    with Recording.open(path) as recording:
        if is_tree(recording):
            raise Unavailable(
                "a recording of processes is explained by the findings that it shows",
                instead="eitherway explain ID",
            )
        if not is_made_here(recording):
            raise BadInput(
                f"{recording.path} was not made in that place, and to judge is to start what it "
                "names",
                fix="eitherway check -- ./program ARGS",
            )
        return load(recording)
