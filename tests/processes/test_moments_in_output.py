# SPDX-License-Identifier: Apache-2.0
"""Times that a run writes are others in every run, and no difference between two orders."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.processes.harness import LOST_UPDATE, launch, ran

from eitherway.find.tree_judge import is_shown_again
from eitherway.find.trees import TreeSearch
from eitherway.judge.trial import Trial
from eitherway.model.finding import Finding
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.moments import TIME, Moments
from eitherway.worlds.processes.outcome import outcome_of

STAMPED = "date +%s.%N; date +%H:%M:%S; date +%s%3N"


@pytest.fixture
def moments(box: Sandbox, work: Path) -> Moments:
    return Moments(ran(box, work, "sh", "-c", "sleep 100000; " + STAMPED).log)


def test_moments_of_the_run_are_masked_however_they_are_written(moments: Moments) -> None:
    now = time.time()
    day = time.strftime("%H:%M:%S", time.gmtime(now))
    numbers = [f"{now:.0f}", f"{now:.6f}", f"{now * 1e3:.0f}", f"{now * 1e9:.0f}"]
    for text in (*numbers, day, f"{day},123"):
        assert moments.masked(f"at {text}: done") == f"at {TIME}: done"
    assert moments.masked(f"{now + 99_000:.0f}") == TIME  # the clock was put on


@pytest.mark.parametrize(
    "text", ["1000000000", "12", "99:99:99", "1:2:3", "20261116", "3.1415926535", "a" * 40]
)
def test_other_numbers_stay(moments: Moments, text: str) -> None:
    assert moments.masked(text) == text


def test_two_runs_of_a_program_that_writes_times_write_the_same(work: Path, box: Sandbox) -> None:
    outcomes = []
    for _ in range(2):
        done = ran(box, work, "sh", "-c", f"({STAMPED}) | tee stamped; ({STAMPED}) >&2")
        outcomes.append(outcome_of(done, box))
        box.reset()
    one, other = outcomes
    assert (one.output, one.said) == (other.output, other.said)
    assert any(TIME in content for content in one.output.values())


def check(work: Path, script: str) -> list[Finding]:
    with TreeSearch(launch(work, "sh", "-c", script), Store(work / "store")) as search:
        return list(search.check(120.0, lambda _: None).findings.values())


@pytest.mark.usefixtures("box")
def test_what_writes_times_besides_is_judged_by_the_rest(work: Path) -> None:
    found = check(work, f"{LOST_UPDATE}\ncat count; {STAMPED}")
    assert [finding.klass for finding in found] == [Class.OUTPUT_DIFFERS]


@pytest.mark.usefixtures("box")
def test_who_writes_only_times_is_left_in_peace(work: Path) -> None:
    assert not check(work, "(date +%s%N > a; : > f) & (date +%s%N > b; : > f) & wait; cat a b")


ENDED = Outcome(Ending.EXIT, 0, {"a": "1", "b": "x"})


@pytest.mark.parametrize(
    ("flip", "control", "shown"),
    [
        ({"output": {"a": "2", "b": "y"}}, {}, True),
        ({"output": {"a": "2", "b": "z"}}, {}, True),  # something of it
        ({"output": {"a": "3", "b": "z"}}, {}, False),
        ({"output": {"a": "2", "b": "y"}}, {"output": {"a": "5", "b": "6"}}, False),
        ({"output": {"a": "2", "b": "y"}, "code": 1}, {}, False),
        ({"output": {"a": "2", "b": "y"}, "complaints": ("no",)}, {}, False),
    ],
)
def test_a_difference_must_show_again(
    flip: dict[str, object], control: dict[str, object], shown: bool
) -> None:
    trial = Trial(0, replace(ENDED, output={"a": "2", "b": "y"}), ENDED)
    again = [replace(ENDED, **changes) for changes in (flip, control)]  # type: ignore[arg-type]
    assert is_shown_again(trial, *again) is shown


def test_a_line_of_one_order_must_show_again() -> None:
    trial = Trial(0, replace(ENDED, said=("took 3 ms",)), ENDED)
    assert is_shown_again(trial, replace(ENDED, said=("took 3 ms",)), ENDED)
    assert not is_shown_again(trial, replace(ENDED, said=("took 4 ms",)), ENDED)
