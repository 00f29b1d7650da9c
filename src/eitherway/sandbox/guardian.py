# SPDX-License-Identifier: Apache-2.0
"""Ends what a run has started when the tool is killed, and cannot do it itself any more.

The first process of a run ends with the tool, but its children may have other parents by then, and
sessions of their own. What they cannot lose is the memory of the run: they have it mapped, or were
told its path. A process of ours waits for the end of a pipe that only the tool has, and then looks
for both.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from eitherway.sandbox.processes import born

_OVER = b"."


@contextmanager
def guarded(memory: int, path: str) -> Iterator[None]:
    """While this lasts, nobody who has the memory outlives this process."""
    inode = os.fstat(memory).st_ino
    reading, writing = os.pipe2(os.O_CLOEXEC)
    guardian = os.fork()
    if not guardian:
        _guard(reading, f" {inode} ".encode(), path.encode())
    os.close(reading)
    try:
        yield
    finally:
        with suppress(BrokenPipeError):  # somebody has killed it
            os.write(writing, _OVER)
        os.close(writing)
        os.waitpid(guardian, 0)


def _guard(reading: int, inode: bytes, path: bytes) -> None:
    """Never comes back: this is another process, which must not do anything of the tool's."""
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.dup2(reading, 0)
        os.closerange(1, os.sysconf("SC_OPEN_MAX"))
        if os.read(0, 1) != _OVER:
            while _end_all(inode, path):
                pass
    finally:
        os._exit(0)


def _end_all(inode: bytes, path: bytes) -> bool:
    """Whether there was one: it may have made another meanwhile."""
    began = born(os.getpid())
    numbers = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    younger = (number for number in numbers if born(number) >= began)
    found = [number for number in younger if _belongs(number, inode, path)]
    for number in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)
    return bool(found)


def _belongs(process: int, inode: bytes, path: bytes) -> bool:
    """Asked only of those that are younger than we: the kernel lets who asks wait for others."""
    try:
        if path in Path(f"/proc/{process}/environ").read_bytes():
            return True
        maps = Path(f"/proc/{process}/maps").read_bytes().splitlines()
    except OSError:  # it is gone, or somebody else's
        return False
    return any(inode in line and b"/memfd:eitherway-family" in line for line in maps)
