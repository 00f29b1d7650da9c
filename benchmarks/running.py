# SPDX-License-Identifier: Apache-2.0
"""Runs jobs: measured, or recorded and replayed."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sources import BARE, small_program
from benchmarks.subjects.subject import Job

from eitherway.worlds.threads.launch import VARIABLE, Launch
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

_PATIENCE = 60  # seconds that a load may take to end after its server


_NO_RANDOM_ADDRESSES = 0x0040000  # ADDR_NO_RANDOMIZE
_ROOM = 64 << 20  # bytes that the files of one job need at most


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took: seconds of the processor and of the wall, KiB at most resident."""

    processor: float
    wall: float
    resident: int
    own: float = 0.0  # seconds of the processor of the first process alone


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for the files of jobs, in memory where that is possible: no disk is measured."""
    memory = Path("/dev/shm")  # noqa: S108  the folder in it is our own
    usable = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM
    with tempfile.TemporaryDirectory(prefix="eitherway-", dir=memory if usable else None) as name:
        yield Path(name)


def fixed_layout() -> None:
    """What is started from here on lies at the same addresses each time: chance costs time too."""
    ctypes.CDLL(None).personality(_NO_RANDOM_ADDRESSES)


def spent(
    job: Job, options: str = "", before: Sequence[str] = (), passed: Sequence[int] = ()
) -> Spent:
    """Run it once, with some words before its command, and see that its answer is right."""
    _empty(job.folder)
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        report, out = Path(name, "report"), Path(name, "out")
        command = [str(small_program("spent", BARE)), str(report), *before, *job.command]
        environment = {**os.environ, **job.environment, VARIABLE: options}
        with _load(job), out.open("wb") as stream:
            subprocess.run(
                command,
                cwd=job.folder,
                env=environment,
                stdout=stream,
                check=True,
                pass_fds=passed,
            )
        if not job.right(out.read_bytes()):
            raise SystemExit(f"{' '.join(job.command)}: its output is wrong")
        processor, wall, resident, own = report.read_text(encoding="ascii").split()
    return Spent(float(processor), float(wall), int(resident), float(own))


def recorded(job: Job, seed: int) -> Ran:
    """Run it once under a seed."""
    _empty(job.folder)
    with _load(job):
        return run(_launch(job), seed=seed)


def replayed(job: Job, first: Ran, trace: Path | None = None) -> Ran:
    """The same run again, without its load; traced as deep as can be."""
    _empty(job.folder)
    return run(_launch(job), replay=first, trace=trace, request=TraceRequest(Depth.VALUES))


def _launch(job: Job) -> Launch:
    here = Launch.here(job.command)
    environment = {**here.environment, **job.environment}
    return Launch(job.command, str(job.folder), environment)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


@contextmanager
def _load(job: Job) -> Iterator[None]:
    """The load runs beside, and must have been content in the end."""
    if not job.load:
        yield
        return
    with subprocess.Popen(job.load) as load:
        try:
            yield
            status = load.wait(_PATIENCE)
        finally:
            load.kill()
    if status != 0:
        raise SystemExit(f"{' '.join(job.load)}: ended with {status}")
