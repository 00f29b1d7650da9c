# SPDX-License-Identifier: Apache-2.0
"""What BPF costs one system call: in the process that makes it, and in the recorder.

A program makes one sort of call over and over, bare and looked at, in turn, on one processor. What
it takes itself (the programs in the kernel) is by its own clock of the processor; what the recorder
takes (reading the ring, working out what paths led to, writing) is what is left of the processor's
time, without what a recording of hardly any calls takes. Figures are the least of the rounds, which
are many and short: who else is on the machine is not there in all of them. `getuid` is not
recorded: it shows what every call of every process on the machine pays while a recording is made. A
process that is made, ends and is waited for is three calls, and what is told of its life. The bar:
500 ns a call for both together.

Then what a call that is recorded adds to each program in the kernel, by the kernel's own clock and
the median of the rounds. A fork takes so long that its own row above tells little.
"""

import shutil
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import kernel_clock
from benchmarks.measure import Watch, arguments, published, started, table
from benchmarks.recording import BAR_OF_BPF, OTHERS, Variant, held, ours
from benchmarks.running import workplace
from benchmarks.sources import BARE, small_program
from benchmarks.subjects.subject import Job

from eitherway.worlds.processes.watching import Watching

CALLS = 100_000
OF_PROCESSES = 9_000
HARDLY_ANY = 3
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
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds."""

    own: float  # of each call
    others: float  # of whoever looks on, of all calls and of its start


def _count(sort: str) -> int:
    return OF_PROCESSES if sort == "process" else CALLS


def measured(sort: str, place: Path, variant: Variant, count: int) -> Cost:
    """Once."""
    told: list[bytes] = []

    def right(out: bytes) -> bool:
        told.append(out)
        return len(out.split()) == 2

    command = (str(small_program("one_call", BARE)), sort, str(count))
    folder = place / "written"
    folder.mkdir(mode=0o700)
    took = variant.spent(Job(command, place / "work", right), folder)
    shutil.rmtree(folder)
    calls, own = map(float, told[0].split())
    return Cost(own, took.processor * 1e9 - own * calls)


def least(sort: str, place: Path, variants: Sequence[Variant], rounds: int) -> Iterator[Cost]:
    """For each variant, nanoseconds of a call; of all variants in turn."""
    count = _count(sort)
    found = [
        [
            measured(sort, place, variant, some)
            for variant in variants
            for some in (HARDLY_ANY, count)
        ]
        for _ in range(rounds)
    ]
    runs = list(zip(*found, strict=True))
    for few, many in zip(runs[::2], runs[1::2], strict=True):
        start = min(cost.others for cost in few)
        others = min(cost.others for cost in many) - start
        yield Cost(min(cost.own for cost in many), others / count)


def rows(rounds: int) -> Iterator[list[str]]:
    """One for each sort of call."""
    with Watching() as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        for sort, what in SORTS.items():
            bare, seen = least(sort, place, (OTHERS["bare"], looked_at), rounds)
            own, others = seen.own - bare.own, seen.others - bare.others
            total = held(f"{own + others:,.0f}", own + others > BAR_OF_BPF)
            yield [f"{sort}: {what}", f"{bare.own:,.0f}", f"{own:,.0f}", f"{others:,.0f}", total]


def by_kernel(rounds: int) -> Iterator[list[str]]:
    """One row for each sort of call that is recorded: what it adds to each program."""
    with Watching() as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        measured("getuid", place, looked_at, HARDLY_ANY)  # until then they may not be loaded
        nothing = [_by_kernel("getuid", place, looked_at)[0] for _ in range(rounds)]
        least = min(program.time / program.runs for program in nothing)
        for sort in list(SORTS)[1:]:
            found = [_by_kernel(sort, place, looked_at) for _ in range(rounds)]
            yield [sort, *(_added(sort, programs, least) for programs in zip(*found, strict=True))]


def _by_kernel(sort: str, place: Path, looked_at: Variant) -> list[kernel_clock.Ran]:
    with kernel_clock.running():
        before = kernel_clock.ran()
        measured(sort, place, looked_at, _count(sort))
        after = kernel_clock.ran()
    return [after[which] - before[which] for which in PROGRAMS.values()]


def _added(sort: str, rounds: Sequence[kernel_clock.Ran], nothing: float) -> str:
    """Nanoseconds for each of ours: others' runs are among them, and take what nothing takes."""
    times = _count(sort) // 3 if sort == "process" else _count(sort)
    runs = statistics.median(ran.runs for ran in rounds)
    if not _MOST * runs <= times <= runs / _MOST:
        return ""  # ours do not come by, or are few among others
    return f"{statistics.median((ran.time - ran.runs * nothing) / times for ran in rounds):.0f}"


def main() -> None:
    """The tables."""
    options = arguments(__doc__, rounds=15).parse_args()
    watch = Watch()
    head = ["call", "bare: ns", "in the process", "in the recorder", "together"]
    told = table(head, list(rows(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "one call", options.write)
    watch = Watch()
    told = table(["call", *PROGRAMS], list(by_kernel(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "one call in the kernel", options.write)


if __name__ == "__main__":
    started(main)
