# SPDX-License-Identifier: Apache-2.0
"""What a tree of processes must do, beside not to fail: held against what each branch leaves."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from eitherway.find.specification import ANYTHING, Specification
from eitherway.model.outcome import Outcome
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.outcome import outcome_of
from eitherway.worlds.processes.run import Ran
from eitherway.worlds.threads.launch import Launch


@dataclass(frozen=True, slots=True)
class Rules:
    """`same`: files, by path, that every order must leave as the recorded run did."""

    specification: Specification = ANYTHING
    same: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)  # by that run, of those
    refused: bool = False  # something, to that run, by the sandbox alone

    @property
    def ask(self) -> bool:
        """Whether a branch is to be held against anything."""
        told = self.specification
        return bool(self.same or told.checker or told.expected is not None)

    def after(self, recorded: Outcome) -> "Rules":
        """The same, when it is known what the recorded run left."""
        left = {path: _left(recorded, path) for path in self.same}
        return replace(self, left=left, refused=recorded.refused)

    def nowhere(self, recorded: Outcome) -> tuple[str, ...]:
        """Of the files that are to be the same, those that there never were: names mistyped."""
        return tuple(
            f"nothing lies at {path}, before it nor after"
            for path in self.same
            if not os.path.lexists(path) and _left(recorded, path) == _NOTHING
        )

    def outcome(self, ran: Ran, box: Sandbox, launch: Launch) -> Outcome:
        """What a run did, by this; its files still lie in its sandbox."""
        outcome = outcome_of(ran, box, self.specification.kept)
        start = partial(box.popen, cwd=launch.directory, env=dict(launch.environment))
        complaints = (*outcome.complaints, *self.specification.complaints(ran.out, start))
        others = (path for path, before in self.left.items() if _left(outcome, path) != before)
        changed = tuple(f"{path} is not what the recorded run left" for path in others)
        refused = outcome.refused and not self.refused
        return replace(outcome, complaints=(*complaints, *changed), refused=refused)


_NOTHING = repr([])


def _left(outcome: Outcome, path: str) -> str:
    """What lies there, and in it if it is a directory; nothing when it is as before."""
    found = {
        name: content
        for name, content in outcome.output.items()
        if name == f"file {path}" or name.startswith(f"file {path}/")
    }
    return repr(sorted(found.items()))
