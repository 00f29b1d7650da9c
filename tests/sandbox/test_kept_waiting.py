# SPDX-License-Identifier: Apache-2.0
"""What a process waits for a processor is known, and no run is a hang for it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import fsum
from pathlib import Path
from time import monotonic

import pytest

from eitherway.sandbox.processes import kept_waiting, worked
from eitherway.worlds.threads.course import Ended, Plan

SPIN = ["sh", "-c", "while :; do :; done"]
ENOUGH = 0.05  # seconds


@contextmanager
def on_one_processor(count: int) -> Iterator[list[int]]:
    """So many processes that compute, and get one processor between them."""
    processor = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        spinning = [stack.enter_context(subprocess.Popen(SPIN)) for _ in range(count)]
        for process in spinning:
            stack.callback(process.kill)
            os.sched_setaffinity(process.pid, {processor})
        yield [process.pid for process in spinning]


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the kernel does not count")
def test_who_shares_a_processor_is_kept_waiting() -> None:
    with on_one_processor(2) as both:
        began = monotonic()
        while min(kept_waiting(one, monotonic() - began) for one in both) < ENOUGH:
            pass  # it comes: both compute


def test_those_who_keep_each_other_waiting_are_at_work() -> None:
    with on_one_processor(3) as spinning:
        while sum(map(worked, spinning)) < ENOUGH:
            pass
        seconds = fsum(map(worked, [os.getpid(), *spinning]))
        assert kept_waiting(os.getpid(), seconds) == 0


def test_a_process_that_is_gone_waits_for_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert kept_waiting(process.pid, 1) == 0
    assert kept_waiting(0, 1) == 0


@pytest.mark.parametrize(("waited", "over"), [(0.0, True), (5.0, False)])
def test_what_a_run_waited_is_not_its_own_time(waited: float, over: bool) -> None:
    began = monotonic() - 3
    deadline, ended = Plan(timeout=2).deadline(began, waited)
    assert (monotonic() > deadline, ended) == (over, Ended.TIMEOUT)


def test_the_end_of_all_runs_waits_for_nobody() -> None:
    assert Plan(timeout=2, until=7).deadline(6, waited=100) == (7, Ended.CUT_OFF)
