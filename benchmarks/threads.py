# SPDX-License-Identifier: Apache-2.0
"""What control costs a threaded program, and how many schedules a core runs in a second.

Each program is built twice by the same compiler at the same level, bare and with our runtime, and
the two run in turn; ratios are medians of the rounds. `control` is the random walk, which decides
at every synchronisation and now and then at an access; `alone` is the same build with hardly any
decision at accesses (round-robin): what the hooks and the green threads cost by themselves.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import arguments, machine, published, table

from eitherway.worlds.threads.launch import VARIABLE, Launch, fix_addresses
from eitherway.worlds.threads.server import Server

PROGRAMS = Path(__file__).parent / "programs"
TOOL = [sys.executable, "-m", "eitherway"]
KERNELS = {"array": "400", "hashtable": "80", "pipeline": "12"}
ROUNDS = 5
RUNS = 2000

Spent = tuple[float, float]  # processor and wall seconds


def build(source: Path, program: Path, *, ours: bool) -> Path:
    """Compile one C file."""
    compiler = [*TOOL, "cc"] if ours else ["gcc"]
    subprocess.run([*compiler, "-g", "-O1", source, "-o", program, "-pthread"], check=True)
    return program


def spent(command: Sequence[str], options: str) -> Spent:
    """What one run took, with its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, VARIABLE: options}
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return processor, wall


def compared(commands: Mapping[str, tuple[list[str], str]]) -> dict[str, list[Spent]]:
    """Every variant once per round, in turn."""
    rounds: dict[str, list[Spent]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, (command, options) in commands.items():
            rounds[name].append(spent(command, options))
    return rounds


def ratio(ours: list[Spent], bare: list[Spent], unit: int) -> str:
    """The median of the rounds' ratios."""
    pairs = zip(ours, bare, strict=True)
    return f"{statistics.median(mine[unit] / theirs[unit] for mine, theirs in pairs):.2f}"


def cost_row(name: str, argument: str, folder: Path) -> list[str]:
    """One kernel."""
    source = PROGRAMS / f"{name}.c"
    bare = build(source, folder / f"{name}.bare", ours=False)
    ours = build(source, folder / f"{name}.ours", ours=True)
    rounds = compared(
        {
            "bare": ([str(bare), argument], ""),
            "alone": ([str(ours), argument], "scheduler=round-robin"),
            "control": ([str(ours), argument], "scheduler=random-walk:seed=1"),
        }
    )
    seconds = statistics.median(one[0] for one in rounds["bare"])
    cells = [name, f"{seconds:.2f}"]
    for variant in ("alone", "control"):
        cells += [ratio(rounds[variant], rounds["bare"], unit) for unit in (0, 1)]
    return cells


def per_second(program: Path, threads: int, seed: int) -> float:
    """Schedules that one server runs, its output captured."""
    with Server(Launch.here([str(program), str(threads)]), threads=threads) as server:
        server.run(seed=seed)
        start = time.perf_counter()
        server.survey(range(seed, seed + RUNS))
        return RUNS / (time.perf_counter() - start)


def schedule_rows(folder: Path) -> list[list[str]]:
    """Schedules per second beside bare forks, in turn."""
    bare = build(PROGRAMS / "fork_exit.c", folder / "fork_exit", ours=False)
    ours = build(PROGRAMS / "ten_lines.c", folder / "ten_lines", ours=True)
    rows = []
    for threads in (2, 10):
        pairs = []
        for number in range(ROUNDS):
            command = [str(bare), str(RUNS)]
            forks = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            pairs.append((per_second(ours, threads, number * RUNS), float(forks)))
        share = statistics.median(mine / theirs for mine, theirs in pairs)
        speed, forks_ = (statistics.median(column) for column in zip(*pairs, strict=True))
        rows.append([str(threads), f"{speed:.0f}", f"{forks_:.0f}", f"{share:.0%}"])
    return rows


def main() -> None:
    """Both tables."""
    options = arguments(__doc__ or "").parse_args()
    fix_addresses()
    with tempfile.TemporaryDirectory(prefix="eitherway-bench-") as name:
        folder = Path(name)
        head = ["program", "bare s", "alone: cpu", "wall", "control: cpu", "wall"]
        rows = [cost_row(kernel, argument, folder) for kernel, argument in KERNELS.items()]
        published(f"{machine()}\n\n{table(head, rows)}", "threads cost", options.write)
        head = ["threads", "schedules/s", "bare fork+exit/s", "share"]
        rows = schedule_rows(folder)
        published(f"{machine()}\n\n{table(head, rows)}", "schedules", options.write)


if __name__ == "__main__":
    if shutil.which("gcc") is None:
        raise SystemExit("this benchmark needs gcc")
    main()
