# SPDX-License-Identifier: Apache-2.0
"""Children of a process with threads: one thread hears from a child, another starts the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, calls, compiled, folder, ran

from eitherway.sandbox.box import Sandbox

pytestmark = pytest.mark.usefixtures("box")


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "reaper.c", place / "reaper"))


def test_all_threads_of_the_older_process_go_first(program: str, work: Path, box: Sandbox) -> None:
    """The thread waits for the child before that has done anything."""
    log = ran(box, work, program, "at-once").log
    (reaper,) = {call.thread for call in calls(log, "dup")}
    (wait,) = (call for call in calls(log, "wait4") if call.thread == reaper)
    assert wait.when < min(call.when for call in calls(log, "pwrite64"))
