# SPDX-License-Identifier: Apache-2.0
"""How the cost of looking for races grows: with threads, with shared memory, with length.

One program, of which one number at a time is changed: threads that visit random pages of one array,
each under one of 256 locks. The tools are those of `detecting`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.detecting import (
    TOOLS,
    Rounds,
    compared,
    median,
    processor,
    ratio,
    resident,
    share,
)
from benchmarks.measure import Watch, arguments, published, started, table
from benchmarks.sources import Kit, small_program
from benchmarks.subjects.subject import Job, Size

HEAD = ["bare: cpu s", "ours", "libtsan", "of libtsan's cost", "bare: MiB", "ours", "libtsan"]


@dataclass(frozen=True, slots=True)
class Stripes:
    """The program, with its numbers."""

    threads: int = 8
    mebibytes: int = 16
    visits: int = 400_000

    @property
    def name(self) -> str:
        """For whoever waits."""
        return f"{self.visits} visits of {self.threads} threads to {self.mebibytes} MiB"

    def build(self, kit: Kit) -> Path:
        """One file."""
        return small_program("stripes", kit)

    def job(self, program: Path, _: Size, folder: Path) -> Job:
        """What all threads have counted together."""
        numbers = (self.threads, self.mebibytes, self.visits)
        wanted = f"{self.visits // self.threads * self.threads}\n".encode()
        command = (str(program), *map(str, numbers))
        return Job(command, folder, right=lambda out: out == wanted)


GROWTH = {
    "threads": [(f"{n}", Stripes(threads=n)) for n in (2, 4, 8, 16, 32, 64)],
    "shared MiB": [(f"{n}", Stripes(mebibytes=n)) for n in (1, 16, 256, 1024)],
    "visits": [(f"{n:,}", Stripes(visits=n)) for n in (100_000, 400_000, 1_600_000)],
}


def row(value: str, found: Rounds) -> list[str]:
    """One point of the growth."""
    bare, ours, libtsan = found.values()
    return [
        value,
        f"{median(bare, processor):.2f}",
        *(f"{ratio(runs, bare, processor):.1f}" for runs in (ours, libtsan)),
        f"{share(found):.2f}",
        *(f"{median(runs, resident):.0f}" for runs in found.values()),
    ]


def grown(what: str, cases: Sequence[tuple[str, Stripes]], rounds: int) -> str:
    """One table."""
    rows = [row(value, compared(case, TOOLS, Size.FULL, rounds)) for value, case in cases]
    return table([what, *HEAD], rows)


def main() -> None:
    """Three tables."""
    options = arguments(__doc__, rounds=1).parse_args()
    watch = Watch()
    tables = [grown(what, cases, options.rounds) for what, cases in GROWTH.items()]
    published("\n\n".join([watch.told(), *tables]), "detection growth", options.write)


if __name__ == "__main__":
    started(main)
