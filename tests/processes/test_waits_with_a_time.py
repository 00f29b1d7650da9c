# SPDX-License-Identifier: Apache-2.0
"""Calls that wait, until a time or for another: how they are followed."""

from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, calls, compiled, eitherway, ran

from eitherway.sandbox.box import Sandbox

IN_VAIN = [
    *("poll", "ppoll", "select", "epoll", "recv", "sigtimedwait", "semtimedop", "resumed"),
]


@pytest.mark.parametrize("kind", IN_VAIN)
def test_a_wait_whose_time_was_over_is_replayed(work: Path, kind: str) -> None:
    program = compiled(PROGRAMS / "timed.c", work / "timed")
    recorded = eitherway(work, "record", "--", str(program), kind)
    assert (recorded.returncode, recorded.stdout) == (0, "0\n"), recorded.stderr
    replayed = eitherway(work, "replay")
    assert replayed.returncode == 0, replayed.stderr
    assert replayed.stdout == "0\n"


def test_a_wait_that_a_signal_broke_off_is_one_call(box: Sandbox, work: Path) -> None:
    """The kernel goes on with it under another number; what it found then is what it found."""
    program = compiled(PROGRAMS / "timed.c", work / "timed")
    done = ran(box, work, str(program), "told")
    assert done.out.beginning == b"0\n"
    assert [call.result for call in calls(done.log, "poll")] == [1]


def test_who_looks_again_and_again_does_not_keep_back_who_has_what_it_waits_for(
    box: Sandbox, work: Path
) -> None:
    """Each made 2,048 calls before, and waited as often: ten seconds."""
    program = compiled(PROGRAMS / "baton.c", work / "baton")
    log = ran(box, work, str(program)).log
    assert log.ending.status == 0
    assert len(calls(log, "getppid")) == 50
    assert len(calls(log, "clock_gettime")) < 2048


def test_who_waited_when_a_signal_came_waits_in_a_replay(work: Path) -> None:
    """Else the kernel gives the signal to another thread of its process."""
    program = compiled(PROGRAMS / "handled.c", work / "handled")
    recorded = eitherway(work, "record", "--", str(program))
    assert (recorded.returncode, recorded.stdout) == (0, "1\n"), recorded.stderr
    replayed = eitherway(work, "replay")
    assert (replayed.returncode, replayed.stdout) == (0, "1\n"), replayed.stderr
