# SPDX-License-Identifier: Apache-2.0
"""What is not isolated is said, and what was required is never done without."""

import json
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.machine.restrict import restrict
from tests.sandbox.conftest import make_place
from tests.sandbox.harness import Place

from eitherway.errors import Unavailable
from eitherway.sandbox.isolation import Kind, Way, parse

KINDS = ("files", "network", "processes", "privileges")


@pytest.fixture(params=[False, True], ids=["root", "nobody"])
def contained(programs: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Place, bool]]:
    """A place as seen by a process of a default container, emulated."""
    if platform.machine() != "x86_64":
        pytest.skip("the emulated filters have the call numbers of x86-64")
    if os.geteuid() != 0:
        pytest.skip("only root can take on all that a container's process lacks")
    for place in make_place(programs, 0):
        yield place, request.param


def in_container(place: Place, nobody: bool, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [place.program, *words], cwd="/", capture_output=True, text=True, check=False,
        preexec_fn=lambda: restrict("docker", nobody=nobody),
    )  # fmt: skip


def test_a_default_container_isolates_nothing_and_says_so(contained: tuple[Place, bool]) -> None:
    ran = in_container(*contained, "--report", "1", "--", "sh", "-c", "exit 3")
    report = json.loads(ran.stdout)
    assert {kind: report[kind]["isolation"] for kind in KINDS} == dict.fromkeys(KINDS, "none")
    for kind in KINDS:
        assert report[kind]["why"].startswith("unshare("), report
        assert report[kind]["why"].endswith(": EPERM"), report
    assert ran.returncode == 3


def test_without_a_report_it_is_said_in_words(contained: tuple[Place, bool]) -> None:
    ran = in_container(*contained, "--", "true")
    lines = ran.stderr.splitlines()
    assert [line.split()[1] for line in lines] == list(KINDS)
    assert all("not isolated: unshare(" in line for line in lines)
    assert ran.returncode == 0


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_what_is_required_is_never_done_without(contained: tuple[Place, bool], kind: str) -> None:
    ran = in_container(*contained, "--require", kind, "--", "echo", "ran")
    assert (ran.returncode, ran.stdout) == (69, "")
    assert "cannot be isolated here: unshare(" in ran.stderr


def test_a_limit_that_cannot_be_kept_is_not_promised(contained: tuple[Place, bool]) -> None:
    place, nobody = contained
    ran = in_container(place, nobody, "--processes", "100", "--", "echo", "ran")
    assert (ran.returncode, ran.stdout) == ((0, "ran\n") if nobody else (69, ""))


def test_without_a_pid_namespace_the_command_is_still_swept_up(
    contained: tuple[Place, bool],
) -> None:
    place, nobody = contained
    # The pipe ends only when the last process that holds it has ended.
    ran = in_container(place, nobody, "--", "sh", "-c", "(setsid sleep 1000 &) ; echo started")
    assert ran.stdout == "started\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "what shall run?"),
        (["--"], "what shall run?"),
        (["--nonsense", "--", "true"], "--help"),
        (["--require", "moon", "--", "true"], "not moon"),
        (["--without", "moon", "--", "true"], "--without knows files"),
        (["--require", "all", "--without", "files", "--", "true"], "required and left out"),
        (["--memory", "much", "--", "true"], "memory takes a whole number, not much"),
        (["--memory", "-1", "--", "true"], "memory takes a whole number"),
        (["--disk", "99999999999999999999", "--", "true"], "disk takes a whole number"),
        (["--report", "99", "--", "true"], "99 is not an open descriptor"),
        (["--enter", "1,x", "--", "true"], "not 1,x"),
        (["--device", "/etc/passwd", "--", "true"], "not /etc/passwd"),
        (["--device", "/dev/../etc/passwd", "--", "true"], "directly in /dev"),
        (["--control", "0", "--", "true"], "--control stands without"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage(programs: Path, words: list[str], message: str) -> None:
    program = programs / "bin" / "eitherway-sandbox"
    ran = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 64
    assert message in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_door_to_nothing(programs: Path) -> None:
    program = programs / "bin" / "eitherway-sandbox"
    ran = subprocess.run(
        [program, "--enter", "0", "--", "true"], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 69
    assert "the sandbox cannot be entered" in ran.stderr


def line_with(**parts: object) -> bytes:
    kind = {"isolation": "none", "why": "x"}
    whole = {"version": 1, **dict.fromkeys(KINDS, kind), "read_only": 0, "init": 7,
             "namespaces": 0, "scratch": False}  # fmt: skip
    return json.dumps({**whole, **parts}).encode()


def test_a_report_is_read() -> None:
    report = parse(line_with(files={"isolation": "overlay-tops", "why": "because"}))
    assert report.isolation.files.way is Way.OVERLAY_TOPS
    assert report.isolation.missing == (Kind.NETWORK, Kind.PROCESSES, Kind.PRIVILEGES)
    assert str(report.isolation).startswith("files: overlay-tops, network: none")


@pytest.mark.parametrize("line", [line_with(version=2), line_with(error="no, for a reason")])
def test_a_report_that_is_a_refusal(line: bytes) -> None:
    with pytest.raises(Unavailable):
        parse(line)
