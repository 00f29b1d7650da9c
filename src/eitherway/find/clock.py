# SPDX-License-Identifier: Apache-2.0
"""The time of a search: what of it goes to confirming, and that it ends whatever is under way."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import NoReturn

GRACE = 2.0  # seconds beyond its time that a search has to come to its end

Now = Callable[[], float]


class OutOfTime(BaseException):
    """The search has to end now. Like KeyboardInterrupt it is no error that anybody handles."""


class Clock:
    """Of one search; without a limit there is no hurry, and nothing depends on the time."""

    def __init__(self, seconds: float | None, now: Now = monotonic) -> None:
        self._now = now
        self._since = now()
        self._seconds = seconds
        self._confirmed = 0.0

    @property
    def until(self) -> float | None:
        """The moment at which the time is over."""
        return None if self._seconds is None else self._since + self._seconds

    @property
    def is_over(self) -> bool:
        """Whether it is."""
        return self.until is not None and self._now() >= self.until

    @property
    def is_late(self) -> bool:
        """Whether confirming takes more than half: then what is known is not confirmed again."""
        passed = self._now() - self._since
        return self._seconds is not None and self._confirmed > passed / 2

    def affords(self, seconds: float) -> bool:
        """Whether one thing may take so long: not more than a quarter of all."""
        return self._seconds is None or seconds <= self._seconds / 4

    @contextmanager
    def confirming(self) -> Iterator[None]:
        """For as long as it takes."""
        begun = self._now()
        yield
        self._confirmed += self._now() - begun

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """What goes on in here when the time is over, and the grace, ends with `OutOfTime`."""
        if self.until is None:
            yield
            return
        with alarm(self.until + GRACE - self._now()):
            yield


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """`OutOfTime` after so long, unless the block is left before.

    Python hears signals in its main thread alone; elsewhere there is no alarm. A single operation
    of NumPy is not interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(_number: int, _frame: FrameType | None) -> NoReturn:
    raise OutOfTime
