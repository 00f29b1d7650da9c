# SPDX-License-Identifier: Apache-2.0
"""The decisions of a run with what else could have been chosen, and the next run of a search.

The search is depth-first and keeps nothing but the last run: at each decision the choices are tried
in one order, the usual one first, so what was chosen says what was tried before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from eitherway.recording.layout import GUIDE_DECISION

TIME_PASSES = 0xFFFFFFFF  # a choice: nobody goes on until something is due


class What(IntEnum):
    """What was decided; numbers of native/runtime/schedule.h."""

    THREAD = 0
    WAITER = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision: the choices in the order in which they are tried, and which was taken."""

    what: What
    choices: tuple[int, ...]
    chosen: int
    free: bool  # no choice takes the turn from a thread that would go on

    def cost(self, choice: int) -> int:
        """1 when it takes the turn from somebody who could go on: a preemption."""
        if choice == TIME_PASSES:
            return 1
        return 0 if self.free or choice == self.choices[0] else 1

    def untried(self) -> tuple[int, ...]:
        """Choices that come after the one that was taken."""
        return self.choices[self.choices.index(self.chosen) + 1 :]


def read(noted: bytes) -> tuple[Decision, ...]:
    """As the runtime noted them."""
    return tuple(_read(noted))


def _read(noted: bytes) -> Iterator[Decision]:
    at = 0
    while at < len(noted):
        kind, free, time, _, count, chosen, usual = GUIDE_DECISION.unpack_from(noted, at)
        at += GUIDE_DECISION.size
        choices = list(range(count))
        if kind == What.THREAD:
            choices = sorted(np.frombuffer(noted, "<u4", count, at).tolist())
            at += 4 * count
        choices.remove(usual)
        late = (TIME_PASSES,) if time else ()
        yield Decision(What(kind), (usual, *choices, *late), chosen, bool(free))


def preemptions(decisions: Sequence[Decision]) -> int:
    """How often the turn was taken from a thread that could go on."""
    return sum(decision.cost(decision.chosen) for decision in decisions)


def following(decisions: Sequence[Decision], bound: int) -> tuple[int, ...] | None:
    """The choices that the next run begins with; None when all were tried within the bound."""
    spent = preemptions(decisions)
    for at in range(len(decisions) - 1, -1, -1):
        decision = decisions[at]
        spent -= decision.cost(decision.chosen)
        for choice in decision.untried():
            if spent + decision.cost(choice) <= bound:
                return (*(earlier.chosen for earlier in decisions[:at]), choice)
    return None


def has_others(decisions: Sequence[Decision], bound: int) -> bool:
    """Whether there was a choice that the bound does not allow."""
    spent = 0
    for decision in decisions:
        if spent + max(map(decision.cost, decision.choices)) > bound:
            return True
        spent += decision.cost(decision.chosen)
    return False
