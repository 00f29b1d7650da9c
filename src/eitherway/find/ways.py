# SPDX-License-Identifier: Apache-2.0
"""Which schedules are tried, in which order: all of it follows from one seed and what it shows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from eitherway.worlds.threads.guide import UNGUIDED, Guidance
from eitherway.worlds.threads.policies import Turn


@dataclass(frozen=True, slots=True, order=True)
class Way:
    """What names a schedule of one program with one input."""

    scheduler: str
    seed: int
    guidance: Guidance = field(default=UNGUIDED, compare=False, repr=False)

    def __str__(self) -> str:
        """In words."""
        return f"{self.scheduler} seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Schedules of one policy with neighbouring seeds, which a fork server runs without a word."""

    scheduler: str
    seeds: range
    guidance: Guidance = field(default=UNGUIDED, compare=False, repr=False)

    def way(self, seed: int) -> Way:
        """One of them."""
        return Way(self.scheduler, seed, self.guidance)


def limited(turns: Iterable[Turn], schedules: int | None) -> Iterator[Turn]:
    """Up to so many schedules."""
    for turn in turns:
        if schedules is None:
            yield turn
            continue
        if schedules <= 0:
            return
        part = turn.seeds[:schedules]
        schedules -= len(part)
        yield replace(turn, seeds=part)
