# SPDX-License-Identifier: Apache-2.0
"""Judges kept findings of process trees again, each from the recording that shows it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from eitherway.detect import detect_all
from eitherway.errors import BadInput
from eitherway.find.tree_judge import TreeJudge
from eitherway.find.tree_races import Candidate, candidates_of, not_tried
from eitherway.find.tree_rules import Rules
from eitherway.find.tree_takers import taken_under_locks
from eitherway.find.tree_threads import ordered_by_threads
from eitherway.model.finding import Finding
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.processes.apart import apart
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.recorded import launch_of
from eitherway.worlds.processes.traced import traced


@dataclass(frozen=True, slots=True)
class TreeJudging:
    """How: `jobs` branches at a time."""

    store: Store
    rules: Rules
    continuations: int
    jobs: int = 1

    def judged(self, finding: Finding) -> Finding:
        """The finding with its class. Raises a Problem when its run cannot be done again."""
        with self._judge(finding) as (judge, instances):
            told = judge.told(judge.tried(instances))
        return replace(told, seen=finding.seen, sources=finding.sources)

    @contextmanager
    def _judge(self, finding: Finding) -> Iterator[tuple[TreeJudge, tuple[Candidate, ...]]]:
        if not finding.evidence:
            raise BadInput("no recording shows it", fix="eitherway check -- CMD ARGS")
        with Recording.open(Path(finding.evidence)) as recording, ExitStack() as stack:
            launch, log = launch_of(recording), Log.read(recording)
            trace = traced(log, launch.directory)
            races = detect_all(trace.trace)
            groups = (
                *candidates_of(trace, races, finding.evidence).groups,
                *ordered_by_threads(trace, finding.evidence).groups,
                *taken_under_locks(trace, finding.evidence).groups,
            )
            instances = next((each for each in groups if each[0].finding.id == finding.id), ())
            if not instances:
                why = not_tried(trace, races, finding.id) or f"{recording.path} does not show it"
                raise BadInput(why, fix="eitherway check")
            boxes = [stack.enter_context(apart(launch)) for _ in range(self.jobs)]
            judge = TreeJudge(
                launch,
                trace,
                boxes,
                self.store,
                rules=self.rules,
                continuations=self.continuations,
            )
            yield stack.enter_context(judge), instances
