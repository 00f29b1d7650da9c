# SPDX-License-Identifier: Apache-2.0
"""A run under way, as those see it who decide what has to happen until it is over."""

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from typing import Protocol

from eitherway.closing import Closing
from eitherway.sandbox.memory import taken
from eitherway.worlds.threads.captured import Capture, Captured
from eitherway.worlds.threads.shared import refused

STOP = 32
"""The signal with which the runtime ends a recorded run at its next decision point, exactly there:
native/runtime/signals.h has it too. No program can block, ignore or handle it."""

Sink = Callable[[bytes], None]
_AT_ONCE = 1 << 16  # bytes
_LOOK_EVERY = 0.002  # seconds
_QUIET = 5  # looks in a row


class Progress(Protocol):
    """How far a run has come, by its own account."""

    def waits(self) -> int:
        """How often it had nothing to do but to wait for the outside."""

    def reached(self) -> int:
        """The step of its last decision point."""

    def leave_alone(self) -> None:
        """Tell it that nobody outside has anything more to say."""


class Target(Progress, Protocol):
    """A run."""

    @property
    def process(self) -> int:
        """Its number as we see it; 0 when it has none any more."""

    def wait(self, seconds: float | None, also: Sequence[int]) -> bool:
        """Until it is over, which is True, so long, or until one of the descriptors is readable."""

    def wrote(self) -> int:
        """Bytes of output so far."""

    def written(self) -> tuple[Captured, Captured]:
        """Standard output and standard error so far."""

    def stored(self) -> int | None:
        """Bytes of output that lie in memory until the run is over; None: they are handed on."""

    def taken(self) -> int:
        """Bytes of memory, with files that lie in it."""


def send(target: Target, number: int) -> None:
    """Send it a signal; nothing when it is gone."""
    process = target.process  # asked once: it may go meanwhile, and 0 is everybody around us
    if process:
        with suppress(ProcessLookupError):
            os.kill(process, number)


class Started(Closing):
    """A program that was started with pipes for its output."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        number: Callable[[], int],
        progress: Progress | None = None,
        show: tuple[Sink, Sink] | None = None,
    ) -> None:
        """`process` may be a door to the program; `number` tells that of the program itself."""
        self._process = process
        self._number = number
        self._progress = progress
        self._show = show
        self._captures = (Capture(), Capture())
        self._stack = ExitStack()
        self._selector = self._stack.enter_context(selectors.DefaultSelector())
        for index, stream in enumerate((process.stdout, process.stderr)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, index)
        try:
            self._end = os.pidfd_open(process.pid)
        except PermissionError as error:
            raise refused("pidfd_open", error) from None
        self._stack.callback(os.close, self._end)
        self._selector.register(self._end, selectors.EVENT_READ)

    @property
    def process(self) -> int:
        """Its number."""
        return self._number() if self._process.poll() is None else 0

    @property
    def status(self) -> int:
        """How it ended, as subprocess tells it."""
        return self._process.wait()

    @property
    def streams(self) -> list[int]:
        """Descriptors that are readable when there is something to look at."""
        return [key.fd for key in self._selector.get_map().values()]

    def waits(self) -> int:
        """None, of a program that gives no account."""
        return self._progress.waits() if self._progress else 0

    def reached(self) -> int:
        """The same."""
        return self._progress.reached() if self._progress else 0

    def leave_alone(self) -> None:
        """If it gives an account, it also listens."""
        if self._progress:
            self._progress.leave_alone()

    def wait(self, seconds: float | None, also: Sequence[int] = ()) -> bool:
        """Hands on what it writes meanwhile."""
        for descriptor in also:
            self._selector.register(descriptor, selectors.EVENT_READ)
        try:
            ready = self._selector.select(seconds)
        finally:
            for descriptor in also:
                self._selector.unregister(descriptor)
        for key, _ in ready:
            if key.data is not None:
                self._read(key)
        return any(key.fd == self._end for key, _ in ready)

    def linger(self, busy: Callable[[], bool], seconds: float) -> None:
        """Behind its end, hand on what others still write while they are busy, but no longer.

        Who starts a program may seem to rest for a moment: so it is looked several times.
        """
        self._selector.unregister(self._end)
        until, quiet = monotonic() + seconds, 0
        while quiet < _QUIET and monotonic() < until:
            quiet = 0 if busy() else quiet + 1
            self.wait(_LOOK_EVERY)

    def drain(self) -> None:
        """Take what is still in the pipes: nobody is left who could write more."""
        for key in [key for key in self._selector.get_map().values() if key.data is not None]:
            while self._read(key):
                pass

    def _read(self, key: selectors.SelectorKey) -> bool:
        try:
            data = os.read(key.fd, _AT_ONCE)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(key.fileobj)
            return False
        self._captures[key.data].add(data)
        if self._show:
            self._show[key.data](data)
        return True

    def wrote(self) -> int:
        """All that was read."""
        return sum(capture.size for capture in self._captures)

    def written(self) -> tuple[Captured, Captured]:
        """So far."""
        return self._captures[0].captured(), self._captures[1].captured()

    def stored(self) -> None:
        """It is handed on."""

    def taken(self) -> int:
        """By its processes."""
        return taken(self.process)

    def close(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            send(self, signal.SIGKILL)
            self._process.kill()
            self._process.wait()
        self._stack.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
