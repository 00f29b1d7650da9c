# SPDX-License-Identifier: Apache-2.0
"""Which schedules are tried, in which order: all of it follows from one seed and what it shows."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from eitherway.recording.token import Token
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


_NAMED = frozenset({"random-walk", "round-robin", "pct", "pos"})
_PLACES = 32  # more make a token too long to be copied by hand


def token_of(way: Way, build: str) -> Token | None:
    """What names the schedule for others; None when it needs more than one word.

    What `surw` expects of threads, and the choices of `depth-first`, are in a recording alone; so
    is what was done again.
    """
    guidance = way.guidance
    if way.scheduler not in _NAMED or len(guidance.places) > _PLACES:
        return None
    return Token(build, way.scheduler, way.seed, guidance.tuning, guidance.places.name)


def limited(
    turns: Iterable[Turn], schedules: int | None, unused: Callable[[], int] = lambda: 0
) -> Iterator[Turn]:
    """Up to so many schedules; those that were handed out in vain can be had again."""
    for turn in turns:
        if schedules is None:
            yield turn
            continue
        schedules += unused()
        if schedules <= 0:
            return
        part = turn.seeds[:schedules]
        schedules -= len(part)
        yield replace(turn, seeds=part)
