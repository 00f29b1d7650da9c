# SPDX-License-Identifier: Apache-2.0
"""Runs a program that may hang, crash or be missing, and always comes back with an answer."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from eitherway.machine.capability import Seen, State

TOOL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Ran:
    """`status` is the exit code, negative for a signal, None when its time was over."""

    status: int | None
    output: str

    @property
    def ok(self) -> bool:
        """It ended by itself, with 0."""
        return self.status == 0


def run(
    arguments: Sequence[str], *, text: str = "", cwd: str = "/", limit: float = TOOL_SECONDS
) -> Ran:
    """Run to the end or the limit; OSError when it cannot be started."""
    with subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,  # so that the limit ends its children too
    ) as process:
        try:
            output, _ = process.communicate(text.encode(), timeout=limit)
        except subprocess.TimeoutExpired:
            _end_group(process.pid)
            process.communicate()
            return Ran(None, "")
        return Ran(process.returncode, output.decode(errors="replace"))


def failed(ran: Ran, doing: str) -> Seen:
    """What to say of a run that did not end with 0."""
    if ran.status is None:
        return Seen(State.UNKNOWN, f"{doing}: no answer in time")
    if ran.status < 0:
        return Seen(State.UNKNOWN, f"{doing}: died of {signal.Signals(-ran.status).name}")
    last = ran.output.strip().splitlines()[-1:] or ["no word"]
    return Seen(State.NO, f"{doing}: {last[0][:160]}")


def _end_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
