# SPDX-License-Identifier: Apache-2.0
"""Small programs of ours, each one way to use threads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sources import Kit, small_program
from benchmarks.subjects.subject import Job, Size


@dataclass(frozen=True, slots=True)
class Kernel:
    """A C file that takes numbers and prints what they come to, whatever the order."""

    name: str
    sizes: Mapping[Size, tuple[int, ...]]
    answer: Callable[..., int]

    def build(self, kit: Kit) -> Path:
        """One file."""
        return small_program(self.name, kit)

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """So many rounds."""
        numbers = self.sizes[size]
        wanted = f"{self.answer(*numbers)}\n".encode()
        command = (str(program), *map(str, numbers))
        return Job(command, folder, right=lambda out: out == wanted)


def _sum(rounds: int, length: int) -> int:
    return (rounds * (rounds + 1) // 2) * (length * (length - 1) // 2) % 2**32


def _sizes(
    full: int, second: int, part: int, small: int, **others: int
) -> dict[Size, tuple[int, ...]]:
    """The first number of each size, before others that are the same."""
    first = dict(zip(Size, (full, second, part, small), strict=True))
    return {size: (number, *others.values()) for size, number in first.items()}


_ARRAY = {**_sizes(1_200, 900, 20, 2, length=1 << 22), Size.SMALL: (2, 1 << 14)}
KERNELS = (
    Kernel("array", _ARRAY, _sum),
    Kernel("hashtable", _sizes(24_000_000, 12_000_000, 300_000, 300), lambda n: 4 * n),
    Kernel("pipeline", _sizes(2_000_000, 1_500_000, 50_000, 400), lambda n: n * (n - 1)),
    Kernel("tree", _sizes(16_000, 8_000, 100, 4), lambda n: 4 * n * 1023),
    Kernel("read_mostly", _sizes(4_000_000, 2_000_000, 10_000, 1_000), lambda n: 8 * n // 500),
)
