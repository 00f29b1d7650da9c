# SPDX-License-Identifier: Apache-2.0
"""Signals, streams, listeners, parents: each kind of race is found, and its right form is not."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.processes.harness import LOST_UPDATE, PATIENCE, PROGRAMS, compiled, folder, launch, ran

from eitherway.detect import detect_all
from eitherway.find import trees
from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.finding import Finding
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Class, Kind
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.known import MAPPED
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.plan import Plans, Turns
from eitherway.worlds.processes.run import Follow, Limits, run
from eitherway.worlds.processes.traced import Traced, traced

LOUD = {Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS}


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "kinds.c", place / "kinds"))


def checked(work: Path, *command: str) -> Checked:
    with TreeSearch(launch(work, *command), Store(work / "store"), jobs=2) as search:
        return search.check(600.0, lambda _: None)


@pytest.mark.usefixtures("box")
def test_looking_for_races_is_not_trying_them(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large tree it may take longer than what is given for that."""
    clock = [0.0]

    def slowly(trace: Trace) -> list[Race]:
        clock[0] += 100
        return detect_all(trace)

    monkeypatch.setattr(trees, "monotonic", lambda: clock[0])
    monkeypatch.setattr(trees, "detect_all", slowly)
    words = launch(work, "sh", "-c", LOST_UPDATE)
    with TreeSearch(words, Store(work / "store")) as search:
        found = search.check(1.0, lambda _: None)
    assert found.tried == found.races > 0


def followed(box: Sandbox, work: Path, log: Log, *command: str) -> Log:
    """The same run again, call by call."""
    follow = Follow(Plans(log), Turns(range(len(log.calls))))
    with TemporaryDirectory(dir="/dev/shm") as into:
        return run(
            launch(work, *command), box, Path(into), seed=0, follow=follow, limits=Limits(PATIENCE)
        ).log


def loud(found: Checked) -> list[Finding]:
    return [finding for finding in found.findings.values() if finding.klass in LOUD]


def calls(finding: Finding) -> set[str]:
    return {operation.op for operation in finding.operations}


@pytest.mark.usefixtures("box")
def test_a_signal_that_comes_too_early_kills_or_is_lost(program: str, work: Path) -> None:
    found = {frozenset(calls(f)): f for f in loud(checked(work, program, "signalled"))}
    killed, lost = found[frozenset({"kill", "rt_sigaction"})], found[frozenset({"kill", "pause"})]
    assert "exit status 138" in killed.consequence
    assert "SIGUSR1" in {operation.part for operation in killed.operations}
    assert "nothing in the program can go on" in lost.consequence


@pytest.mark.usefixtures("box")
def test_who_is_killed_before_it_has_done_anything_is_let_live(work: Path) -> None:
    """The older process goes first: in the recorded run nothing is said of the signal."""
    child = "sh -c 'trap \"exit 0\" TERM; while :; do sleep 1; done'"
    script = f"{child} & kill $!; wait $! 2> /dev/null; echo $?"
    (finding,) = loud(checked(work, "sh", "-c", script))
    assert calls(finding) == {"kill", "rt_sigaction"}
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert finding.explanation[-1].startswith("Until a process has said what is to be done with")
    assert not loud(checked(work, "sh", "-c", "sleep 9 & kill $!; wait; true"))


@pytest.mark.parametrize(
    ("what", "kind", "made"),
    [
        ("writers", Kind.WAIT_WAKEUPS, {"write"}),
        ("readers", Kind.WAKEUP_WAITS, {"read"}),
        ("comers", Kind.WAIT_WAKEUPS, {"connect"}),
        ("senders", Kind.WAIT_WAKEUPS, {"msgsnd"}),
        ("ports", Kind.WAIT_WAKEUPS, {"connect"}),
    ],
)
@pytest.mark.usefixtures("box")
def test_who_is_first(program: str, work: Path, what: str, kind: Kind, made: set[str]) -> None:
    (finding,) = loud(checked(work, program, what))
    assert (finding.kind, finding.klass) == (kind, Class.SPEC_VIOLATED)
    (call,) = made
    assert finding.consequence.startswith(f"When the {call} by process")
    assert f"comes before the {call} by process" in finding.consequence


@pytest.mark.usefixtures("box")
def test_who_asks_whether_something_is_ready_may_ask_too_early(program: str, work: Path) -> None:
    (finding,) = loud(checked(work, program, "too early"))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert calls(finding) == {"poll", "write"}
    assert {operation.object for operation in finding.operations} == {"readiness"}


@pytest.mark.parametrize("what", ["poll alone", "epoll alone"])
@pytest.mark.usefixtures("box")
def test_of_several_that_are_polled_another_may_be_the_only_one_ready(
    program: str, work: Path, what: str
) -> None:
    (finding,) = loud(checked(work, program, what))
    assert (finding.kind, finding.klass) == (Kind.LOAD_STORE, Class.SPEC_VIOLATED)
    assert "made ready, and that alone, the program ends with exit status 1" in finding.consequence
    assert finding.explanation[-1].endswith("what must come first is to be waited for alone.")


@pytest.mark.usefixtures("box")
def test_a_signal_that_interrupts_a_call_may_come_behind_it(program: str, work: Path) -> None:
    found = checked(work, program, "interrupted")
    (finding,) = [f for f in loud(found) if calls(f) == {"read", "kill", "write"}]
    assert (finding.kind, finding.klass) == (Kind.WAIT_WAKEUPS, Class.SPEC_VIOLATED)
    assert "before the signal of the kill by process" in finding.consequence
    assert "the program ends with exit status 1" in finding.consequence


def test_an_interrupted_call_is_made_again_in_its_place(
    program: str, work: Path, box: Sandbox
) -> None:
    done = ran(box, work, program, "interrupted")
    assert done.log.ending.status == 0
    box.reset()
    again = followed(box, work, done.log, program, "interrupted")
    assert (again.ending.left_plan, again.ending.status) == ("", 0)


def test_a_port_that_the_kernel_chooses_is_the_same_in_every_run(
    program: str, work: Path, box: Sandbox
) -> None:
    ports = set()
    for _ in range(2):
        ports.add(ran(box, work, program, "ports").out.beginning)
        box.reset()
    assert len(ports) == 1


TOLD_BY = ["poll", "select", "epoll", "splice", "tee", "vmsplice", "message", "semaphore"]
TOLD_BY += ["pidfd", "inotify"]


@pytest.mark.parametrize("way", TOLD_BY)
def test_who_is_told_comes_after(program: str, work: Path, box: Sandbox, way: str) -> None:
    """The check of the file is behind its making, by what was read, or only found to be there."""
    trace = traced(ran(box, work, program, way).log, str(work))
    made, looked = (
        next(n for n in range(len(trace.trace)) if _is(trace, n, name))
        for name in ("openat", "access")
    )
    assert Order.of(trace.trace).before([made], [looked])[0]


def _is(trace: Traced, operation: int, name: str) -> bool:
    call = int(trace.call[operation])
    about = trace.describe(operation)
    return call >= 0 and trace.name(call) == name and about.variable.endswith("/f")


@pytest.mark.usefixtures("box")
def test_the_parent_that_a_process_has_depends_on_when_it_asks(program: str, work: Path) -> None:
    found = checked(work, program, "orphan")
    names = {name for finding in found.findings.values() for name in calls(finding)}
    assert found.races
    assert names <= {"getppid", "exit_group"}


@pytest.mark.parametrize(
    "what", ["signalled well", "told by socket", "told by eventfd", "threads", "slept"]
)
@pytest.mark.usefixtures("box")
def test_what_is_in_order_is_left_in_peace(program: str, work: Path, what: str) -> None:
    assert not loud(checked(work, program, what))


def test_who_sleeps_finds_the_clock_put_on(program: str, work: Path, box: Sandbox) -> None:
    assert ran(box, work, program, "slept").log.ending.status == 0


def test_who_waits_until_a_moment_of_such_a_clock_waits_no_longer(
    program: str, work: Path, box: Sandbox
) -> None:
    """Also in a replay, where the clock is that of the recording."""
    done = ran(box, work, program, "deadlines")
    assert (done.log.ending.hangs, done.log.ending.status) == ("", 0)
    box.reset()
    assert followed(box, work, done.log, program, "deadlines").ending.status == 0


def test_calls_without_a_meaning_are_counted(work: Path, box: Sandbox) -> None:
    script = "use POSIX; POSIX::setsid() for 1..3"
    log = ran(box, work, "perl", "-e", script).log
    assert log.ending.calls_not_modelled == {"setsid": 3}


def test_who_asks_for_a_position_does_not_change_it(work: Path, box: Sandbox) -> None:
    asks = "perl -e 'sysseek(STDIN, 0, 1)' <&3 &"
    sets = asks.replace("0, 1", "1, 0")
    told = []
    for two in (asks + asks, asks + sets):
        log = ran(box, work, "sh", "-c", f"echo word > f; exec 3< f; {two} wait").log
        trace = traced(log, str(work))
        calls = {trace.name(int(trace.call[n])) for n in _racing(trace)}
        told.append("lseek" in calls)
    assert told == [False, True]


def _racing(trace: Traced) -> list[int]:
    every = (number for race in detect_all(trace.trace) for number in race.operations)
    return [number for number in every if trace.call[number] >= 0]


@pytest.mark.usefixtures("box")
def test_two_that_map_a_file_are_left_out(work: Path) -> None:
    """Either finds the same there; who reads or writes it beside one that maps it is tried."""
    maps = 'import mmap; f = open("f", "r+"); mmap.mmap(f.fileno(), 4)'
    both = f"/usr/bin/python3 -c '{maps}' & /usr/bin/python3 -c '{maps}' & wait"
    found = checked(work, "sh", "-c", f"echo word > f; {both}")
    assert MAPPED in found.left_out
    assert found.findings == {}
    beside = f"/usr/bin/python3 -c '{maps}' & echo more > f & wait"
    assert checked(work, "sh", "-c", f"echo word > f; {beside}").races > 0
