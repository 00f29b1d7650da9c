# SPDX-License-Identifier: Apache-2.0
"""One line that changes while something goes on, for a person at a terminal."""

import sys
from time import monotonic

from eitherway.closing import Closing

_EVERY = 0.1  # seconds: more often nobody can read


class Line(Closing):
    """On standard error, and only where that is a terminal; gone when the block is left."""

    def __init__(self) -> None:
        self._shown = ""
        self._at = 0.0
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def show(self, words: str) -> None:
        """In the place of the last words."""
        if self._on and monotonic() - self._at >= _EVERY:
            self._at = monotonic()
            self._write(words)

    def _write(self, words: str) -> None:
        padding = " " * max(len(self._shown) - len(words), 0)
        sys.stderr.write(f"\r{words}{padding}")
        sys.stderr.flush()
        self._shown = words

    def close(self) -> None:
        """Leave the line empty."""
        if self._shown:
            self._write("")
            sys.stderr.write("\r")
            self._shown = ""
