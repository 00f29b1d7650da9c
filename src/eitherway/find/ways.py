# SPDX-License-Identifier: Apache-2.0
"""Which schedules are tried, in which order: all of it follows from one seed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Way:
    """What names a schedule of one program with one input."""

    scheduler: str
    seed: int

    def __str__(self) -> str:
        """In words."""
        return f"{self.scheduler} seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Schedules of one policy with neighbouring seeds, which a fork server runs without a word."""

    scheduler: str
    seeds: range

    def way(self, seed: int) -> Way:
        """One of them."""
        return Way(self.scheduler, seed)


MIX = ("random-walk",)


def limited(batches: Iterable[Batch], schedules: int | None) -> Iterator[Batch]:
    """Up to so many schedules."""
    for batch in batches:
        if schedules is None:
            yield batch
            continue
        if schedules <= 0:
            return
        part = batch.seeds[:schedules]
        schedules -= len(part)
        yield Batch(batch.scheduler, part)


def batches(
    seed: int, schedulers: Sequence[str] = MIX, size: int = 16, most: int = 128
) -> Iterator[Batch]:
    """Without end: each policy in turn, in batches that grow, so that news come early."""
    yield Batch("round-robin", range(1))
    while True:
        for scheduler in schedulers:
            yield Batch(scheduler, range(seed, seed + size))
        seed += size
        size = min(size * 2, most)
