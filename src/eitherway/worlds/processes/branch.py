# SPDX-License-Identifier: Apache-2.0
"""Branches of a recorded run: what is tried in either order, then live."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

from eitherway.closing import Closing
from eitherway.model.outcome import Outcome
from eitherway.model.words import Arm
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.scratch import Scratch
from eitherway.worlds.processes.cut import Anchors, Cuts
from eitherway.worlds.processes.outcome import outcome_of
from eitherway.worlds.processes.plan import Plans, Turns
from eitherway.worlds.processes.run import PATIENCE, Follow, Limits, Ran, run
from eitherway.worlds.processes.traced import Traced
from eitherway.worlds.threads.launch import Launch

_MANY, _LONGER = 1 << 16, 2  # calls of a branch at most: so many, and so many times its run's
_KNOWN = 256  # outcomes that are kept


@dataclass(frozen=True, slots=True)
class Spec:
    """Which order of which calls, and how it goes on."""

    anchors: Anchors
    arm: Arm
    continuation: int


Look = Callable[[Ran, Sandbox], Outcome]


class Branches(Closing):
    """Of one run; each starts from the files as they are outside. Several may run at a time."""

    def __init__(
        self,
        launch: Launch,
        traced: Traced,
        look: Look = outcome_of,
        *,
        timeout: float | None = None,
    ) -> None:
        """One that takes so many seconds, or makes far more calls than the run did, is ended."""
        self._launch = launch
        self._traced = traced
        self._look = look
        self._cuts = Cuts(traced)
        self._plans = Plans(traced.log)
        self._limits = Limits(PATIENCE, _MANY + _LONGER * len(traced.log.calls), timeout)
        self._scratch = Scratch()
        self.relaxed: set[Spec] = set()  # those that could not be followed call by call
        self.ran = 0
        self._known: dict[tuple[Turns, int], Outcome] = {}
        self._counting = Lock()

    def known(self, spec: Spec, box: Sandbox) -> Outcome:
        """The same as `branch`; what two races ask for and can be followed is run once."""
        turns = self._cuts.turns(spec.anchors, spec.arm)
        asked = replace(turns, calls=tuple(turns.calls), anchors=()), spec.continuation
        if (known := self._known.get(asked)) is not None:
            return known
        outcome = self.branch(spec, box)
        if spec not in self.relaxed and len(self._known) < _KNOWN:
            self._known[asked] = outcome
        return outcome

    def branch(self, spec: Spec, box: Sandbox) -> Outcome:
        """What it did; its recording is forgotten."""
        into = self._scratch.new()
        try:
            return self._looked_at(spec, box, into, brief=True)
        finally:
            shutil.rmtree(into, ignore_errors=True)

    def recorded(self, spec: Spec, box: Sandbox, into: Path) -> Outcome:
        """The same; its recording is in `into`."""
        return self._looked_at(spec, box, into, brief=False)

    def _looked_at(self, spec: Spec, box: Sandbox, into: Path, *, brief: bool) -> Outcome:
        ran = self._run(spec, box, into, brief=brief)
        if ran.log.ending.left_plan:
            self.relaxed.add(spec)
        return self._look(ran, box)

    def _run(self, spec: Spec, box: Sandbox, into: Path, *, brief: bool) -> Ran:
        turns = self._cuts.turns(spec.anchors, spec.arm)
        with self._counting:
            self.ran += 1
        box.reset()
        return run(
            self._launch,
            box,
            into,
            seed=spec.continuation,
            follow=Follow(self._plans, turns, brief),
            limits=self._limits,
        )

    def close(self) -> None:
        """Forget what is left of them."""
        self._scratch.close()
