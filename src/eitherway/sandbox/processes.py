# SPDX-License-Identifier: Apache-2.0
"""Processes as the kernel tells of them, and the end of those that a command left behind."""

import ctypes
import os
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import fsum
from pathlib import Path

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37
_MOST_OF = 0.98


def children(process: int) -> list[int]:
    """Of all its threads; none for a process that is gone."""
    if not _are_listed():
        return children_by_search(process)
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ends just now
    return found


@cache
def _are_listed() -> bool:
    return os.path.exists("/proc/thread-self/children")


def children_by_search(process: int) -> list[int]:
    """The same on kernels without CONFIG_PROC_CHILDREN."""
    numbers = (int(name) for name in os.listdir("/proc") if name.isdecimal())
    return [number for number in numbers if _status(number)[1:2] == [str(process)]]


def descendants(process: int) -> Iterator[int]:
    """The process, its children, theirs, and so on."""
    yield process
    for child in children(process):
        yield from descendants(child)


def resident(process: int) -> int:
    """Bytes of memory that it has; what it shares with others is counted for each of them."""
    try:
        text = Path(f"/proc/{process}/statm").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def first_to_go(process: int) -> None:
    """When memory runs out, the kernel ends it, and what it starts, before anything else."""
    with suppress(OSError):
        Path(f"/proc/{process}/oom_score_adj").write_text("1000", encoding="ascii")


def has_ended(process: int) -> bool:
    """Whether it does nothing any more, reaped or not."""
    return _status(process)[:1] in ([], ["Z"], ["X"])


def is_running(process: int) -> bool:
    """Whether it is at work, or would be if there were a processor for it."""
    return _status(process)[:1] in (["R"], ["D"])


def is_stopped(process: int) -> bool:
    """Whether a signal has stopped it, and it waits for another."""
    return _status(process)[:1] == ["T"]


def born(process: int) -> int:
    """When it began, in ticks since the machine did; 0 for a process that is gone."""
    return int((_status(process)[19:20] or ["0"])[0])


def kept_waiting(process: int, seconds: float) -> float:
    """Of so many, those in which it or a descendant was ready and others had the processors.

    0 where that is not known. When they keep each other waiting, they are at work all the time; and
    nobody waits for all of it: of who came and went meanwhile it is not known what they did.
    """
    if not process:
        return 0.0
    family = list(descendants(process))
    rested = min(seconds - fsum(map(worked, family)), _MOST_OF * seconds)
    return max(0.0, min(sum(map(_waited, family)), rested))


def worked(process: int) -> float:
    """Seconds of the processor, with those of its children that it has waited for."""
    return sum(map(int, _status(process)[11:15])) / os.sysconf("SC_CLK_TCK")


def _waited(process: int) -> float:
    """From what the kernel counts: nanoseconds at work, nanoseconds kept waiting, turns."""
    try:
        words = Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()
    except OSError:  # it is gone, or the kernel does not count
        return 0.0
    return int(words[1]) / 1e9


def _status(process: int) -> list[str]:
    """State, parent and so on; nothing for a process that is gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()


@contextmanager
def adopting() -> Iterator[None]:
    """Processes below this one that lose their parents become its children, and can be found."""
    libc = ctypes.CDLL(None)
    before = ctypes.c_int()
    libc.prctl(_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def end_children(but: Collection[int] = ()) -> int:
    """End all children of this process but these, and theirs; how many were still at work."""
    ended = 0
    while strays := [pid for pid in children(os.getpid()) if pid not in but]:
        for pid in strays:
            ended += not has_ended(pid)
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)  # its children are ours now
    return ended
