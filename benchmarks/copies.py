# SPDX-License-Identifier: Apache-2.0
"""Whether branches that are copies of a run that stands still do what whole runs do, to the bit.

Each branch is run both ways: how it ends, its output, the files that it leaves, its schedule and
the races that are found in it have to be the same. `both` is the time of the wall, of copies and of
whole runs.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.judge_cost import MEBIBYTES, PLAN, STEPS, THREADS, racing
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import workplace
from benchmarks.sources import OURS, small_program
from benchmarks.subjects.pbzip2 import Pbzip2Unlocked
from benchmarks.subjects.sqlite import Sqlite
from benchmarks.subjects.subject import Size

from eitherway.find.confirm import Tracer
from eitherway.find.racing import Racing
from eitherway.model.words import Arm
from eitherway.sandbox.confined import confined
from eitherway.worlds.threads import explorer as exploring
from eitherway.worlds.threads.branch import Branches, Spec, outcome_of
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran

INSTANCES, CONTINUATIONS = 3, 16  # of each race
ARMS = (Arm.FLIP, Arm.CONTROL, Arm.PREFIX)
NEVER = 1 << 62  # steps: so long is no run that is kept


class Compared(NamedTuple):
    """Of one program."""

    branches: int
    copies: int
    differ: int
    seconds: tuple[float, float]  # of copies, and of whole runs


def compared(command: Sequence[str], folder: Path) -> Compared:
    """All branches of the first run that shows a race."""
    launch = Launch(tuple(command), str(folder), Launch.here(command).environment)
    with confined(work=[str(folder)]) as box, Explorer(launch, box, plan=PLAN) as explorer:
        ran, findings = racing(explorer)
        races = Racing(Tracer(explorer, fixed=True).accesses(ran))
        pairs = [one.pair for each in findings for one in races.instances(each.id, INSTANCES)]
        branches = Branches(explorer, ran, races.places)
        specs = [Spec(p, arm, c) for p in pairs for c in range(CONTINUATIONS) for arm in ARMS]
        whole, slow = _done(branches, specs, explorer, NEVER)
        copies, quick = _done(branches, specs, explorer, exploring.WORTH)
    differ = sum(_differ(one, other) for (one, _), (other, _) in zip(whole, copies, strict=True))
    return Compared(len(specs), sum(stood for _, stood in copies), differ, (quick, slow))


def _done(
    branches: Branches, specs: Sequence[Spec], explorer: Explorer, worth: int
) -> tuple[list[tuple[Ran, bool]], float]:
    """Each with whether it was a copy."""
    before, exploring.WORTH = exploring.WORTH, worth
    since = perf_counter()
    try:
        done = [(branches.run(spec), bool(explorer.standing)) for spec in specs]
    finally:
        exploring.WORTH = before
    return done, perf_counter() - since


def _differ(one: Ran, other: Ran) -> bool:
    return bool(one.differences(other)) or _told(one) != _told(other)


def _told(ran: Ran) -> object:
    """What it led to; of what a thread did before it raced, a load may stand for a store."""
    rows = ran.found.rows[["kind", "step", "thread", "address", "past_thread"]].tolist()
    return outcome_of(ran), ran.shown.pair_end, ran.shown.end, set(rows)


def _commands(folder: Path) -> Iterator[tuple[str, Sequence[str]]]:
    for subject in (Sqlite(), Pbzip2Unlocked()):
        yield subject.name, subject.job(subject.build(OURS), Size.SMALL, folder).command
    words = [str(number) for number in (THREADS, MEBIBYTES, STEPS)]
    yield "late_race", [str(small_program("late_race", OURS)), *words]


def main() -> None:
    """One table."""
    options = arguments(__doc__ or "").parse_args()
    fix_addresses()
    watch, rows = Watch(), []
    with workplace() as folder:
        for name, command in _commands(folder):
            progress(name)
            found = compared(command, folder)
            quick, slow = found.seconds
            counts = (found.branches, found.copies, found.differ)
            rows.append([name, *(f"{n:,}" for n in counts), f"{quick:.1f} and {slow:.1f}"])
    head = ["program", "branches", "copies", "differ", "both, s"]
    published(f"{watch.told()}\n\n{table(head, rows)}", "copies", options.write)


if __name__ == "__main__":
    started(main)
