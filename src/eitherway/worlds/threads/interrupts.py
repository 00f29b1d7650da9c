# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, SIGTERM and SIGHUP while a program runs: told when asked, so that nothing is torn.

An exception would come between any two steps, also between reading output and keeping it.
"""

import os
import signal
import threading
from collections import deque
from types import FrameType
from typing import Any

from eitherway.closing import Closing

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts(Closing):
    """From its making to its closing they are kept here; the descriptor is readable then.

    Those that are ignored stay ignored. Python tells signals to its main thread alone; elsewhere
    there is nothing to be heard.
    """

    def __init__(self) -> None:
        self._came: deque[int] = deque()
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        self._wakeup = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        for number in _NUMBERS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, self._keep)

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        self._came.append(number)

    def fileno(self) -> int:
        """Readable when one came."""
        return self._reading

    def next(self) -> int | None:
        """The oldest that was not told yet."""
        if not self._came:
            return None
        if len(self._came) == 1:
            os.read(self._reading, 4096)
        return self._came.popleft()

    def close(self) -> None:
        """As it was before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
        os.close(self._reading)
        os.close(self._writing)
