# SPDX-License-Identifier: Apache-2.0
"""A command that drives a server: started when that is ready, and when it is done the server stops.

It runs outside of control and of the recording: what it sends is the server's input, so a replay
needs no driver.
"""

import shlex
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from eitherway.closing import Closing
from eitherway.errors import UsageError
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.ready import Idle, Ready
from eitherway.worlds.threads.target import Sink, Started

Popen = Callable[..., "subprocess.Popen[bytes]"]  # subprocess.Popen, or a sandbox's own


@dataclass(frozen=True, slots=True)
class Driver:
    """What to start, when, and how the server is told to end; None: it ends by itself."""

    command: tuple[str, ...]
    ready: Ready = field(default_factory=Idle)
    stop: int | None = signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Driven:
    """What a driver did; its output is not the program's."""

    status: int  # as subprocess tells it
    out: Captured
    err: Captured

    @property
    def exit_code(self) -> int:
        """As a shell tells it: a signal that killed the driver has killed nobody else."""
        return 128 - self.status if self.status < 0 else self.status


class Driving(Closing):
    """A driver at work, in the surroundings of the program, its files and its network."""

    def __init__(
        self, driver: Driver, launch: Launch, popen: Popen, show: Sink | None = None
    ) -> None:
        try:
            process = popen(
                driver.command,
                cwd=launch.directory,
                env=dict(launch.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            name = driver.command[0]
            raise UsageError(f"the driver {name} cannot be started: {error.strerror}") from None
        shows = (show, show) if show else None
        self._started = Started(process, lambda: process.pid, show=shows)

    @property
    def streams(self) -> list[int]:
        """Readable when there is something to look at."""
        return self._started.streams

    def look(self, seconds: float = 0) -> Driven | None:
        """Take what it wrote; what it did, when it is over, or within so many seconds."""
        until = monotonic() + seconds
        while not self._started.wait(max(until - monotonic(), 0)):
            if monotonic() >= until:
                return None
        self._started.drain()
        return Driven(self._started.status, *self._started.written())

    def close(self) -> None:
        """End it if it still runs."""
        self._started.close()


def parse_command(text: str, what: str = "driver") -> tuple[str, ...]:
    """Words as a shell has them, without a shell; `what` is started by them."""
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise UsageError(f"the {what} '{text}' has no end: {problem}") from None
    if not words or not words[0]:
        raise UsageError(f"the {what} is empty", fix=f"--{what} 'CMD ARGS'")
    return tuple(words)


def parse_stop(text: str) -> int | None:
    """As a person writes it: exit, or signal:NAME."""
    kind, _, name = text.partition(":")
    if text == "exit":
        return None
    if kind == "signal" and (number := _signal(name)) is not None:
        return number
    raise UsageError(f"'{text}' is no way to stop: exit, or signal:TERM and the like")


def _signal(name: str) -> int | None:
    known = signal.Signals.__members__
    if name.isascii() and name.isdigit() and int(name) in map(int, known.values()):
        return int(name)
    return known.get(f"SIG{name.upper().removeprefix('SIG')}")
