# SPDX-License-Identifier: Apache-2.0
"""Who asks for the time gets it from the tracer: the same as from the kernel."""

import errno
import os
import struct
import sys
from pathlib import Path

import pytest
from tests.processes.harness import calls, ran

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.log import CallFlag, DataKind, Log

ASKS = "import time; print(*(time.clock_gettime_ns(int(c)) for c in '{}'.split()))"
REAL, MONOTONIC, OF_PROCESS, OF_THREAD, RAW, BOOT = 0, 1, 2, 3, 4, 7
MODES = pytest.mark.parametrize("seed", [None, 0], ids=["as they come", "ordered"])


def answers(log: Log) -> list[tuple[int, int]]:
    """Clock and nanoseconds, of each call that was written down with what it brought."""
    every = calls(log)
    return [
        (every[item.call].arguments[0], seconds * 10**9 + rest)
        for item in log.data
        if item.kind == DataKind.CAME_FROM_OUTSIDE and every[item.call].name == "clock_gettime"
        for seconds, rest in [struct.unpack("qq", item.data)]
    ]


@MODES
def test_what_is_told_is_written_down(box: Sandbox, work: Path, seed: int | None) -> None:
    clocks = [REAL, MONOTONIC, OF_PROCESS, OF_THREAD, RAW, BOOT]
    script = ASKS.format(" ".join(map(str, clocks)))
    done = ran(box, work, sys.executable, "-c", script, seed=seed)
    told = list(zip(clocks, map(int, done.out.beginning.split()), strict=True))
    known = answers(done.log)
    assert [pair for pair in known if pair in told] == told
    assert all(call.result == 0 for call in calls(done.log, "clock_gettime"))


@MODES
def test_it_is_the_time(box: Sandbox, work: Path, seed: int | None) -> None:
    script = ASKS.format(f"{REAL} {MONOTONIC} {OF_PROCESS}")
    done = ran(box, work, sys.executable, "-c", script, seed=seed)
    real, monotonic, own = map(int, done.out.beginning.split())
    hour = 3600 * 10**9
    assert abs(real - int(os.stat(work).st_mtime_ns)) < hour
    assert monotonic < real
    assert 0 < own < hour


def test_a_wrong_address_is_refused_by_the_kernel(box: Sandbox, work: Path) -> None:
    script = (
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
        "print(libc.syscall(228, 1, 8), ctypes.get_errno())"
    )
    done = ran(box, work, sys.executable, "-c", script, seed=None)
    assert done.out.beginning.split() == [b"-1", str(errno.EFAULT).encode()]
    (asked,) = [call for call in calls(done.log, "clock_gettime") if call.arguments[1] == 8]
    assert asked.result == -errno.EFAULT


def test_time_goes_on_by_what_was_slept_in_memory_too(box: Sandbox, work: Path) -> None:
    """Perl tells how long it slept by what `time` wrote there."""
    done = ran(box, work, "perl", "-e", "print sleep(100) >= 100")
    assert done.out.beginning == b"1"


def test_who_has_other_times_is_told_those(box: Sandbox, work: Path) -> None:
    ahead = 10**9  # seconds
    words = ["unshare", "--fork", "--time", "--boottime", str(ahead)]
    done = ran(box, work, *words, sys.executable, "-c", ASKS.format(BOOT), seed=None)
    if done.log.ending.status:
        pytest.skip("there are no namespaces of times here")
    (told,) = map(int, done.out.beginning.split())
    assert told > ahead * 10**9
    asked = [call for call in calls(done.log, "clock_gettime") if call.arguments[0] == BOOT]
    assert not any(call.flags & CallFlag.NOT_SEEN_TO_END for call in asked)
