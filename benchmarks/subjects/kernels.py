# SPDX-License-Identifier: Apache-2.0
"""Small programs of ours, each one way to use threads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sources import Kit, small_program
from benchmarks.subjects.subject import Job, Size


@dataclass(frozen=True, slots=True)
class Kernel:
    """A C file that takes numbers and prints what they come to, whatever the order."""

    name: str
    full: tuple[int, ...]
    small: tuple[int, ...]
    answer: Callable[..., int]

    def build(self, kit: Kit) -> Path:
        """One file."""
        return small_program(self.name, kit)

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """So many rounds."""
        numbers = self.full if size is Size.FULL else self.small
        wanted = f"{self.answer(*numbers)}\n".encode()
        command = (str(program), *map(str, numbers))
        return Job(command, folder, right=lambda out: out == wanted)


def _sum(rounds: int, length: int) -> int:
    return (rounds * (rounds + 1) // 2) * (length * (length - 1) // 2) % 2**32


KERNELS = (
    Kernel("array", (1_000, 1 << 22), (2, 1 << 14), _sum),
    Kernel("hashtable", (16_000_000,), (300,), lambda operations: 4 * operations),
    Kernel("pipeline", (2_000_000,), (400,), lambda items: items * (items - 1)),
)
