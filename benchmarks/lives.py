# SPDX-License-Identifier: Apache-2.0
"""What recording costs the life of a process: its making, its end, and that it is waited for.

One program makes 60 processes at a time, bare and with the recorder's programs in the kernel, which
come and go between two such blocks: the same memory, the same processor, some milliseconds apart.
Of each block the median process counts, by the wall: all of it happens on one processor, and what
comes in between (other processes, interrupts) is in few of them. Figures are the medians of the
differences of pairs, with the interval of 95 % (`benchmarks/pairs.py`), for each of three calls.
This is what the tree pays: what the recorder takes is in the tables of one call.

Beside that programs that do nothing, at the same tracepoints; programs that hold each call for
500 ns, which must be seen; and bare once more, which must be nothing.
"""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial

from benchmarks.kernel_programs import Programs, idle
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.pairs import Estimate, estimate, in_turn
from benchmarks.running import fixed_layout
from benchmarks.sources import BARE, bpf_programs, small_program

from eitherway.closing import Closing
from eitherway.worlds.processes.watching import PROGRAMS

BLOCK = 60  # processes
CALLS = 3  # of each
ARMS = ("programs that do nothing", "recorded", "each call held for 500 ns", "bare once more")


class Maker(Closing):
    """Makes processes when asked."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        program = str(small_program("lives", BARE))
        self._process = subprocess.Popen([program], stdin=pipe, stdout=pipe, bufsize=0)

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def asked(self, words: str) -> str:
        """What it answers."""
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("it has pipes")
        self._process.stdin.write(f"{words}\n".encode())
        return self._process.stdout.readline().decode().strip()

    def close(self) -> None:
        """It ends."""
        self._process.communicate()


def _bare(sort: str, maker: Maker, other: Maker, programs: Programs) -> float:
    programs.come(other.pid)  # as much happens before as for the others
    programs.go()
    maker.asked("again")
    return float(maker.asked(f"{sort} {BLOCK}"))


def _seen(sort: str, maker: Maker, programs: Programs) -> float:
    programs.come(maker.pid)
    maker.asked("again")
    took = float(maker.asked(f"{sort} {BLOCK}"))
    programs.go()
    return took


def rows(rounds: int) -> Iterator[list[str]]:
    """One for each way to make a process."""
    with ExitStack() as stack:
        maker, other = (stack.enter_context(Maker()) for _ in range(2))
        slowed = Programs([str(bpf_programs("slowed"))])
        nothing, own, held = (stack.enter_context(p) for p in (idle(), Programs(PROGRAMS), slowed))
        for sort in ("fork", "vfork"):
            progress(sort)
            bare = partial(_bare, sort, maker, other, nothing)
            seen = [partial(_seen, sort, maker, each) for each in (nothing, own, held)]
            arms: dict[str, Callable[[], float]] = {"bare": bare}
            arms.update(zip(ARMS, [*seen, bare], strict=True))
            found = in_turn(arms, rounds)
            cells = (_added(found["bare"], found[name]).told() for name in ARMS)
            yield [sort, f"{estimate(found['bare']).value / CALLS:,.0f}", *cells]


def _added(bare: Sequence[float], seen: Sequence[float]) -> Estimate:
    return estimate([(after - before) / CALLS for before, after in zip(bare, seen, strict=True)])


def main() -> None:
    """The table."""
    options = arguments(__doc__, rounds=400).parse_args()
    fixed_layout()
    watch = Watch()
    told = table(["made by", "bare: ns a call", *ARMS], list(rows(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "lives", options.write)


if __name__ == "__main__":
    started(main)
