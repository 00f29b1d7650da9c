# SPDX-License-Identifier: Apache-2.0
"""Runs a program that was built for our runtime under one schedule."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from eitherway.worlds.threads import inputs
from eitherway.worlds.threads import schedule as schedules
from eitherway.worlds.threads.schedule import Schedule

VARIABLE = "EITHERWAY_OPTIONS"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run did, and all that is needed to do it again."""

    status: int  # as subprocess tells it: negative is a signal
    output: bytes  # standard output and standard error as they came
    schedule: Schedule
    inputs: bytes


class Memories:
    """The memories that a run shares with us; their descriptors, by the option that names them."""

    def __init__(self, stack: ExitStack, replay: Ran | None) -> None:
        """Given back when the stack is left."""
        self.descriptors = {
            "record": stack.enter_context(schedules.empty()),
            "inputs": stack.enter_context(inputs.empty()),
        }
        if replay is not None:
            self.descriptors["replay"] = stack.enter_context(schedules.filled(replay.schedule))
            self.descriptors["given"] = stack.enter_context(inputs.filled(replay.inputs))

    def ran(self, status: int, output: bytes) -> Ran:
        """What is in them when the run is over."""
        schedule = schedules.read(self.descriptors["record"])
        return Ran(status, output, schedule, inputs.read(self.descriptors["inputs"]))


def options_text(options: Mapping[str, object]) -> str:
    """Options for the runtime, as native/runtime/options.h has them."""
    return ":".join(f"{name}={value}" for name, value in options.items())


def run(
    command: Sequence[str],
    *,
    seed: int = 0,
    scheduler: str = "random-walk",
    replay: Ran | None = None,
    trace: Path | None = None,
) -> Ran:
    """Run under a policy and seed, or as an earlier run; with `trace`, note every operation."""
    with ExitStack() as stack:
        memories = Memories(stack, replay)
        options: dict[str, object] = {"scheduler": scheduler, "seed": seed, **memories.descriptors}
        if replay is not None:
            options["scheduler"] = "replay"
        if trace is not None:
            options["trace"] = trace
        done = subprocess.run(
            list(command),
            env={**os.environ, VARIABLE: options_text(options)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=list(memories.descriptors.values()),
            check=False,
        )
        return memories.ran(done.returncode, done.stdout)
