# SPDX-License-Identifier: Apache-2.0
"""What BPF costs one system call: in the process that makes it, and in the recorder.

A program makes one sort of call over and over, bare and looked at, in turn, on one processor and at
the same addresses. What the call takes in the program and in its children is told by their own
clocks of the processor, from the first of the calls to the last; what the recorder takes (reading
the ring, working out what paths led to, writing) by its own, without what a recording of hardly any
calls takes. Figures are medians of the differences of pairs, with the interval of 95 %: see
`benchmarks/pairs.py`. `getuid` is not recorded: it shows what every call of every process on the
machine pays while a recording is made. A process that is made, ends and is waited for is three
calls, and what is told of its life: by fork, which copies the memory of its parent, and by vfork,
which copies nothing, so that its row is the sharper one. The bar: 500 ns a call for both together.

Whether this can show a cost, and a cost that is none: bare against bare must be 0, and where each
call of the tree is held for 500 ns, that must be seen.

Then what a call that is recorded adds to each program in the kernel, by the kernel's own clock and
the median of the rounds.
"""

import shutil
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import kernel_clock
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.pairs import Estimate, estimate, in_turn
from benchmarks.recording import BAR_OF_BPF, OTHERS, Variant, ours
from benchmarks.running import fixed_layout, workplace
from benchmarks.sources import BARE, bpf_programs, small_program
from benchmarks.subjects.subject import Job

from eitherway.worlds.processes.watching import Watching

CALLS = 100_000
OF_PROCESSES = 6_000
OFTENER = 4  # so many rounds more for processes: there the difference is a small part
HARDLY_ANY = 3
STARTS = 15  # recordings of hardly any calls
_MOST = 0.5  # of the runs of a program
# Of native/recorder/recorder.bpf.c, by their places there.
PROGRAMS = {"begin of a call": 0, "its end": 1, "fork": 2, "exit": 4}
SORTS = {
    "getuid": "not recorded",
    "lseek": "a descriptor",
    "write": "a descriptor",
    "open-close": "a path, then a descriptor",
    "stat": "a path",
    "process": "fork, exit, wait: each",
    "vfork": "the same by vfork",
}
SLOWED = ("lseek", "process", "vfork")


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds of the processor."""

    tree: float  # of each call
    recorder: float  # of all calls, and of its start


@dataclass(frozen=True, slots=True)
class Added:
    """Nanoseconds of each call, above bare."""

    bare: float
    tree: Estimate
    recorder: Estimate
    together: Estimate

    def cells(self, bar: float | None = None) -> list[str]:
        """Of a row."""
        return [
            f"{self.bare:,.0f}",
            f"{self.tree.value:,.0f}",
            f"{self.recorder.value:,.0f}",
            self.together.told(bar),
        ]


def _makes_processes(sort: str) -> bool:
    return sort in {"process", "vfork"}


def _count(sort: str) -> int:
    return OF_PROCESSES if _makes_processes(sort) else CALLS


def measured(sort: str, place: Path, variant: Variant, count: int) -> Cost:
    """Once."""
    told: list[bytes] = []

    def right(out: bytes) -> bool:
        told.append(out)
        return len(out.split()) == 3

    command = (str(small_program("one_call", BARE)), sort, str(count))
    folder = place / "written"
    folder.mkdir(mode=0o700)
    took = variant.spent(Job(command, place / "work", right), folder)
    shutil.rmtree(folder)
    _, own, children = map(float, told[0].split())
    return Cost(own + children, took.own * 1e9 if variant.passed else 0.0)


def compared(sort: str, place: Path, variant: Variant, rounds: int) -> Added:
    """With bare, in pairs."""
    progress(f"{sort}")
    count = _count(sort)
    once = partial(measured, sort, place)
    start = statistics.median(once(variant, HARDLY_ANY).recorder for _ in range(STARTS))
    rounds *= OFTENER if _makes_processes(sort) else 1
    found = in_turn(
        {
            "bare": partial(once, OTHERS["bare"], count),
            "seen": partial(once, variant, count),
        },
        rounds,
    )
    return added(found["bare"], found["seen"], start if variant.passed else 0.0, count)


def added(bare: Sequence[Cost], seen: Sequence[Cost], start: float, count: int) -> Added:
    """By so many calls, and without what the recorder takes before the first."""
    tree = [after.tree - before.tree for before, after in zip(bare, seen, strict=True)]
    recorder = [(cost.recorder - start) / count for cost in seen]
    together = [sum(parts) for parts in zip(tree, recorder, strict=True)]
    least = statistics.median(cost.tree for cost in bare)
    return Added(least, estimate(tree), estimate(recorder), estimate(together))


def rows(rounds: int) -> Iterator[list[str]]:
    """One for each sort of call."""
    with Watching() as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        for sort, what in SORTS.items():
            yield [f"{sort}: {what}", *compared(sort, place, looked_at, rounds).cells(BAR_OF_BPF)]


def controls(rounds: int) -> Iterator[list[str]]:
    """What must be nothing, and what must be 500 ns more."""
    slowed = bpf_programs("slowed")
    with Watching((str(slowed),)) as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        for sort in SLOWED:
            nothing = compared(sort, place, OTHERS["bare"], rounds)
            yield [f"{sort}: bare against bare", *nothing.cells()]
            more = compared(sort, place, looked_at, rounds)
            yield [f"{sort}: each call held for 500 ns", *more.cells()]


def by_kernel(rounds: int) -> Iterator[list[str]]:
    """One row for each sort of call that is recorded: what it adds to each program."""
    with Watching() as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        least = of_nothing(place, looked_at, rounds)
        for sort in list(SORTS)[1:]:
            found = [_by_kernel(sort, place, looked_at) for _ in range(rounds)]
            yield [sort, *(_added(sort, programs, least) for programs in zip(*found, strict=True))]


def of_nothing(place: Path, looked_at: Variant, rounds: int) -> float:
    """Nanoseconds, by the kernel's clock, of a program that has nothing to do."""
    measured("getuid", place, looked_at, HARDLY_ANY)  # until then they may not be loaded
    nothing = [_by_kernel("getuid", place, looked_at)[0] for _ in range(rounds)]
    return min(program.time / program.runs for program in nothing)


def _by_kernel(sort: str, place: Path, looked_at: Variant) -> list[kernel_clock.Ran]:
    with kernel_clock.running():
        before = kernel_clock.ran()
        measured(sort, place, looked_at, _count(sort))
        after = kernel_clock.ran()
    return [after[which] - before[which] for which in PROGRAMS.values()]


def _added(sort: str, rounds: Sequence[kernel_clock.Ran], nothing: float) -> str:
    """Nanoseconds for each of ours: others' runs are among them, and take what nothing takes."""
    times = _count(sort) // 3 if _makes_processes(sort) else _count(sort)
    runs = statistics.median(ran.runs for ran in rounds)
    if not _MOST * runs <= times <= runs / _MOST:
        return ""  # ours do not come by, or are few among others
    return f"{statistics.median((ran.time - ran.runs * nothing) / times for ran in rounds):.0f}"


def main() -> None:
    """The tables."""
    options = arguments(__doc__, rounds=40).parse_args()
    fixed_layout()
    watch = Watch()
    head = ["call", "bare: ns", "in the tree", "in the recorder", "together"]
    told = table(head, list(rows(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "one call", options.write)
    watch = Watch()
    told = table(head, list(controls(options.rounds // 2)))
    published(f"{watch.told()}\n\n{told}", "one call, controls", options.write)
    watch = Watch()
    told = table(["call", *PROGRAMS], list(by_kernel(max(options.rounds // 4, 1))))
    published(f"{watch.told()}\n\n{told}", "one call in the kernel", options.write)


if __name__ == "__main__":
    started(main)
