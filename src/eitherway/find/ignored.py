# SPDX-License-Identifier: Apache-2.0
"""Lines of output that say nothing, by expressions of the user's, in a time that has an end."""

import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import BinaryIO, NoReturn, cast

from eitherway.errors import BadInput, Unavailable
from eitherway.find import sieve

_TIME = 5.0  # seconds of the processor for one output
_TRIES = 3


class Ignored:
    """Expressions, and the process that looks for them: one for all outputs, one at a time.

    It ends with this.
    """

    def __init__(self, patterns: tuple["re.Pattern[bytes]", ...]) -> None:
        self._words = [pattern.pattern for pattern in patterns]
        self._lock = threading.Lock()
        self._ready: tuple[subprocess.Popen[bytes], Callable[[], object]] | None = None
        self._endless: bytes | None = None  # the one that took too long: it would again

    def without(self, data: bytes) -> bytes:
        """The lines that none of them matches."""
        with self._lock:
            for _ in range(_TRIES):
                if self._endless is not None:
                    self._refuse(self._endless)
                if (left := self._asked(data)) is not None:
                    return left
        raise Unavailable("the process that looks for --ignore-output is killed again and again")

    def _asked(self, data: bytes) -> bytes | None:
        """None: it did not come to an answer. Who is interrupted does not hear a later one."""
        process, end = self._ready or self._started()
        self._ready = None
        try:
            begun, left = _exchange(process, data, len(self._words))
        except BaseException:
            end()
            raise
        if left is not None:
            self._ready = process, end
        elif process.wait() == -signal.SIGPROF:
            self._endless = self._words[begun - 1]
        return left

    def _started(self) -> tuple["subprocess.Popen[bytes]", Callable[[], object]]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", sieve.__file__, str(_TIME), *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the Ctrl-C of a terminal is not for it
        )
        return process, weakref.finalize(self, _end, process)

    def _refuse(self, expression: bytes) -> NoReturn:
        words = expression.decode(errors="replace")
        raise BadInput(
            f"--ignore-output '{words}' takes more than {_TIME:g} seconds for one output: is there "
            "a repetition of a repetition in it?"
        )


def _exchange(
    process: "subprocess.Popen[bytes]", data: bytes, count: int
) -> tuple[int, bytes | None]:
    """How many expressions it came to, and what is left; None when it has ended before."""
    asks, answers = cast(BinaryIO, process.stdin), cast(BinaryIO, process.stdout)
    try:
        asks.write(len(data).to_bytes(sieve.SIZE))
        asks.write(data)
        asks.flush()
    except BrokenPipeError:
        return 0, None
    begun = len(answers.read(count))
    size = answers.read(sieve.SIZE)
    left = answers.read(int.from_bytes(size))
    whole = len(size) == sieve.SIZE and len(left) == int.from_bytes(size)
    return begun, left if whole else None


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()
