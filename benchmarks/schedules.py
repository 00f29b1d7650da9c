# SPDX-License-Identifier: Apache-2.0
"""How many schedules of a ten-line program a core runs in a second, beside bare forks."""

import statistics
import subprocess
import time
from pathlib import Path

from benchmarks.measure import Watch, arguments, published, started, table
from benchmarks.sources import BARE, OURS, small_program

from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.server import Server

ROUNDS = 5
RUNS = 2000


def per_second(program: Path, threads: int, seed: int) -> float:
    """Schedules that one server runs, its output captured."""
    with Server(Launch.here([str(program), str(threads)]), threads=threads) as server:
        server.run(seed=seed)
        start = time.perf_counter()
        server.survey(range(seed, seed + RUNS))
        return RUNS / (time.perf_counter() - start)


def row(threads: int) -> list[str]:
    """Both in turn, round by round."""
    bare, ours = small_program("fork_exit", BARE), small_program("ten_lines", OURS)
    pairs = []
    for number in range(ROUNDS):
        command = [str(bare), str(RUNS)]
        forks = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        pairs.append((per_second(ours, threads, number * RUNS), float(forks)))
    share = statistics.median(mine / theirs for mine, theirs in pairs)
    speed, forked = (statistics.median(column) for column in zip(*pairs, strict=True))
    return [str(threads), f"{speed:.0f}", f"{forked:.0f}", f"{share:.0%}"]


def main() -> None:
    """The table."""
    options = arguments(__doc__ or "").parse_args()
    watch = Watch()
    fix_addresses()
    head = ["threads", "schedules/s", "bare fork+exit/s", "share"]
    rows = [row(threads) for threads in (2, 10)]
    published(f"{watch.told()}\n\n{table(head, rows)}", "schedules", options.write)


if __name__ == "__main__":
    started(main)
