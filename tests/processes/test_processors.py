# SPDX-License-Identifier: Apache-2.0
"""Who makes calls is kept on the tracer's processor; who computes beside others is not."""

import os
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, compiled, ran

from eitherway.sandbox.box import Sandbox

SEVERAL = len(os.sched_getaffinity(0)) > 1
pytestmark = pytest.mark.skipif(not SEVERAL, reason="there is one processor")


def test_one_that_makes_calls_is_kept_on_one(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "grep", "Cpus_allowed_list", "/proc/self/status", seed=None)
    assert done.out.beginning.split()[1].isdigit()


def test_who_asks_has_all(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "nproc; nproc", seed=None)
    assert done.out.beginning.split() == [str(len(os.sched_getaffinity(0))).encode()] * 2


def test_who_chooses_keeps_its_choice(box: Sandbox, work: Path) -> None:
    last = max(os.sched_getaffinity(0))
    script = f"taskset -c {last} grep Cpus_allowed_list /proc/self/status"
    done = ran(box, work, "sh", "-c", script, seed=None)
    assert done.out.beginning.split()[1] == str(last).encode()


@pytest.mark.parametrize("seed", [None, 0], ids=["as they come", "ordered"])
def test_two_that_compute_run_at_the_same_time(box: Sandbox, work: Path, seed: int | None) -> None:
    program = compiled(PROGRAMS / "beside.c", work / "beside")
    done = ran(box, work, str(program), seed=seed)
    assert done.log.ending.status == 0
    assert not done.log.ending.endless
