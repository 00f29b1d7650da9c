# SPDX-License-Identifier: Apache-2.0
"""Runs a program that was built for our runtime under one schedule."""

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from eitherway.worlds.threads import schedule as schedules
from eitherway.worlds.threads.schedule import Schedule

VARIABLE = "EITHERWAY_OPTIONS"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one schedule did."""

    status: int  # as subprocess tells it: negative is a signal
    output: bytes  # standard output and standard error as they came
    schedule: Schedule


def options_text(scheduler: str, seed: int, **more: object) -> str:
    """Options for the runtime, as native/runtime/options.h has them."""
    options = {"scheduler": scheduler, "seed": seed, **more}
    return ":".join(f"{name}={value}" for name, value in options.items())


def run(
    command: Sequence[str],
    *,
    seed: int = 0,
    scheduler: str = "random-walk",
    replay: Schedule | None = None,
    trace: Path | None = None,
) -> Ran:
    """Run under a policy and seed, or as a schedule says; with `trace`, note every operation."""
    with ExitStack() as stack:
        record = stack.enter_context(schedules.empty())
        more: dict[str, object] = {"record": record}
        if replay is not None:
            scheduler, more["replay"] = "replay", stack.enter_context(schedules.filled(replay))
        descriptors = [record, *([int(str(more["replay"]))] if replay is not None else [])]
        if trace is not None:
            more["trace"] = trace
        done = subprocess.run(
            list(command),
            env={**os.environ, VARIABLE: options_text(scheduler, seed, **more)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=descriptors,
            check=False,
        )
        return Ran(done.returncode, done.stdout, schedules.read(record))
