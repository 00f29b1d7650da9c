# SPDX-License-Identifier: Apache-2.0
"""What came from outside comes again in a branch, to whom it came, and not before its cause."""

import sys
from pathlib import Path

import pytest
from tests.judge.bench import bench
from tests.judge.conftest import Program

from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.worlds.threads import ready
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.driver import Driver
from eitherway.worlds.threads.run import Ran

pytestmark = pytest.mark.usefixtures("fixed")

CONNECTS = """
import socket
one, other = (socket.create_connection(("127.0.0.1", 7), 20) for _ in range(2))
"""
IN_TURN = CONNECTS + "for s in (one, other): s.sendall(b'x'); assert s.recv(1) == b'x'"
AT_ONCE = CONNECTS + "for s in (one, other): s.sendall(b'x')\nfor s in (one, other): s.recv(1)"
SEEDS = range(18, 22)  # in the third both requests are read before either is answered


def judged(command: list[str], plan: Plan, folder: Path) -> list[Finding]:
    """The races of a few schedules; what shows them is done again to the bit."""
    kept: list[Ran] = []

    def keep(ran: Ran) -> Path:
        kept.append(ran)
        return folder / f"run-{len(kept)}"

    with bench(command, plan) as made:
        runs = [made.explorer.run(seed=seed, detect=True) for seed in SEEDS]
        findings = [
            made.judge.judged(finding, ran, keep)
            for ran in runs
            for finding in made.races_in(ran).values()
        ]
        for ran in kept:
            assert not made.explorer.run(replay=ran).differences(ran)
    return findings


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("same_numbers", Class.K_WITNESS_HARMLESS),
        ("numbers_and_count", Class.OUTPUT_DIFFERS),
    ],
)
def test_each_thread_gets_what_it_got(
    program: Program, mode: str, expected: Class, tmp_path: Path
) -> None:
    findings = judged([program("outside"), mode], Plan(timeout=30), tmp_path)
    assert findings
    assert {finding.klass for finding in findings} == {expected}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(5):
        (folder / str(number)).write_bytes(bytes(number))
        (folder / f"{number}.link").symlink_to("x" * number or "/")
        if number % 2 == 0:
            (folder / f"{number}.even").touch()
    return folder


@pytest.mark.parametrize(
    "how", ["fstat", "stat", "statx", "readlink", "access", "flock", "numbers", "times"]
)
def test_who_comes_to_another_file_is_told_of_that_one(
    program: Program, how: str, files: Path, tmp_path: Path
) -> None:
    """The recording has what its threads were told of other files, under the same descriptors."""
    findings = judged([program("files"), str(files), how], Plan(timeout=30), tmp_path)
    assert findings
    assert {finding.klass for finding in findings} == {Class.K_WITNESS_HARMLESS}


def test_whether_a_file_is_there_may_be_what_the_order_decides(
    program: Program, files: Path, tmp_path: Path
) -> None:
    findings = judged([program("files"), str(files), "made"], Plan(timeout=30), tmp_path)
    assert Class.OUTPUT_DIFFERS in {finding.klass for finding in findings}


@pytest.mark.parametrize("how", ["flock", "fcntl", "semaphores"])
def test_a_lock_of_the_kernel_is_held_by_one_thread_of_a_branch(
    program: Program, how: str, tmp_path: Path
) -> None:
    """The recording says of both that they got it: they came one after the other."""
    command = [program("kernel_objects"), str(tmp_path), how]
    findings = judged(command, Plan(timeout=30), tmp_path)
    assert findings
    assert {finding.klass for finding in findings} == {Class.K_WITNESS_HARMLESS}


@pytest.mark.parametrize("how", ["messages", "queue"])
def test_no_message_comes_before_it_is_sent(program: Program, how: str, tmp_path: Path) -> None:
    command = [program("kernel_objects"), str(tmp_path), how]
    findings = judged(command, Plan(timeout=30), tmp_path)
    assert findings
    assert {finding.klass for finding in findings} == {Class.K_WITNESS_HARMLESS}


def test_what_nobody_has_recorded_is_inconclusive(program: Program, tmp_path: Path) -> None:
    findings = judged([program("outside"), "draws_more"], Plan(timeout=30), tmp_path)
    reasons = {(finding.klass, finding.reason) for finding in findings}
    asked = "a branch asks the outside for something that the recording does not have"
    assert (Class.INCONCLUSIVE, asked) in reasons


def driven(client: str) -> Plan:
    return Plan(timeout=30, driver=Driver((sys.executable, "-c", client), ready.Port(7), None))


def test_requests_that_come_at_once_may_be_served_in_any_order(
    program: Program, tmp_path: Path
) -> None:
    findings = judged([program("serves"), "7", "waits"], driven(AT_ONCE), tmp_path)
    told = {(finding.klass, finding.reason) for finding in findings}
    assert (Class.OUTPUT_DIFFERS, "") in told
    others = told - {(Class.OUTPUT_DIFFERS, "")}  # where one was answered before the other was read
    assert all(klass is Class.INCONCLUSIVE and "outside" in why for klass, why in others)


def test_a_request_does_not_come_before_the_answer_that_it_followed(
    program: Program, tmp_path: Path
) -> None:
    findings = judged([program("serves"), "7"], driven(IN_TURN), tmp_path)
    assert findings
    told = {(finding.klass, finding.reason) for finding in findings}
    assert {klass for klass, _ in told} == {Class.INCONCLUSIVE}
    assert all("outside" in reason for _, reason in told)
