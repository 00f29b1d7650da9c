# SPDX-License-Identifier: Apache-2.0
"""Whether a recorded run is the same every time, and whether every schedule gives a right answer.

A run is recorded once for each seed. Half of its replays are done while every processor is busy
with another process. A plain replay is the same when exit status, both outputs, steps, schedule
and input are; a traced one also when every byte of its trace is that of the first trace.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import recorded, replayed, workplace
from benchmarks.sources import OURS
from benchmarks.subjects.all import REAL, chosen
from benchmarks.subjects.subject import Job, Size, Subject

from eitherway.errors import Unavailable
from eitherway.worlds.threads.launch import fix_addresses
from eitherway.worlds.threads.run import Ran

SEEDS = (1, 2, 3)
BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(100000))"


@contextmanager
def busy_machine() -> Iterator[None]:
    """A process for every processor that does nothing but keep it busy."""
    command = [sys.executable, "-c", BURN]
    burners = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


class Replays:
    """The replays of one run."""

    def __init__(self, job: Job, seed: int) -> None:
        self.job = job
        self.seed = seed
        self.first = recorded(job, seed)
        self.trace: tuple[int, str] | None = None  # bytes and hash of the first

    def same(self, times: int) -> int:
        """How many of so many plain replays are the same."""
        return sum(self._is_same(replayed(self.job, self.first)) for _ in range(times))

    def same_traced(self, times: int) -> int:
        """How many of so many traced replays are the same, with their traces."""
        return sum(self._is_same_traced() for _ in range(times))

    def _is_same(self, again: Ran) -> bool:
        differences = again.differences(self.first)
        if differences:
            where = again.schedule.diverged_at
            progress(f"seed {self.seed} differs in {', '.join(differences)}; step {where}")
        return not differences

    def _is_same_traced(self) -> bool:
        with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
            again = replayed(self.job, self.first, Path(folder))
            trace = _digest(Path(folder))
        self.trace = self.trace or trace
        if trace != self.trace:
            progress(f"seed {self.seed}: its trace differs")
        return self._is_same(again) and trace == self.trace


def _digest(folder: Path) -> tuple[int, str]:
    """Bytes and hash of all that a trace holds."""
    digest, size = hashlib.sha256(), 0
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
                size += len(part)
    return size, digest.hexdigest()


def replay_row(subject: Subject, job: Job, seed: int, times: int) -> list[str]:
    """One program under one seed."""
    progress(f"{subject.name}, seed {seed}: {times} replays, {times} with a trace")
    replays = Replays(job, seed)
    half = times // 2
    same, traced = replays.same(half), replays.same_traced(half)
    with busy_machine():
        same += replays.same(times - half)
        traced += replays.same_traced(times - half)
    schedule, size = replays.first.schedule, replays.trace[0] if replays.trace else 0
    figures = [
        schedule.steps,
        len(schedule.switches),
        sum(len(member.inputs) for member in replays.first.members),
    ]
    told = [f"{figure:,}" for figure in figures]
    megabytes = f"{size / 1e6:.1f}"
    return [subject.name, str(seed), *told, _of(same, times), megabytes, _of(traced, times)]


def right_row(subject: Subject, job: Job, seeds: int) -> list[str]:
    """One program under many seeds."""
    progress(f"{subject.name}, {seeds} seeds")
    runs = [recorded(job, seed) for seed in range(seeds)]
    right = sum(run.status == 0 and job.right(run.out.beginning) for run in runs)
    different = len({run.schedule.hash for run in runs})
    return [subject.name, _of(right, seeds), str(different)]


def small(subject: Subject, folder: Path) -> Job:
    """What can be done hundreds of times."""
    return subject.job(subject.build(OURS), Size.SMALL, folder / subject.name)


def _of(count: int, times: int) -> str:
    told = f"{count} of {times}"
    return told if count == times else f"**{told}**"


def all_tables(subjects: Sequence[Subject], folder: Path, times: int) -> list[str]:
    """That of the replays, and that of the answers."""
    jobs = [(subject, small(subject, folder)) for subject in subjects]
    head = ["program", "seed", "steps", "switches", "input bytes", "replays the same"]
    head += ["trace MB", "traces the same"]
    replays = [replay_row(subject, job, seed, times) for subject, job in jobs for seed in SEEDS]
    right = [right_row(subject, job, times) for subject, job in jobs if subject in REAL]
    return [
        table(head, replays),
        table(["program", "right output", "different schedules"], right),
    ]


def main() -> None:
    """Both tables; ends with 1 when a cell of them is not as it must be."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--times", type=int, default=100, metavar="N", help="(default: 100)")
    parser.add_argument("programs", nargs="*", help="only these")
    options = parser.parse_args()
    watch = Watch()
    if not fix_addresses():
        raise Unavailable("this machine does not let addresses be fixed", fix="eitherway doctor")
    with workplace() as folder:
        tables = all_tables(chosen(options.programs), folder, options.times)
    for name, text in zip(("replays", "right output"), tables, strict=True):
        published(f"{watch.told()}\n\n{text}", name, options.write)
    if "**" in "".join(tables):
        raise SystemExit(1)


if __name__ == "__main__":
    started(main)
