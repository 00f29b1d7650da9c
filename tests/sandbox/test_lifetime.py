# SPDX-License-Identifier: Apache-2.0
"""How a sandbox ends: like its command, and always with nothing left behind."""

import os
import signal
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sandbox.harness import SOURCES, Place, all_end, compile_c, held, members, watch

# The command starts another process that has left it, tells its namespace and waits.
BUSY = "{vandal} daemonise; echo $(readlink /proc/self/ns/pid); exec sleep 1000"


class Busy:
    """A sandbox with a command and a daemon in it, and a process that started it all."""

    def __init__(self, place: Place) -> None:
        self.parent = place.start(
            ["sh", "-c", BUSY.format(vandal=place.vandal)],
            "--require", "all", stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self._read()

    def _read(self) -> None:
        assert self.parent.stdout
        assert self.parent.stdout.readline() == "daemonise ok\n"
        self.namespace = self.parent.stdout.readline().rstrip()
        inside = members(self.namespace)
        self.keeper = self.parent.pid
        (self.init,) = (pid for pid in inside if inner_pid(pid) == 1)
        (self.command,) = (pid for pid in inside if inner_pid(pid) == 2)
        assert len(inside) == 3
        self.watched = watch([*inside, self.keeper])
        self.held = ExitStack()
        self.held.enter_context(held(inside))

    def end(self) -> int:
        status = self.parent.wait()
        for stream in (self.parent.stdout, self.parent.stderr):
            if stream:
                stream.close()
        with self.held:
            assert all_end(self.watched)
            assert members(self.namespace) == set()
        return status


def inner_pid(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    raise AssertionError("no NSpid")


@pytest.mark.parametrize("victim", ["keeper", "init", "command"])
def test_nothing_is_left_when_one_of_them_is_killed(place: Place, victim: str) -> None:
    busy = Busy(place)
    os.kill(getattr(busy, victim), signal.SIGKILL)
    expected = {"keeper": -signal.SIGKILL, "init": 69, "command": -signal.SIGKILL}
    assert busy.end() == expected[victim]


def test_nothing_is_left_when_the_parent_is_killed(place: Place) -> None:
    words = ["sh", "-c", BUSY.format(vandal=place.vandal)]
    # A shell that stays the parent, for it has something to do afterwards.
    script = '"$@" & wait $!; true'
    command = ["sh", "-c", script, "sh", str(place.program), "--", *words]
    identity = {} if place.user == os.geteuid() else {"user": place.user, "group": place.user}
    with subprocess.Popen(
        command, cwd=place.work, env=place.environment(), stdout=subprocess.PIPE, text=True,
        **identity,  # type: ignore[call-overload]
    ) as parent:  # fmt: skip
        assert parent.stdout.readline() == "daemonise ok\n"
        namespace = parent.stdout.readline().rstrip()
        watched = watch(members(namespace))
        assert len(watched) == 3
        parent.kill()
    assert all_end(watched)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_reaches_the_command(place: Place, number: signal.Signals) -> None:
    busy = Busy(place)
    os.kill(busy.keeper, number)
    assert busy.end() == -number


@pytest.mark.parametrize("status", [0, 1, 69, 255])
def test_the_exit_code_is_the_commands(place: Place, status: int) -> None:
    ran = place.run(["sh", "-c", f"exit {status}"])
    assert ran.status == status


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT])
def test_a_deadly_signal_is_the_commands(place: Place, number: signal.Signals) -> None:
    ran = place.run([place.vandal, "crash", str(int(number))], "--require", "all")
    assert ran.status == -number
    assert not list(place.work.glob("core*"))


def test_the_command_sees_its_own_surroundings(place: Place) -> None:
    ran = place.run(
        ["sh", "-c", "pwd; id -u; id -g; echo $HOME; umask; cat; echo error >&2"],
        stdin=subprocess.DEVNULL, umask=0o027,
    )  # fmt: skip
    user = str(place.user)
    assert ran.output.split() == [str(place.work), user, user, str(place.home), "0027"]
    assert ran.errors == "error\n"


def test_the_command_is_a_child_of_init(place: Place) -> None:
    ran = place.run(["sh", "-c", "echo $$ $PPID"])
    assert ran.output.split() == ["2", "1"]


def test_what_was_redirected_is_written_outside(place: Place) -> None:
    target = place.loose / "log"
    with target.open("w") as log:
        place.run(["echo", "hello"], stdout=log)
    assert target.read_text() == "hello\n"


def test_what_is_read_goes_on_from_where_it_was(place: Place) -> None:
    file = os.open(place.work / "keep", os.O_RDONLY)
    os.lseek(file, 2, os.SEEK_SET)
    ran = place.run(["cat"], stdin=file)
    os.close(file)
    assert ran.output == "ep"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["/no/such/program"], 127, "cannot run /no/such/program: No such file or directory"),
        (["/etc/passwd"], 126, "cannot run /etc/passwd: Permission denied"),
    ],
)
def test_a_command_that_cannot_run(
    place: Place, words: list[str], status: int, message: str
) -> None:
    ran = place.run(words)
    assert (ran.status, ran.errors) == (status, f"eitherway-sandbox: {message}\n")


def test_a_sandbox_in_a_sandbox(place: Place) -> None:
    inner = f"{place.program} --require files -- {place.vandal} spoil {place.work}"
    ran = place.run(["sh", "-c", f"{inner} && cat keep"])
    assert (ran.output, ran.status) == ("spoil ok\nkeep", 0), ran.errors


def test_memory_is_used_as_it_should_be(place: Place) -> None:
    """The same under the checkers of the compiler."""
    checked = place.home.parent / "checked"
    compile_c(SOURCES, checked, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    checked.chmod(0o755)
    with_checks = replace(place, program=checked)
    script = "cd /tmp; mkdir d; mv d e; echo done; kill -TERM $$"
    for options in ((), ("--processes", "100"), ("--disk", "1000000", "--work", "/var/tmp")):
        ran = with_checks.run(["sh", "-c", script], "--require", "all", *options)
        if ran.status == 69 and "Linux 6.14" in ran.errors:
            continue
        assert (ran.status, ran.output, ran.errors) == (-signal.SIGTERM, "done\n", "")
