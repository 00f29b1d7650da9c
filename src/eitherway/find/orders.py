# SPDX-License-Identifier: Apache-2.0
"""Both orders of two operations, each as a run that was kept: what is told of them side by side."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from eitherway.explain.sentences import differing, order
from eitherway.judge.sentences import does, held_before, held_behind
from eitherway.model.finding import FoundOperation, Ordered
from eitherway.model.outcome import Outcome
from eitherway.worlds.threads.captured import Captured, apart
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
    pair: tuple[FoundOperation, FoundOperation], recorded: Kept, other: Kept, *, came: bool = True
) -> tuple[Ordered, Ordered]:
    """The recorded order, then the other one; where that never `came`, what was done to have it."""
    first, second = pair
    words = order(first, second), order(second, first)
    if not came:
        words = held_behind(first), held_before(first)
    outputs = differing(_written(recorded.ran), _written(other.ran))
    return (
        Ordered(words[0], does(recorded.outcome), outputs[0], recorded.replay),
        Ordered(words[1], does(other.outcome), outputs[1], other.replay),
    )


def _written(ran: Ran) -> bytes:
    return b"".join(stream.later or stream.beginning for stream in (ran.out, ran.err))


Run = Callable[[tuple[int, int]], Ran]  # from where on a later part of its outputs is kept, too


def seen_apart(run: Run, run_other: Run) -> tuple[Ran, Ran]:
    """Two runs, with the part of their outputs in which they begin to differ."""
    one, other = run((0, 0)), run_other((0, 0))
    places = [apart(*pair) for pair in _streams(one, other).values() if pair[0] != pair[1]]
    if all(place.lines for place in places):
        return one, other
    kept_from = _known_same(one.out, other.out), _known_same(one.err, other.err)
    return run(kept_from), run_other(kept_from)


def _streams(one: Ran, other: Ran) -> dict[str, tuple[Captured, Captured]]:
    return {"Standard output": (one.out, other.out), "Standard error": (one.err, other.err)}


def _known_same(one: Captured, other: Captured) -> int:
    return 0 if one == other or (there := apart(one, other)).lines else there.byte


def first_differences(recorded: Ran, other: Ran) -> Iterator[str]:
    """Where what they write begins to differ, in sentences."""
    for name, (one, another) in _streams(recorded, other).items():
        if one != another:
            told = apart(one, another).told("in the recorded order", "in the other order")
            yield f"{name} {told}."
