# SPDX-License-Identifier: Apache-2.0
"""From a command to the pair of calls that is to blame; right programs are left in peace."""

import os
from pathlib import Path

import pytest
from tests.processes.harness import OTHER_USER, as_each, folder, launch

from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class, Kind
from eitherway.recording.store import Store

LOST_UPDATE = """\
echo 0 > count
sh -c 'read n < count; echo $((n + 1)) > count' &
sh -c 'read n < count; echo $((n + 1)) > count' &
wait
cat count
"""
SECONDS = 120.0


def checked(work: Path, script: str) -> Checked:
    return checked_command(work, "sh", "-c", script)


def checked_command(work: Path, *command: str) -> Checked:
    with TreeSearch(launch(work, *command), Store(work / "store")) as search:
        return search.check(SECONDS, lambda _: None)


@pytest.fixture(params=[0, OTHER_USER], ids=["root", "user"])
def user(request: pytest.FixtureRequest) -> int:
    if os.geteuid() != 0 and request.param == 0:
        pytest.skip("the tests run as an ordinary user")
    return int(request.param) if os.geteuid() == 0 else os.geteuid()


def test_a_lost_update_is_found_and_blamed_on_one_pair(user: int) -> None:
    with folder(user) as work:
        found = as_each(user, lambda: checked(work, LOST_UPDATE))
        assert not (work / "count").exists()  # nothing of it has happened here
    (finding,) = found.findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert [operation.op for operation in finding.operations] == ["write", "read"]
    assert {operation.variable for operation in finding.operations} == {f"{work}/count"}
    assert any(r"'2\n'" in line and r"'1\n'" in line for line in finding.explanation)
    assert finding.confidence.matching == "strict"
    assert found.tried == found.races > 1


def test_it_is_the_same_every_time() -> None:
    with folder() as work:
        first, second = (checked(work, LOST_UPDATE) for _ in range(2))
    assert list(first.findings) == list(second.findings)
    assert first.calls == second.calls
    assert first.branches == second.branches


def test_a_missing_prerequisite() -> None:
    script = "(mkdir d) & (test -d d && echo x > d/a; test -d d); wait"
    with folder() as work:
        found = checked(work, script)
    assert {finding.klass for finding in found.findings.values()} == {Class.OUTPUT_DIFFERS}
    assert all("mkdir" in {op.op for op in f.operations} for f in found.findings.values())


def test_who_looks_at_proc_races_with_who_starts() -> None:
    """What `ps | grep` suffers from: is it the shell still, or the command already?"""
    with folder() as work:
        found = checked(work, "sleep 1 & cat /proc/$!/cmdline | tr '\\0' ' '; wait")
    (finding,) = (f for f in found.findings.values() if f.klass is Class.OUTPUT_DIFFERS)
    assert {op.op for op in finding.operations} == {"execve", "read"}
    assert "/cmdline" in "".join(op.variable for op in finding.operations)


FIRST_CHILD = """\
my $a = fork; exit 0 unless $a;
my $b = fork; exit 0 unless $b;
my $first = wait; print $first == $a ? "A" : "B"; wait; exit($first != $a);
"""


def test_a_wait_that_could_find_the_other_child() -> None:
    with folder() as work:
        (work / "first.pl").write_text(FIRST_CHILD, encoding="ascii")
        found = checked_command(work, "perl", "first.pl")
    (finding,) = found.findings.values()
    assert (finding.kind, finding.klass) == (Kind.WAIT_WAKEUPS, Class.SPEC_VIOLATED)
    assert "finds process 6 first, the program ends with exit status 1" in finding.consequence


def test_a_recipe_that_needs_what_another_makes() -> None:
    with folder() as work:
        (work / "Makefile").write_text(
            "all: d/a d/b\nd/a: d\n\techo a > d/a\nd:\n\tmkdir d\nd/b:\n\techo b > d/b\n",
            encoding="ascii",
        )
        found = checked_command(work, "make", "-j2")
    failing = [f for f in found.findings.values() if f.klass is Class.SPEC_VIOLATED]
    assert failing
    assert {"mkdir"} <= {op.op for finding in failing for op in finding.operations}
    assert all("exit status 2" in finding.consequence for finding in failing)


RIGHT = {
    "a lock": "add() { flock 9; read n < count; echo $((n + 1)) > count; }; echo 0 > count; "
    "(add) 9> lock & (add) 9> lock & wait; cat count",
    "a directory as a lock": "add() { until mkdir lock 2> /dev/null; do sleep 1; done; "
    "read n < count; echo $((n + 1)) > count; rmdir lock; }; echo 0 > count; "
    "(add) & (add) & wait; cat count",
    "a pipe": "echo 1 > a; (cat a > b; echo done) | (read word; cat b)",
    "waiting": "(echo 1 > a) & wait; cat a",
    "different files": "(echo 1 > a) & (echo 2 > b) & wait; cat a b",
}


@pytest.mark.parametrize("script", RIGHT.values(), ids=RIGHT)
def test_right_programs_are_left_in_peace(script: str) -> None:
    with folder() as work:
        found = checked(work, script)
    loud = {Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS}
    assert not [f for f in found.findings.values() if f.klass in loud]
