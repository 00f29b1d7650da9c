# SPDX-License-Identifier: Apache-2.0
"""Small differences of large figures: from many pairs of runs, and with an interval.

The median of the differences of pairs, and the middle 95 % of the medians of as many that are drawn
from them again and again (bootstrap). Whoever is on the machine too makes the interval wide, and
not the figure wrong, as long as both runs of a pair meet him alike: they follow each other, and
each is as often the first as the other. One interval of twenty does not hold what it should.
"""

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

DRAWN = 1000
OUTSIDE = 0.025  # of them, on each side

Run = TypeVar("Run")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and between which two it lies."""

    value: float
    low: float
    high: float

    def told(self, bar: float | None = None) -> str:
        """Bold when all of it is over the bar, with a question mark when the bar lies in it."""
        text = f"{self.value:,.0f} [{self.low:,.0f}, {self.high:,.0f}]"
        if bar is None or self.high <= bar:
            return text
        return f"**{text}**" if self.low > bar else f"{text} ?"


def estimate(figures: Sequence[float]) -> Estimate:
    """Their median; the same figures give the same interval."""
    drawn = random.Random(len(figures))  # noqa: S311  no secret
    medians = sorted(
        statistics.median(drawn.choices(figures, k=len(figures))) for _ in range(DRAWN)
    )
    outside = int(DRAWN * OUTSIDE)
    return Estimate(statistics.median(figures), medians[outside], medians[-1 - outside])


def in_turn(arms: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, list[Run]]:
    """What each gave in each round: in an order that is drawn, and the next time from its end."""
    drawn = random.Random(rounds)  # noqa: S311  no secret
    found: dict[str, list[Run]] = {name: [] for name in arms}
    order: list[str] = []
    for number in range(rounds):
        order = order[::-1] if number % 2 else drawn.sample(list(arms), len(arms))
        for name in order:
            found[name].append(arms[name]())
    return found
