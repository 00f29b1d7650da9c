# SPDX-License-Identifier: Apache-2.0
"""The decisions of a run with what else could have been chosen: the runs that are still to be done.

A run follows the choices that it is given, and from there on the usual ones. So each decision
behind them shows others that nobody has come to yet, and none of these is shown twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import NamedTuple

from eitherway.errors import Unavailable
from eitherway.recording.layout import GUIDE_DECISION
from eitherway.worlds.threads.schedule import SwitchKind

TIME_PASSES = 0xFFFFFFFF  # a choice: nobody goes on until something is due
MOST = 1_000_000  # runs with more preemptions that are kept in mind


class Decision(NamedTuple):
    """One decision: the choices, the usual one first, and which was taken."""

    what: SwitchKind  # THREAD or WAITER
    choices: tuple[int, ...]
    chosen: int
    free: bool  # no choice takes the turn from a thread that would go on

    def cost(self, choice: int) -> int:
        """1 when it takes the turn from somebody who could go on: a preemption."""
        if choice == TIME_PASSES:
            return 1
        return 0 if self.free or choice == self.choices[0] else 1


def read(noted: bytes) -> tuple[Decision, ...]:
    """As the runtime noted them."""
    return tuple(_read(noted))


def _read(noted: bytes) -> Iterator[Decision]:
    at = 0
    while at < len(noted):
        kind, free, time, _, count, chosen, usual = GUIDE_DECISION.unpack_from(noted, at)
        at += GUIDE_DECISION.size
        choices = list(range(count))
        if kind == SwitchKind.THREAD:
            choices = sorted(Struct(f"<{count}I").unpack_from(noted, at))
            at += 4 * count
        choices.remove(usual)
        late = (TIME_PASSES,) if time else ()
        yield Decision(SwitchKind(kind), (usual, *choices, *late), chosen, bool(free))


@dataclass(frozen=True, slots=True)
class Branch:
    """A run that is still to be done: as an earlier one up to a decision, and there otherwise."""

    preemptions: int = 0
    chosen: tuple[int, ...] = ()  # by the earlier one, to its end
    at: int = 0
    choice: tuple[int, ...] = ()  # none for the very first run
    course: int = 0  # hash of all that could be chosen up to there

    @property
    def prefix(self) -> tuple[int, ...]:
        """What the run is given."""
        return self.chosen[: self.at] + self.choice


class Frontier:
    """The runs that are still to be done, those with the fewest preemptions first."""

    def __init__(self, most: int = MOST) -> None:
        self._open: list[list[Branch]] = [[Branch()]]  # by preemptions
        self._most = most
        self._count = 1
        self._lost: int | None = None  # the fewest preemptions of those that had no room

    def take(self, bound: int) -> Branch | None:
        """The next with at most so many preemptions."""
        for branches in self._open[: bound + 1]:
            if branches:
                self._count -= 1
                return branches.pop()
        return None

    def has_more(self, bound: int) -> bool:
        """Whether there are runs with more preemptions."""
        return self._lost is not None or any(self._open[bound + 1 :])

    def lacks(self, bound: int) -> bool:
        """Whether some with at most so many had no room."""
        return self._lost is not None and self._lost <= bound

    def add(self, branch: Branch, decisions: Sequence[Decision]) -> None:
        """What a run that began with the branch has shown.

        Raises Unavailable when it did not come where the branch was seen.
        """
        chosen = tuple(decision.chosen for decision in decisions)
        known, course = len(branch.prefix), 0
        if chosen[:known] != branch.prefix:
            raise does_not_repeat()
        for at, decision in enumerate(decisions):
            course = hash((course, decision.choices, decision.free))
            if at == known - 1 and course != branch.course:
                raise does_not_repeat()
            for choice in decision.choices[1:] if at >= known else ():
                cost = branch.preemptions + decision.cost(choice)
                self._keep(branch, Branch(cost, chosen, at, (choice,), course))

    def _keep(self, base: Branch, branch: Branch) -> None:
        if self._count >= self._most and branch.preemptions > base.preemptions:
            self._lost = min(branch.preemptions, self._lost or branch.preemptions)
            return
        while len(self._open) <= branch.preemptions:
            self._open.append([])
        self._open[branch.preemptions].append(branch)
        self._count += 1


def does_not_repeat() -> Unavailable:
    """Its runs follow no choices."""
    return Unavailable(
        "the program does not repeat: what it does depends on something that is not controlled, so"
        " its schedules cannot be counted"
    )
