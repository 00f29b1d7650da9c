# SPDX-License-Identifier: Apache-2.0
"""Both orders of two operations, each as a run that was kept: what is told of them side by side."""

from pathlib import Path
from typing import NamedTuple

from eitherway.explain.sentences import differing, order
from eitherway.judge.sentences import does
from eitherway.model.finding import FoundOperation, Ordered
from eitherway.model.outcome import Outcome
from eitherway.worlds.threads.run import Ran


class Kept(NamedTuple):
    """A run, what it did, and where it can be done again."""

    ran: Ran
    outcome: Outcome
    path: Path

    @property
    def replay(self) -> str:
        """The command."""
        return f"eitherway replay {self.path.name}"


def orders_of(
    pair: tuple[FoundOperation, FoundOperation], recorded: Kept, other: Kept
) -> tuple[Ordered, Ordered]:
    """The recorded order, then the other one."""
    first, second = pair
    outputs = differing(_written(recorded.ran), _written(other.ran))
    return (
        Ordered(order(first, second), does(recorded.outcome), outputs[0], recorded.replay),
        Ordered(order(second, first), does(other.outcome), outputs[1], other.replay),
    )


def _written(ran: Ran) -> bytes:
    return ran.out.beginning + ran.err.beginning
