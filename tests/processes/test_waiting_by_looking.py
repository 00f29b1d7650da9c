# SPDX-License-Identifier: Apache-2.0
"""Who looks again and again, and sleeps in between, waits; and which child a wait finds."""

from pathlib import Path

import pytest
from tests.processes.harness import launch

from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class, Kind
from eitherway.recording.store import Store

MAKES = "(echo made > t; mv t f) &"
LOOKS = "until [ -e f ]; do sleep 0.1; done; cat f; wait"
PERL = """\
fork or do { open F, ">t"; print F "made\\n"; close F; rename "t", "f"; exit 0 };
%s until -e "f";
open F, "f"; print <F>; wait;
"""


def checked(work: Path, *command: str) -> Checked:
    with TreeSearch(launch(work, *command), Store(work / "store"), jobs=2) as search:
        return search.check(600.0, lambda _: None)


@pytest.mark.parametrize(
    "command",
    [
        ("sh", "-c", f"{MAKES} {LOOKS}"),
        ("perl", "-e", PERL % "sleep 1"),
        ("perl", "-e", PERL % "select undef, undef, undef, 0.1"),
    ],
    ids=["children", "sleep", "select"],
)
@pytest.mark.usefixtures("box")
def test_what_is_waited_for_by_looking_is_in_order(work: Path, command: tuple[str, ...]) -> None:
    assert checked(work, *command).findings == {}


@pytest.mark.usefixtures("box")
def test_who_looks_at_the_wrong_thing_is_found(work: Path) -> None:
    """The name is there before what it is for, which only the run shows that finds it at once."""
    found = checked(work, "sh", "-c", f"(echo made > f) & {LOOKS}")
    (finding,) = found.findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert {operation.variable for operation in finding.operations} == {str(work / "f")}


@pytest.mark.usefixtures("box")
def test_a_wait_is_to_blame_for_what_it_finds_alone(work: Path) -> None:
    """Not for what a child does later by it, which is a race of that child."""
    (waits,) = checked(
        work, "bash", "-c", "(exit 3) & (exit 4) & wait -n; echo $?"
    ).findings.values()
    assert (waits.kind, waits.klass) == (Kind.WAIT_WAKEUPS, Class.OUTPUT_DIFFERS)
    assert "first, while process" in waits.consequence
    found = checked(work, "sh", "-c", "(echo 1 > f) & ls > /dev/null; cat f; wait")
    assert {finding.kind for finding in found.findings.values()} == {Kind.LOAD_STORE}


@pytest.mark.usefixtures("box")
def test_a_child_that_looks_goes_on_when_what_it_looks_for_is_there(work: Path) -> None:
    """A wait found the one that makes it; where it finds the other, that must have seen it, too."""
    looks = "until [ -e f ]; do sleep 0.1; done"
    script = f"(sleep 2; echo made > f) & bash -c '{looks}; :'; cat f; wait"
    (finding,) = checked(work, "bash", "-c", script).findings.values()
    assert finding.klass is Class.OUTPUT_DIFFERS
    assert {operation.op for operation in finding.operations} == {"read", "write"}
    assert {operation.variable for operation in finding.operations} == {str(work / "f")}
