# SPDX-License-Identifier: Apache-2.0
"""Runs a program that was built for our runtime under one schedule."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "EITHERWAY_OPTIONS"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one schedule did."""

    seed: int
    status: int  # as subprocess tells it: negative is a signal
    output: bytes  # standard output and standard error as they came


def run(command: Sequence[str], *, seed: int, trace: Path | None = None) -> Ran:
    """Run under the random walk that the seed names; with `trace`, note down every operation."""
    options = f"scheduler=random-walk:seed={seed}"
    if trace is not None:
        options += f":trace={trace}"
    done = subprocess.run(
        list(command),
        env={**os.environ, VARIABLE: options},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return Ran(seed=seed, status=done.returncode, output=done.stdout)
