# SPDX-License-Identifier: Apache-2.0
"""Servers and their drivers: when one is ready, what the other does, how it ends, and again."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eitherway.errors import Unavailable, UsageError
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.threads import ready
from eitherway.worlds.threads.course import Ended, Plan
from eitherway.worlds.threads.driver import Driver, parse_command, parse_stop
from eitherway.worlds.threads.explorer import Explorer, surveyed
from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.server import Stopped

Program = Callable[[str], str]

ASKS = """
import socket, sys
for word in sys.argv[2:]:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as s:
        s.sendall(word.encode())
        print(s.recv(99).decode())
"""


@pytest.fixture
def box() -> Iterator[Sandbox]:
    try:
        made = Sandbox(require=[Kind.NETWORK])
    except Unavailable as reason:
        pytest.skip(f"this machine isolates no networks: {reason}")
    with made:
        yield made


@pytest.fixture
def free_port() -> Iterator[int]:
    """It is held here: only a server that permits others to bind it can have it too."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


def asks(port: int, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-c", ASKS, str(port), *words)


def served(ran: Ran) -> list[bytes]:
    assert ran.err.beginning == b""
    return sorted(ran.out.beginning.splitlines())


@pytest.mark.parametrize("condition", ["idle", "port:PORT", "output:^listening$", "file:FILE"])
@pytest.mark.parametrize("boxed", [False, True])
def test_a_server_is_driven_and_replays_without_its_driver(
    condition: str,
    boxed: bool,
    program: Program,
    tmp_path: Path,
    free_port: int,
    request: pytest.FixtureRequest,
) -> None:
    mark = tmp_path / "ready"
    port = 7 if boxed else free_port  # in the sandbox nobody else has one
    launch = Launch.here([program("echoes"), str(port), str(mark)])
    when = condition.replace("PORT", str(port)).replace("FILE", str(mark))
    driver = Driver(asks(port, "one", "two"), ready.parse(when))
    inside: Sandbox | None = request.getfixturevalue("box") if boxed else None
    ran = run(launch, seed=5, plan=Plan(driver=driver), box=inside)
    assert ran.course.driven is not None
    assert ran.course.driven.status == 0, ran.course.driven.err.beginning
    assert ran.course.driven.out.beginning == b"ONE\nTWO\n"
    assert served(ran)[0] == b"listening"
    assert (ran.course.ended, ran.status) == (Ended.DRIVEN, -signal.SIGTERM)
    assert mark.exists() != boxed
    for _ in range(3):
        assert run(launch, replay=ran, box=inside).differences(ran) == []


def test_each_schedule_has_its_own_run_of_the_driver(program: Program, box: Sandbox) -> None:
    launch = Launch.here([program("echoes"), "7"])
    plan = Plan(driver=Driver(asks(7, "a", "b"), ready.Port(7)))
    with Explorer(launch, box, plan=plan) as explorer:
        for seed in range(3):
            ran = explorer.run(seed=seed)
            assert ran.course.driven is not None
            assert ran.course.driven.out.beginning == b"A\nB\n"
            assert explorer.run(replay=ran).differences(ran) == []
        rows = explorer.survey(range(2))
    assert rows["status"].tolist() == [0, 0]  # that we stopped it is no failure
    assert rows["out_size"].all()


@pytest.mark.parametrize(("says", "code"), [("exit 9", 9), ("kill -SEGV $$", 128 + 11)])
def test_a_driver_that_fails_is_the_outcome_of_its_schedule(
    says: str, code: int, program: Program, box: Sandbox
) -> None:
    plan = Plan(driver=Driver(("sh", "-c", says), ready.Port(7)))
    with Explorer(Launch.here([program("echoes"), "7"]), box, plan=plan) as explorer:
        (row,) = explorer.survey(range(1))
    assert os.waitstatus_to_exitcode(int(row["status"])) == code  # the server did not crash


@pytest.mark.parametrize("says", ["now; exit 9", "later", "later; exit 9"])
def test_a_crash_of_the_server_is_more_than_what_its_driver_says(
    says: str, program: Program, tmp_path: Path
) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    plan = Plan(driver=Driver(("sh", "-c", f"echo > {pipe} {says}")))
    ran = run(Launch.here([program("falls"), pipe]), plan=plan)
    (row,) = surveyed(0, ran, plan.driver).rows
    assert os.waitstatus_to_exitcode(int(row["status"])) == -signal.SIGABRT


def test_a_signal_that_the_server_is_to_end_by_is_no_crash(
    program: Program, tmp_path: Path
) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    plan = Plan(driver=Driver(("sh", "-c", f"echo later > {pipe}"), stop=signal.SIGABRT))
    ran = run(Launch.here([program("falls"), pipe]), plan=plan)
    (row,) = surveyed(0, ran, plan.driver).rows
    assert (ran.status, row["status"]) == (-signal.SIGABRT, 0)


def test_a_thread_may_come_later_than_what_others_wait_for(
    program: Program, tmp_path: Path
) -> None:
    """Then this one does not end when it is told to, which is a failure; and it replays."""
    pipes = [str(tmp_path / name) for name in ("from", "to")]
    for pipe in pipes:
        os.mkfifo(pipe)
    talks = 'printf x > "$0"; head -c 1 "$1" > /dev/null'
    driver = Driver(("sh", "-c", talks, *pipes))
    launch = Launch.here([program("stays"), *pipes])
    ends = {}
    for late, grace in ((0, 60), (2, 0.1)):
        plan = Plan(driver=driver, grace=grace)
        ran = run(launch, plan=plan, guidance=Guidance(tuning={"late": late}))
        ends[late] = Stopped(int(surveyed(0, ran, driver).rows["stopped"][0]))
        assert run(launch, replay=ran).differences(ran) == []
    assert ends == {0: Stopped.NOT, 2: Stopped.FOR_ITSELF}


def test_a_driver_that_fails_is_told(program: Program, box: Sandbox) -> None:
    driver = Driver(("sh", "-c", "echo gone >&2; exit 9"))
    ran = run(Launch.here([program("echoes"), "7"]), plan=Plan(driver=driver), box=box)
    assert ran.course.driven is not None
    assert (ran.course.driven.status, ran.course.driven.err.beginning) == (9, b"gone\n")
    assert ran.err.beginning == b""


def test_a_program_that_ends_by_itself_is_not_signalled(program: Program, tmp_path: Path) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    launch = Launch.here([program("reads"), pipe])
    driver = Driver(("sh", "-c", 'echo hello > "$0"', pipe), stop=None)
    ran = run(launch, plan=Plan(driver=driver))
    assert ran.course.driven is not None
    assert (ran.status, ran.out.beginning) == (0, b"hello\n")
    assert run(launch, replay=ran).differences(ran) == []


def test_a_program_that_ends_before_it_is_ready_has_no_driver(program: Program) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        driver = Driver(asks(port, "one"), ready.Port(port))
        ran = run(Launch.here([program("echoes"), str(port)]), plan=Plan(driver=driver))
    assert (ran.status, ran.course.ended, ran.course.driven) == (3, Ended.ITSELF, None)


def test_a_driver_that_never_ends_is_ended_with_the_run(program: Program, box: Sandbox) -> None:
    plan = Plan(driver=Driver(("sleep", "1000")), timeout=0.3)
    ran = run(Launch.here([program("echoes"), "7"]), plan=plan, box=box)
    assert (ran.course.ended, ran.course.driven) == (Ended.TIMEOUT, None)


def test_a_driver_that_cannot_be_started_leaves_no_server(program: Program, free_port: int) -> None:
    plan = Plan(driver=Driver(("/nowhere/driver",)))
    with pytest.raises(UsageError, match="/nowhere/driver cannot be started"):
        run(Launch.here([program("echoes"), str(free_port)]), plan=plan)


def test_when_the_driver_is_done_time_does_not_really_pass(program: Program, box: Sandbox) -> None:
    launch = Launch.here([program("lingers"), "7"])
    plan = Plan(driver=Driver(asks(7, "a"), ready.Port(7), stop=None), grace=60)
    ran = run(launch, plan=plan, box=box)
    assert (ran.status, ran.course.ended) == (0, Ended.DRIVEN)
    assert ran.out.beginning == b"nobody came for an hour\n"
    assert run(launch, replay=ran, box=box).differences(ran) == []


# --- as a person writes them


@pytest.mark.parametrize(
    "text",
    ["", "ready", "port", "port:", "port:0", "port:65536", "port:-1", "port:x", "port:٣",
     "output:", "output:(", "file:", "idle:", "PORT:80"],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no "):
        ready.parse(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("exit", None),
        ("signal:TERM", 15),
        ("signal:SIGINT", 2),
        ("signal:usr1", 10),
        ("signal:9", 9),
    ],
)
def test_ways_to_stop(text: str, number: int | None) -> None:
    assert parse_stop(text) == number


@pytest.mark.parametrize(
    "text", ["", "term", "signal", "signal:", "signal:0", "signal:99", "signal:X", "exit:1"]
)
def test_what_is_no_way_to_stop_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no way to stop"):
        parse_stop(text)


def test_a_driver_is_words_and_no_shell() -> None:
    assert parse_command("./drive 'two words' $HOME; rm") == (
        "./drive",
        "two words",
        "$HOME;",
        "rm",
    )
    for text in ("", "  ", "''", "'open", 'a "b'):
        with pytest.raises(UsageError, match="the driver"):
            parse_command(text)
