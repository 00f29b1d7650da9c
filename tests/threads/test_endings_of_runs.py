# SPDX-License-Identifier: Apache-2.0
"""Runs that do not end by themselves: brought to an end, kept up to there, and no process left."""

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic
from typing import cast

import pytest

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Limits
from eitherway.sandbox.processes import children, has_ended
from eitherway.worlds.threads.course import Ended, Plan
from eitherway.worlds.threads.driver import Driver
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.ready import parse
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.server import Server
from eitherway.worlds.threads.target import STOP, Target, send

Program = Callable[[str], str]
BEGUN = parse("output:begun")
MIB = 1 << 20
RT_SIGACTION, RT_SIGPROCMASK = 13, 14


@pytest.fixture(autouse=True)
def _no_process_is_left() -> "Iterator[None]":
    before = children(os.getpid())
    yield
    assert children(os.getpid()) == before


@dataclass(frozen=True)
class OnceHeard(Plan):
    """The time of a run begins when it has written so much, however long that takes."""

    enough: int = len("begun")  # bytes
    came: list[int] = field(default_factory=list)
    since: list[float] = field(default_factory=list)

    def hear(self, text: bytes) -> None:
        self.came.append(len(text))
        if sum(self.came) >= self.enough and not self.since:
            self.since.append(monotonic())

    def deadline(self, began: float, waited: float = 0) -> tuple[float, Ended]:
        del began, waited
        soon = monotonic() + 0.01
        return Plan.deadline(self, self.since[0]) if self.since else (soon, Ended.TIMEOUT)


def ended(program: Program, how: str, plan: Plan, **options: object) -> tuple[Launch, Ran]:
    launch = Launch.here([program("endless"), how])
    if isinstance(plan, OnceHeard):
        options["show"] = plan.hear, plan.hear
    return launch, run(launch, plan=plan, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheduler", ["random-walk", "round-robin"])
@pytest.mark.parametrize("how", ["counting", "alone", "deaf", "waiting"])
def test_a_run_out_of_time_is_kept_to_the_very_step(
    program: Program, how: str, scheduler: str
) -> None:
    launch, ran = ended(program, how, OnceHeard(timeout=0.1), scheduler=scheduler, seed=3)
    assert (ran.course.ended, ran.course.killed, ran.status) == (Ended.TIMEOUT, False, -STOP)
    assert ran.out.beginning == b"begun\n"
    assert run(launch, replay=ran).differences(ran) == []


def test_who_has_become_another_program_is_not_waited_for_again(program: Program) -> None:
    """Nobody in it hears of the end that is in the recording."""
    launch, ran = ended(program, "become", OnceHeard(timeout=0.1))
    assert (ran.course.ended, ran.status, ran.was_killed) == (Ended.TIMEOUT, -STOP, True)
    again = run(launch, replay=ran)
    assert again.course.ended is Ended.KNOWN
    assert again.differences(ran) == []


@pytest.fixture(params=["ignored", "blocked"])
def _left_by_whoever_started_us(request: pytest.FixtureRequest) -> Iterator[None]:
    """What libc keeps for itself, as raw calls can set it: daemons, containers and runners do."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    if request.param == "ignored":
        ignore, before = (ctypes.c_ulong * 4)(1), (ctypes.c_ulong * 4)()
        assert call(RT_SIGACTION, STOP, ignore, before, 8) == 0
        yield
        assert call(RT_SIGACTION, STOP, before, None, 8) == 0
    else:
        mask, before = (ctypes.c_ulong * 1)(1 << (STOP - 1)), (ctypes.c_ulong * 1)()
        assert call(RT_SIGPROCMASK, signal.SIG_BLOCK, mask, before, 8) == 0
        yield
        assert call(RT_SIGPROCMASK, signal.SIG_SETMASK, before, None, 8) == 0


@pytest.mark.usefixtures("_left_by_whoever_started_us")
def test_a_run_is_stopped_whatever_its_starter_has_ignored_or_blocked(program: Program) -> None:
    launch, ran = ended(program, "deaf", OnceHeard(timeout=0.1), seed=3)
    assert (ran.course.killed, ran.status) == (False, -STOP)
    assert run(launch, replay=ran).differences(ran) == []


def driven_to(number: int | None, **options: float) -> Plan:
    driver = Driver((sys.executable, "-c", ""), BEGUN, number)
    return Plan(driver=driver, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_that_ends_a_program_comes_again(program: Program, number: int) -> None:
    launch, ran = ended(program, "counting", driven_to(number))
    assert (ran.course.ended, ran.course.killed, ran.status) == (Ended.DRIVEN, False, -number)
    assert run(launch, replay=ran).differences(ran) == []


def test_who_does_not_hear_the_signal_is_stopped(program: Program) -> None:
    launch, ran = ended(program, "deaf", driven_to(signal.SIGTERM, grace=0.1))
    assert (ran.course.killed, ran.status) == (False, -STOP)
    assert run(launch, replay=ran).differences(ran) == []


def test_who_never_comes_to_a_decision_is_killed(program: Program) -> None:
    _, ran = ended(program, "hidden", OnceHeard(timeout=0.1, stopping=0.1))
    assert (ran.course.killed, ran.status) == (True, -signal.SIGKILL)
    assert ran.out.beginning == b"begun\n"


@pytest.mark.parametrize("how", ["hidden", "printing"])
def test_a_killed_run_that_decided_nothing_replays_to_what_it_wrote(
    program: Program, how: str
) -> None:
    launch, ran = ended(program, how, driven_to(signal.SIGKILL))
    again = run(launch, replay=ran)
    assert (ran.was_killed, again.course.ended) == (True, Ended.KNOWN)
    assert again.differences(ran) == []
    assert again.out.size >= ran.out.size


def test_who_would_not_hear_a_signal_is_not_waited_for(program: Program) -> None:
    plan = driven_to(signal.SIGTERM, grace=10_000, stopping=10_000)
    _, ran = ended(program, "hidden", plan)
    assert (ran.course.killed, ran.status) == (True, -signal.SIGKILL)


@pytest.mark.parametrize("how", ["counting", "alone", "waiting", "writing"])
def test_a_killed_run_replays_to_where_it_was_killed(program: Program, how: str) -> None:
    launch, ran = ended(program, how, driven_to(signal.SIGKILL))
    assert ran.was_killed
    again = run(launch, replay=ran)
    assert again.differences(ran) == []
    assert again.schedule.reached >= ran.schedule.reached > 0


def test_a_flood_of_output_is_no_flood_of_memory(program: Program) -> None:
    _, ran = ended(program, "writing", OnceHeard(timeout=0, enough=2 * MIB))
    assert ran.status == -STOP
    assert ran.out.size > len(ran.out.beginning) >= MIB


def test_a_served_run_ends_as_others_do(program: Program) -> None:
    with Server(Launch.here([program("endless"), "counting"])) as server:
        ran = server.run(seed=1, plan=Plan(timeout=0.2))
        assert (ran.course.ended, ran.status) == (Ended.TIMEOUT, -STOP)
        assert server.run(replay=ran).differences(ran) == []


def test_a_served_flood_is_cut(program: Program) -> None:
    with Server(Launch.here([program("endless"), "writing"])) as server:
        ran = server.run(plan=Plan(room=1 << 22))
        assert (ran.course.ended, ran.status) == (Ended.FLOOD, -STOP)
        (row,) = server.survey(range(1), plan=Plan(room=1 << 22)).rows
        assert (row["stopped"], row["status"]) == (1, signal.SIGKILL)


def test_a_survey_goes_on_behind_a_run_that_does_not_end(program: Program) -> None:
    with Sandbox(require=()) as box:
        launch = Launch.here([program("endless"), "counting"])
        with Explorer(launch, box, plan=Plan(timeout=0.1)) as explorer:
            rows = explorer.survey(range(5, 8))
    assert rows["seed"].tolist() == [5, 6, 7]
    assert rows["stopped"].tolist() == [1, 1, 1]


class _Going:
    """A run that ends while it is being asked about."""

    def __init__(self) -> None:
        self._numbers = iter([os.getpid()])

    @property
    def process(self) -> int:
        return next(self._numbers, 0)


def test_a_signal_for_a_run_that_goes_reaches_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the kernel, 0 is every process of our group."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _number: sent.append(process))
    going = cast(Target, _Going())
    send(going, STOP)
    send(going, STOP)
    assert sent == [os.getpid()]


class _Interrupting:
    """Somebody interrupts us, while a run goes on."""

    def holds(self, _target: Target) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False


def test_an_interrupt_ends_the_exploring_and_is_no_end_of_the_program(program: Program) -> None:
    launch = Launch.here([program("endless"), "counting"])
    plan = Plan(driver=Driver(("unused",), _Interrupting()))
    with (
        Sandbox(require=()) as box,
        Explorer(launch, box, plan=plan) as explorer,
        pytest.raises(KeyboardInterrupt),
    ):
        explorer.run()


@pytest.mark.parametrize("boxed", [False, True])
def test_what_a_program_leaves_is_ended(program: Program, boxed: bool) -> None:
    launch = Launch.here([program("leaves")])
    with Sandbox(require=()) as box:
        ran = run(launch, box=box if boxed else None)
        assert (ran.status, ran.left) == (0, 1)
        left = int(ran.out.beginning)
        if not boxed:
            assert has_ended(left)


@pytest.mark.parametrize("how", ["waiting", "parted"])
def test_nobody_is_left_when_the_tool_is_killed(program: Program, how: str) -> None:
    """The program ends with who started it, and so does what that has started."""
    tool = (
        "import sys; from eitherway.worlds.threads.launch import Launch;"
        "from eitherway.cli.running import shown; from eitherway.worlds.threads.run import run;"
        "run(Launch.here(sys.argv[1:]), show=shown())"
    )
    words = [sys.executable, "-c", tool, program("endless"), how]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process, ExitStack() as stack:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3 if how == "parted" else 1)]
        told = [int(line) for line in lines if line != b"begun\n"]
        ends = [os.pidfd_open(pid) for pid in (*children(process.pid), *told)]
        for descriptor in ends:
            stack.callback(os.close, descriptor)
        process.kill()
        while ends:
            ready, _, _ = select.select(ends, [], [], 60)
            assert ready
            ends = [descriptor for descriptor in ends if descriptor not in ready]


def test_who_forks_endlessly_is_ended(program: Program) -> None:
    """Also when there are always others by the time that some are ended."""
    try:
        box = Sandbox(require=(), limits=Limits(processes=40))
    except Unavailable as problem:
        pytest.skip(str(problem))
    with box, Server(Launch.here([program("forks_endlessly")]), box=box) as server:
        ran = server.run(seed=1, plan=Plan(timeout=0.2, stopping=0.2))
        assert ran.course.ended is Ended.TIMEOUT
        assert ran.status in (-STOP, -signal.SIGKILL)
