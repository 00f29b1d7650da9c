# SPDX-License-Identifier: Apache-2.0
"""Children of a process with threads: one thread hears from a child, another starts the next."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, calls, compiled, folder, ran
from tests.processes.test_kinds_of_races import checked

from eitherway.detect import detect_all
from eitherway.model.order import Order
from eitherway.model.words import Class
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.traced import traced

pytestmark = pytest.mark.usefixtures("box")


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "reaper.c", place / "reaper"))


@pytest.mark.parametrize("way", ["at-once", "in-order"])
def test_threads_are_in_the_order_seen(program: str, work: Path, box: Sandbox, way: str) -> None:
    """The first child ended, and a thread heard of it, before main started the second."""
    trace = traced(ran(box, work, program, way).log, str(work))
    assert trace.as_seen.any()
    racing = [number for race in detect_all(trace.trace) for number in race.operations]
    names = {trace.describe(number).variable for number in racing}
    assert str(work / "count") not in names


def test_an_order_that_threads_seem_to_make_is_tried(program: str, work: Path) -> None:
    (found,) = checked(work, program, "at-once").findings.values()
    assert found.klass is Class.OUTPUT_DIFFERS
    assert {operation.variable for operation in found.operations} == {str(work / "count")}
    assert "leads through threads of one process" in " ".join(found.explanation)


def test_an_order_that_they_make_is_not_told(program: str, work: Path) -> None:
    found = checked(work, program, "in-order")
    assert found.findings == {}
    assert found.one_order.total() == 3  # the other order did not come


def test_all_threads_of_the_older_process_go_first(program: str, work: Path, box: Sandbox) -> None:
    """The thread waits for the child before that has done anything."""
    log = ran(box, work, program, "at-once").log
    (reaper,) = {call.thread for call in calls(log, "dup")}
    (wait,) = (call for call in calls(log, "wait4") if call.thread == reaper)
    assert wait.when < min(call.when for call in calls(log, "pwrite64"))


def test_who_lends_its_memory_goes_on_behind_the_child(work: Path, box: Sandbox) -> None:
    """A branch that leaves out the child's program would not come to what its parent does then."""
    words = "/usr/bin/python3", "-c", "import subprocess; subprocess.Popen(['/bin/true']).wait()"
    trace = traced(ran(box, work, *words).log, str(work))
    (made,) = calls(trace.log, "vfork")
    (runs,) = (call for call in calls(trace.log, "execve") if call.thread == made.result)
    then = next(call for call in calls(trace.log)[made.number + 1 :] if call.thread == made.thread)
    ran_first = Order.of(trace.trace).before(trace.first[runs.number], trace.first[then.number])
    assert ran_first[0]
