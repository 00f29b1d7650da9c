# SPDX-License-Identifier: Apache-2.0
"""What a switch costs, what a fork costs by the size of the heap, what a thread takes of memory.

Bare and ours run in turn; what is told are medians of the rounds. The programs look at the real
clocks by system calls of their own, because those they are given are virtual: processor time for
switches, the wall for forks.
"""

import os
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import spent, workplace
from benchmarks.sources import BARE, OURS, Kit, small_program
from benchmarks.subjects.subject import Job

from eitherway.worlds.threads.launch import VARIABLE

ROUNDS = 5
HANDOVERS = 200_000
HEAPS = {0: 400, 50: 100, 200: 40, 800: 15}  # MiB: forks
THREADS = 1_000
OPTIONS = "scheduler=round-robin"
KITS = (BARE, OURS)
SWITCHES = (
    "a yield with nobody to yield to",
    "a yield to the other of two threads",
    "a hand-over by a condition variable",
)


def figures(name: str, kit: Kit, *numbers: int) -> list[float]:
    """What a program says of itself, a number a line."""
    command = [str(small_program(name, kit)), *map(str, numbers)]
    environment = {**os.environ, VARIABLE: OPTIONS}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [float(line) for line in run.stdout.splitlines()]


def medians(name: str, *numbers: int) -> list[list[float]]:
    """The figures of each kit, in turn."""
    rounds = [[figures(name, kit, *numbers) for kit in KITS] for _ in range(ROUNDS)]
    return [
        [statistics.median(column) for column in zip(*of_kit, strict=True)]
        for of_kit in zip(*rounds, strict=True)
    ]


def switch_rows() -> Iterator[list[str]]:
    """Nanoseconds; both threads on one processor."""
    progress("switches")
    columns = medians("handover", HANDOVERS)
    for what, *cells in zip(SWITCHES, *columns, strict=True):
        yield [what, *(f"{cell:.0f}" for cell in cells)]


def fork_rows() -> Iterator[list[str]]:
    """Microseconds; small pages and huge ones."""
    for size, times in HEAPS.items():
        progress(f"forks of a process with {size} MiB")
        cells = [column[0] for huge in (0, 1) for column in medians("fork_heap", size, huge, times)]
        yield [f"{size} MiB", *(f"{cell:,.0f}" for cell in cells)]


def memory_row() -> list[str]:
    """KiB resident for each of many threads that are there at the same time."""
    progress(f"memory of {THREADS} threads")
    cells = []
    for kit in KITS:
        one, many = (_resident(small_program("many_threads", kit), n) for n in (1, THREADS + 1))
        cells.append(f"{(many - one) / THREADS:.1f}")
    return [f"{THREADS:,}", *cells]


def _resident(program: Path, threads: int) -> float:
    with workplace() as folder:
        job = Job((str(program), str(threads)), folder / "threads", right=bool)
        return statistics.median(spent(job, OPTIONS).resident for _ in range(ROUNDS))


def main() -> None:
    """Three tables."""
    options = arguments(__doc__ or "").parse_args()
    watch = Watch()
    switches = table(["ns", "bare", "ours"], list(switch_rows()))
    published(f"{watch.told()}\n\n{switches}", "switches", options.write)
    head = ["fork, exit and wait, us", "bare", "ours", "huge pages: bare", "ours"]
    forks = table(head, list(fork_rows()))
    published(f"{watch.told()}\n\n{forks}", "forks", options.write)
    memory = table(["threads", "bare KiB each", "ours KiB each"], [memory_row()])
    published(f"{watch.told()}\n\n{memory}", "thread memory", options.write)


if __name__ == "__main__":
    started(main)
