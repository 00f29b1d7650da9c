# SPDX-License-Identifier: Apache-2.0
"""Where the cost of a recorded call goes, of whole workloads: its parts instead of a difference.

A small difference of two long runs drowns in what else happens. Its parts do not. How many calls
the tree makes, recorded or not, is counted by `strace -c`; each costs what `getuid`, which is not
recorded, takes more than bare: that is what the kernel takes to come to the programs. What they
take above that is told by the kernel's own clock, and what the recorder takes by its own. What this
cannot see is what the tree loses elsewhere, because the caches hold other things: only the pairs of
`python -m benchmarks.recording` do.

The clock is on while this runs, which costs each run of a program two looks at it: they are taken
off again, with what a program takes for `getuid`. Others' calls come by the programs too: what they
take beyond that is in the figures, so this wants to be alone.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import kernel_clock, one_call
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.pairs import estimate
from benchmarks.recording import BAR_OF_BPF, NOTHING, Variant, measured, ours
from benchmarks.running import fixed_layout, spent, workplace
from benchmarks.sources import need
from benchmarks.subjects.subject import Job
from benchmarks.workloads import WORKLOADS

from eitherway.worlds.processes.watching import Watching

OF_GETUID = 20  # rounds
PROGRAMS_OF_A_CALL = 2  # its begin, its end


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nanoseconds for a run of a program that does nothing."""

    coming: float  # to it, half of what a call takes more
    inside: float  # by the kernel's clock


@dataclass(frozen=True, slots=True)
class Parts:
    """Nanoseconds for each recorded call."""

    made: float  # calls, for each that was recorded
    coming: float
    programs: float
    recorder: float

    @property
    def together(self) -> float:
        """All of it."""
        return self.coming + self.programs + self.recorder


@dataclass(frozen=True, slots=True)
class Run:
    """What one showed."""

    made: int  # calls, of the tree
    recorded: int
    recorder: float  # seconds
    ran: Sequence[kernel_clock.Ran]  # two programs of calls, then those of lives


def parts(run: Run, nothing: Nothing) -> Parts:
    """Of each recorded call."""
    lives = sum(program.runs for program in run.ran[PROGRAMS_OF_A_CALL:])
    coming = (PROGRAMS_OF_A_CALL * run.made + lives) * nothing.coming
    inside = sum(program.time - program.runs * nothing.inside for program in run.ran)
    each = 1 / run.recorded
    return Parts(run.made * each, coming * each, inside * each, run.recorder * 1e9 * each)


def _calls_made(job: Job, place: Path) -> int:
    told = place / "counted"
    spent(job, before=["strace", "-f", "-c", "-U", "calls,name", "-o", str(told)])
    return int(told.read_text(encoding="ascii").splitlines()[-1].split()[0])


def _nothing(place: Path, variant: Variant) -> Nothing:
    more = one_call.compared("getuid", place, variant, OF_GETUID).tree.value
    inside = one_call.of_nothing(place, variant, OF_GETUID)
    return Nothing(more / PROGRAMS_OF_A_CALL, inside)


def _start(place: Path, variant: Variant) -> float:
    job = Job(("/bin/true",), place / "work", lambda out: not out)
    return statistics.median(measured(job, place, variant).spent.own for _ in range(NOTHING))


def _measured(job: Job, place: Path, variant: Variant, made: int, start: float) -> Run:
    with kernel_clock.running():
        before = kernel_clock.ran()
        run = measured(job, place, variant)
        after = kernel_clock.ran()
    ran = [new - old for old, new in zip(before, after, strict=True)]
    return Run(made, run.calls, run.spent.own - start, ran)


def rows(rounds: int) -> Iterator[list[str]]:
    """One for each workload."""
    with Watching() as watching:
        variant = ours(watching)["bpf"]
        with workplace() as place:
            nothing, start = _nothing(place, variant), _start(place, variant)
        for name, make in WORKLOADS.items():
            progress(name)
            with workplace() as place:
                job = make(place)
                made = _calls_made(job, place)
                runs = [_measured(job, place, variant, made, start) for _ in range(rounds)]
            yield [name, *_cells([parts(run, nothing) for run in runs])]


def _cells(found: Sequence[Parts]) -> list[str]:
    def middle(of: Callable[[Parts], float]) -> float:
        return statistics.median(map(of, found))

    together = estimate([part.together for part in found])
    return [
        f"{middle(lambda part: part.made):.2f}",
        f"{middle(lambda part: part.coming):,.0f}",
        f"{middle(lambda part: part.programs):,.0f}",
        f"{middle(lambda part: part.recorder):,.0f}",
        together.told(BAR_OF_BPF),
    ]


def main() -> None:
    """The table."""
    options = arguments(__doc__, rounds=9).parse_args()
    need("strace", "strace")
    fixed_layout()
    watch = Watch()
    head = ["workload", "calls for each", "to the programs", "programs", "recorder", "together"]
    told = table(head, list(rows(options.rounds)))
    published(f"{watch.told()}\n\n{told}", "parts of a call", options.write)


if __name__ == "__main__":
    started(main)
