# SPDX-License-Identifier: Apache-2.0
"""Timers that send a signal: they are due before longer sleeps, and what they end is replayed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, compiled, eitherway, folder

WAITS = "mkfifo f; read x < f"
HANDLED = "$SIG{ALRM} = sub { print qq(got\\n) }; alarm 2; print sleep(100) >= 2; exit 3"
BESIDE = "timeout 10 sh -c 'sleep 1; echo in' & sleep 100; wait $!"
COMMANDS = {
    "before a longer sleep": (124, "", ["timeout", "1", "sleep", "100"]),
    "in a wait for nobody": (124, "", ["timeout", "60", "sh", "-c", WAITS]),
    "in the third of three sleeps": (124, "", ["timeout", "2", "sh", "-c", "sleep 1;" * 3]),
    "behind three sleeps": (0, "", ["timeout", "10", "sh", "-c", "sleep 1;" * 3]),
    "behind a shorter sleep": (0, "in\n", ["sh", "-c", BESIDE]),
    "to who sleeps, and has a handler": (3, "1got\n", ["perl", "-e", HANDLED]),
    "to who sleeps, and has none": (142, "", ["perl", "-e", "alarm 1; sleep 100"]),
    "to another program": (142, "", ["perl", "-e", "alarm 1; exec qw(sleep 100)"]),
    "taken back": (0, "", ["perl", "-e", "alarm 1; alarm 0; sleep 100"]),
}


@pytest.mark.parametrize("when", COMMANDS)
def test_a_timer_comes_when_it_is_due_and_is_replayed(work: Path, when: str) -> None:
    code, output, command = COMMANDS[when]
    first = eitherway(work, "record", "--", *command)
    assert (first.returncode, first.stdout) == (code, output), first.stderr
    again = eitherway(work, "replay")
    assert (again.returncode, again.stdout) == (0, output), again.stderr


WAYS = [
    (3, "again"),
    (3, "again", "of-day"),
    (1, "at-a-moment"),
    (1, "at-a-moment", "of-day"),
]


@pytest.fixture(scope="module")
def program() -> Iterator[str]:
    with folder() as place:
        yield str(compiled(PROGRAMS / "timers.c", place / "timers"))


@pytest.mark.parametrize("way", WAYS)
def test_so_do_those_that_come_again_or_at_a_moment(
    program: str, work: Path, way: tuple[int, *tuple[str, ...]]
) -> None:
    """Each ends a wait that nobody else could, an hour of the program's or a moment of ours."""
    times, *words = way
    output = f"{times} times, given 42, after {times} minutes\n"
    first = eitherway(work, "record", "--", program, *words)
    assert (first.returncode, first.stdout) == (0, output), first.stderr
    again = eitherway(work, "replay")
    assert (again.returncode, again.stdout) == (0, output), again.stderr


SERVES = """
import os, signal, socket
class Idle(Exception): pass
def ticks(*_):
    global left
    print("tick", flush=True)
    left -= 1
    if not left: raise Idle
left = LEFT
signal.signal(signal.SIGALRM, ticks)
listener = socket.socket(socket.AF_UNIX)
listener.bind("socket")
listener.listen(5)
for word in (b"a", b"b"):
    if os.fork() == 0:
        client = socket.socket(socket.AF_UNIX)
        client.connect("socket")
        client.sendall(word)
        client.recv(1)
        os._exit(0)
got = b""
try:
    while True:
        ARMS
        one, _ = listener.accept()
        got += one.recv(1)
        one.sendall(b"!")
        one.close()
except Idle:
    print(got.decode())
"""
ARMS = {
    "armed anew": (1, "signal.alarm(60)"),
    "again and again": (3, "got or signal.setitimer(signal.ITIMER_REAL, 60, 60)"),
}


@pytest.mark.parametrize("how", ARMS)
def test_a_server_that_has_a_timer_is_followed(work: Path, how: str) -> None:
    """In both orders of who connects, each until it has had nothing to do for long."""
    left, arms = ARMS[how]
    script = SERVES.replace("LEFT", str(left)).replace("ARMS", arms)
    words = "/usr/bin/python3", "-c", script
    first = eitherway(work, "record", "--", *words)
    assert (first.returncode, first.stdout) == (0, "tick\n" * left + "ab\n"), first.stderr
    again = eitherway(work, "replay")
    assert (again.returncode, again.stdout) == (0, first.stdout), again.stderr
    done = eitherway(work, "check", "--seconds", "600", "--", *words)
    assert (done.returncode, "could not be" in done.stdout) == (1, False), done.stdout
    assert "1 finding: 1 output-differs" in done.stdout


def test_both_orders_of_what_a_timer_does_are_had(work: Path) -> None:
    """It ends a shell that has not begun its command: nobody is told that this cannot be."""
    done = eitherway(work, "check", "--seconds", "600", "--", "timeout", "60", "sh", "-c", WAITS)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout
    assert "the recorded run: exit status 124" in done.stdout
    assert "could not be had" not in done.stdout


def test_who_is_kept_back_is_not_kept_back_until_a_timer_is_due(work: Path) -> None:
    """Else any order that cannot be had would end by the timer."""
    script = "(until test -d d; do sleep 1; done; echo x > d/a) & mkdir d; wait"
    done = eitherway(work, "check", "--seconds", "600", "--", "timeout", "60", "sh", "-c", script)
    assert (done.returncode, "0 findings" in done.stdout) == (0, True), done.stdout
    assert "the recorded run: exit status 0" in done.stdout
