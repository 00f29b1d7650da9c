# SPDX-License-Identifier: Apache-2.0
"""What control costs a threaded program: time of the processor, time of the wall, memory.

Each program is built twice by the same compiler at the same level, bare and with our runtime, and
the two run in turn; ratios are medians of the rounds. `control` is the random walk, which decides
at every synchronisation and now and then at an access; `alone` is the same build with hardly any
decision at accesses (round-robin): what the hooks and the green threads cost by themselves.
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import Spent, spent, workplace
from benchmarks.sources import BARE, OURS
from benchmarks.subjects.all import chosen
from benchmarks.subjects.subject import Size, Subject

VARIANTS = {
    "bare": (BARE, ""),
    "alone": (OURS, "scheduler=round-robin"),
    "control": (OURS, "scheduler=random-walk:seed=1"),
}
HEAD = ["program", "bare: cpu s", "wall s", "MiB"]
HEAD += [cell for name in ("alone", "control") for cell in (f"{name}: cpu", "wall", "MiB")]

Rounds = dict[str, list[Spent]]


def compared(subject: Subject, folder: Path, rounds: int) -> Rounds:
    """Every variant once per round, in turn."""
    jobs = {
        name: (subject.job(subject.build(kit), Size.FULL, folder), options)
        for name, (kit, options) in VARIANTS.items()
    }
    found: Rounds = {name: [] for name in jobs}
    for number in range(rounds):
        progress(f"{subject.name}, round {number + 1} of {rounds}")
        for name, (job, options) in jobs.items():
            found[name].append(spent(job, options))
    return found


def row(subject: Subject, rounds: int) -> list[str]:
    """One program."""
    with workplace() as folder:
        found = compared(subject, folder / "full", rounds)
    bare = found["bare"]
    cells = [subject.name]
    cells += [f"{_median(bare, unit):.2f}" for unit in (_processor, _wall)] + [_resident(bare)]
    for variant in ("alone", "control"):
        ours = found[variant]
        cells += [_ratio(ours, bare, unit) for unit in (_processor, _wall)] + [_resident(ours)]
    return cells


def _processor(run: Spent) -> float:
    return run.processor


def _wall(run: Spent) -> float:
    return run.wall


def _median(runs: Sequence[Spent], unit: Callable[[Spent], float]) -> float:
    return statistics.median(map(unit, runs))


def _ratio(ours: Sequence[Spent], bare: Sequence[Spent], unit: Callable[[Spent], float]) -> str:
    """The median of the rounds' ratios."""
    pairs = zip(ours, bare, strict=True)
    return f"{statistics.median(unit(mine) / unit(theirs) for mine, theirs in pairs):.2f}"


def _resident(runs: Sequence[Spent]) -> str:
    return f"{statistics.median(run.resident for run in runs) / 1024:.0f}"


def main() -> None:
    """The table."""
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("programs", nargs="*", help="only these")
    options = parser.parse_args()
    watch = Watch()
    rows = [row(subject, options.rounds) for subject in chosen(options.programs)]
    published(f"{watch.told()}\n\n{table(HEAD, rows)}", "threads cost", options.write)


if __name__ == "__main__":
    started(main)
