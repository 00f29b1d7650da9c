# SPDX-License-Identifier: Apache-2.0
"""What BPF costs one system call: in the process that makes it, and in the recorder.

A program makes one sort of call over and over, bare and looked at, in turn. What it takes itself
(the programs in the kernel) is by its own clock of the processor; what the recorder takes (reading
the ring, working out what paths led to, writing) is what is left of the processor's time. Figures
are the least of the rounds. `getuid` is not recorded: it shows what every call of every process on
the machine pays while a recording is made. A process that is made, ends and is waited for is three
calls, and what is told of its life. The bar: 500 ns a call for both together.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Watch, arguments, published, started, table
from benchmarks.recording import BAR_OF_BPF, OTHERS, Variant, held, ours
from benchmarks.running import workplace
from benchmarks.sources import BARE, small_program
from benchmarks.subjects.subject import Job

from eitherway.worlds.processes.watching import Watching

CALLS = 300_000
OF_PROCESSES = 30_000
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
    """Nanoseconds for each call."""

    own: float
    others: float  # of whoever looks on


def measured(sort: str, place: Path, variant: Variant) -> Cost:
    """Once."""
    told: list[bytes] = []

    def right(out: bytes) -> bool:
        told.append(out)
        return len(out.split()) == 2

    count = OF_PROCESSES if sort == "process" else CALLS
    command = (str(small_program("one_call", BARE)), sort, str(count))
    folder = place / "written"
    folder.mkdir(mode=0o700)
    took = variant.spent(Job(command, place / "work", right), folder)
    shutil.rmtree(folder)
    calls, own = map(float, told[0].split())
    return Cost(own, took.processor * 1e9 / calls - own)


def rows(rounds: int) -> Iterator[list[str]]:
    """One for each sort of call."""
    with Watching() as watching, workplace() as place:
        looked_at = ours(watching)["bpf"]
        for sort, what in SORTS.items():
            pairs = [
                (measured(sort, place, OTHERS["bare"]), measured(sort, place, looked_at))
                for _ in range(rounds)
            ]
            bare = min(pair[0].own for pair in pairs)
            own = min(pair[1].own for pair in pairs) - bare
            others = min(pair[1].others for pair in pairs) - min(pair[0].others for pair in pairs)
            total = held(f"{own + others:,.0f}", own + others > BAR_OF_BPF)
            yield [f"{sort}: {what}", f"{bare:,.0f}", f"{own:,.0f}", f"{others:,.0f}", total]


def main() -> None:
    """The table."""
    options = arguments(__doc__, rounds=5).parse_args()
    watch = Watch()
    head = ["call", "bare: ns", "in the process", "in the recorder", "together"]
    told = table(head, list(rows(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "one call", options.write)


if __name__ == "__main__":
    started(main)
