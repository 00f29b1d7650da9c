# SPDX-License-Identifier: Apache-2.0
"""Lets the lines of outputs through that no expression matches; a program of its own.

Python gives nothing up while it looks for a match, and some expressions look for longer than
anybody lives. So this is another process than the tool, and the kernel ends it when one output has
taken too long. It needs nothing of the tool's: `sieve.py SECONDS EXPRESSION...`
"""

import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import BinaryIO

BEGUN = b"+"  # with an expression; a size and what is left come behind that of the last one
SIZE = 8  # bytes, before each output and before what is left of it


def main(seconds: float, patterns: Sequence["re.Pattern[bytes]"]) -> None:
    """Until nobody asks any more."""
    asked, told = sys.stdin.buffer, sys.stdout.buffer
    while size := asked.read(SIZE):
        data = asked.read(int.from_bytes(size))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        left = _left(data, patterns, told)
        signal.setitimer(signal.ITIMER_PROF, 0)
        told.write(len(left).to_bytes(SIZE))
        told.write(left)
        told.flush()


def _left(data: bytes, patterns: Sequence["re.Pattern[bytes]"], told: BinaryIO) -> bytes:
    lines = data.splitlines(keepends=True)
    for pattern in patterns:
        told.write(BEGUN)
        told.flush()
        lines = [line for line in lines if not pattern.search(line)]
    return b"".join(lines)


if __name__ == "__main__":
    main(float(sys.argv[1]), [re.compile(os.fsencode(word)) for word in sys.argv[2:]])
