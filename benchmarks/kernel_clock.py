# SPDX-License-Identifier: Apache-2.0
"""How long programs in the kernel run, by the kernel's own clock, for whichever process.

While it is on, each run of a program costs two looks at the clock more; some 50 ns of them are in
every figure.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eitherway.errors import Unavailable

_BPF, _ENABLE_STATS = 321, 32  # of x86-64; of the call


@dataclass(frozen=True, slots=True)
class Ran:
    """A program: nanoseconds, and how often."""

    time: int
    runs: int

    def __sub__(self, before: "Ran") -> "Ran":
        """Since then."""
        return Ran(self.time - before.time, self.runs - before.runs)


@contextmanager
def running() -> Iterator[None]:
    """As long as this is open."""
    which = ctypes.create_string_buffer(4)  # 0: how long they run
    descriptor = ctypes.CDLL(None, use_errno=True).syscall(
        _BPF, _ENABLE_STATS, which, ctypes.sizeof(which)
    )
    if descriptor < 0:
        raise Unavailable(f"programs cannot be measured: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(descriptor)


def ran() -> list[Ran]:
    """Those that our children hold, in the order in which they were loaded."""
    found = {}
    for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split():
        for file in Path(f"/proc/{child}/fdinfo").iterdir():
            fields = _fields(file)
            if "run_cnt" in fields:
                found[int(file.name)] = Ran(int(fields["run_time_ns"]), int(fields["run_cnt"]))
    return [found[descriptor] for descriptor in sorted(found)]


def _fields(file: Path) -> dict[str, str]:
    try:
        lines = file.read_text("ascii").splitlines()
    except FileNotFoundError:  # closed meanwhile: it was no program, those are kept
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
