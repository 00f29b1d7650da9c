# SPDX-License-Identifier: Apache-2.0
"""Judges kept findings, each from the recording that shows it; branches that show more are kept."""

from contextlib import ExitStack
from pathlib import Path

from eitherway.closing import Closing
from eitherway.errors import BadInput
from eitherway.find.judged import Judge
from eitherway.find.known import Known
from eitherway.model.finding import Finding
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, is_made_here, load, save
from eitherway.worlds.threads.run import Ran


class Judging(Closing):
    """One program is held ready at a time: findings of one come together."""

    def __init__(self, store: Store, *, plan: Plan, fixed: bool, continuations: int) -> None:
        """`fixed`: addresses are the same in every run."""
        self._store = store
        self._plan = plan
        self._fixed = fixed
        self._continuations = continuations
        self._stack = ExitStack()
        self._ready: tuple[Launch, Judge] | None = None

    def judged(self, finding: Finding) -> Finding:
        """The finding with its class. Raises a Problem when its run cannot be done again."""
        recorded = _recorded(finding)
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
        box = self._stack.enter_context(Sandbox(require=(), work=[launch.directory]))
        explorer = self._stack.enter_context(Explorer(launch, box, plan=self._plan))
        return Judge(
            explorer,
            fixed=self._fixed,
            isolation=str(box.isolation),
            places=Known(launch, self._store).places,
            continuations=self._continuations,
        )

    def close(self) -> None:
        """End what is held ready."""
        self._stack.close()


def _recorded(finding: Finding) -> Recorded:
    """To judge is to start what a recording names: only one that was made in this place."""
    if not finding.evidence:
        raise BadInput("no recording shows it", fix="eitherway check -- ./program ARGS")
    with Recording.open(finding.evidence) as recording:
        if not is_made_here(recording):
            raise BadInput(
                f"{recording.path} was not made in that place, and to judge is to start what it "
                "names",
                fix="eitherway check -- ./program ARGS",
            )
        return load(recording)
