# SPDX-License-Identifier: Apache-2.0
"""Shared memory, queues of POSIX, descriptors of processes: what puts calls in order, and races."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, compiled, folder, ran
from tests.processes.harness import calls as every_call
from tests.processes.test_kinds_of_races import calls, checked, followed, loud

from eitherway.model.order import Order
from eitherway.model.words import Class, Kind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.traced import Traced, traced

IN_MEMORY = ["semaphore", "named semaphore", "condition"]


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "told.c", place / "told"))


def _at_file(trace: Traced, name: str) -> int:
    return next(
        number
        for number, call in enumerate(trace.call.tolist())
        if call >= 0 and trace.name(call) == name and trace.describe(number).variable.endswith("/f")
    )


SEVERAL = ["several datagrams", "several in a stream", "several packets"]


@pytest.mark.parametrize(
    "way", [*IN_MEMORY, "queue", "inotify", "port", "socket", "epoll", *SEVERAL]
)
def test_who_is_told_comes_after(program: str, work: Path, box: Sandbox, way: str) -> None:
    done = ran(box, work, program, way)
    assert done.log.ending.status == 0
    trace = traced(done.log, str(work))
    made, looked = _at_file(trace, "openat"), _at_file(trace, "access")
    assert Order.of(trace.trace).before([made], [looked])[0]
    box.reset()
    again = followed(box, work, done.log, program, way)
    assert (again.ending.left_plan, again.ending.status) == ("", 0)


@pytest.mark.usefixtures("box")
def test_what_is_in_order_does_not_race(program: str, work: Path) -> None:
    found = checked(work, program, "condition")
    assert (found.races, found.findings) == (0, {})


def test_a_wait_by_descriptor_is_for_one_child(program: str, work: Path, box: Sandbox) -> None:
    done = ran(box, work, program, "waited")
    assert done.log.ending.status == 0
    waits = every_call(done.log, "waitid")
    assert [call.waits_for_any for call in waits] == [False, False]


@pytest.mark.usefixtures("box")
def test_the_first_of_two_messages_is_a_matter_of_chance(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "senders"))
    assert (finding.kind, finding.klass) == (Kind.WAIT_WAKEUPS, Class.SPEC_VIOLATED)
    assert calls(finding) == {"mq_timedsend", "mq_timedreceive"}


@pytest.mark.usefixtures("box")
def test_a_queue_may_not_be_there_yet(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "opened too early"))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert {operation.variable for operation in finding.operations} == {"/told"}


@pytest.mark.usefixtures("box")
def test_a_signal_by_descriptor_may_come_too_early(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "signalled"))
    assert calls(finding) == {"pidfd_send_signal", "rt_sigaction"}
    assert "exit status 138" in finding.consequence


@pytest.mark.usefixtures("box")
def test_a_directory_that_two_work_in_is_changed_for_both(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "goes elsewhere"))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert calls(finding) == {"access", "chdir"}
    assert all("the working directory of" in each.touched for each in finding.operations)


@pytest.mark.usefixtures("box")
def test_who_asks_too_late_to_be_told_of_a_message(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "asks too late"))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert calls(finding) == {"mq_notify", "mq_timedsend"}
    assert "nothing in the program can go on" in finding.consequence


@pytest.mark.parametrize(("way", "sent"), [("lost", "sendto"), ("several lost", "sendmmsg")])
@pytest.mark.usefixtures("box")
def test_a_datagram_may_be_sent_before_anybody_is_there(
    program: str, work: Path, way: str, sent: str
) -> None:
    (finding,) = loud(checked(work, program, way))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert calls(finding) == {"bind", sent}
    assert {operation.variable for operation in finding.operations} == {"port 4711"}
    assert "who sends a datagram" in finding.explanation[-1]


@pytest.mark.usefixtures("box")
def test_who_begins_to_watch_when_all_is_done_is_told_nothing(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "watches too late"))
    assert calls(finding) == {"inotify_add_watch", "openat"}
    assert finding.klass is Class.SPEC_VIOLATED
