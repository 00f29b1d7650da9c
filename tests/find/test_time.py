# SPDX-License-Identifier: Apache-2.0
"""A search ends when its time is over, whatever is under way, and says what it left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from eitherway.find import search, unconfirmed
from eitherway.find.clock import GRACE, Clock, OutOfTime, alarm
from eitherway.find.confirm import Tracer
from eitherway.find.progress import Budget, Progress
from eitherway.find.search import Search
from eitherway.model.words import Class, Kind
from eitherway.recording.store import Store
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.policies import MIX, turns

PROGRAMS = Path(__file__).parent / "programs"
LONG = 600.0  # seconds: what waits for that has failed
Searched = Callable[..., Progress]


class Moments:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_one_thing_may_take_a_quarter_of_the_time() -> None:
    assert Clock(40.0).affords(10.0)
    assert not Clock(40.0).affords(10.1)
    assert Clock(None).affords(1e9)


def spin() -> NoReturn:
    while True:
        pass


def out_of_time(*_arguments: Any) -> NoReturn:
    raise OutOfTime


@pytest.fixture
def searched(tmp_path: Path) -> Searched:
    def run(name: str, *arguments: str, budget: Budget, clock: Clock | None = None) -> Progress:
        build(PROGRAMS / f"{name}.c", tmp_path / name)
        launch = Launch.here([str(tmp_path / name), *arguments])
        with Search(launch, Store(tmp_path / "store"), plan=Plan(timeout=LONG), fixed=False) as one:
            return one.run(turns(0, MIX), budget, lambda _: None, clock)

    return run


# --- the clock


def test_a_clock_knows_when_its_time_is_over() -> None:
    moments = Moments()
    clock = Clock(10.0, moments)
    assert (clock.until, clock.is_over) == (110.0, False)
    moments.now = 110.0
    assert clock.is_over


def test_a_clock_without_a_limit_is_never_over_and_never_late() -> None:
    moments = Moments()
    clock = Clock(None, moments)
    with clock.confirming():
        moments.now += LONG
    assert (clock.until, clock.is_over, clock.is_late) == (None, False, False)


def test_confirming_may_take_half_of_the_time() -> None:
    moments = Moments()
    clock = Clock(10.0, moments)
    moments.now += 2
    with clock.confirming():
        moments.now += 2
    assert not clock.is_late
    with clock.confirming():
        moments.now += 1
    assert clock.is_late


def test_what_goes_on_when_the_time_is_over_is_ended() -> None:
    moments = Moments()
    clock = Clock(10.0, moments)
    moments.now += 10 + GRACE
    with pytest.raises(OutOfTime), clock.enforced():
        spin()


def test_an_alarm_is_silent_when_its_block_was_left() -> None:
    with alarm(LONG):
        pass
    with pytest.raises(OutOfTime), alarm(0):
        spin()


# --- searches


def test_a_schedule_that_is_not_over_in_time_is_cut_off_and_is_no_hang(
    searched: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eitherway.find.clock.GRACE", LONG)  # it may take long to begin one
    progress = searched("endings", "never", budget=Budget(seconds=0.5))
    assert (progress.schedules, progress.cut_off, progress.in_vain) == (0, 1, True)
    assert progress.findings == {}


def test_what_was_seen_and_could_not_be_confirmed_is_told_as_that(
    searched: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tracer, "races", out_of_time)
    progress = searched("race", budget=Budget(schedules=50))
    told = list(progress.findings.values())
    assert told
    assert {finding.kind for finding in told} == {Kind.DATA_RACE}
    assert {(finding.klass, finding.reason) for finding in told} == {
        (Class.UNJUDGED, unconfirmed.NO_TIME)
    }
    assert progress.notes == [
        "the time was over while what was seen was looked at in a trace; --seconds gives it longer"
    ]


def test_deadlocks_that_there_was_no_time_to_look_for_are_said(
    searched: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tracer, "order", out_of_time)
    progress = searched("clean", budget=Budget(schedules=5))
    assert progress.findings == {}
    (note,) = progress.notes
    assert note.startswith("the time was over while deadlocks and lost wake-ups were looked for")


@pytest.mark.parametrize(
    ("name", "way", "kind", "words"),
    [
        ("endings", "code", Kind.FAILURE, "exit status 7"),
        ("endings", "crash", Kind.FAILURE, "killed by SIGSEGV"),
        ("endings", "hang", Kind.HANG, "run that never returned"),
    ],
)
def test_an_end_that_there_was_no_time_to_look_at_is_told_as_that(
    searched: Searched, monkeypatch: pytest.MonkeyPatch, name: str, way: str, kind: Kind, words: str
) -> None:
    monkeypatch.setattr(search, "failure_of", out_of_time)
    progress = searched(name, way, budget=Budget(schedules=60))
    (finding,) = progress.findings.values()
    assert (finding.kind, finding.reason) == (kind, unconfirmed.NO_TIME)
    assert [(side.actor, side.op) for side in finding.operations] == [(name, words)]
    assert "schedules" in finding.consequence


def test_a_deadlock_that_is_known_is_not_told_as_unknown(
    searched: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "failure_of", out_of_time)
    (finding,) = searched("deadlock", budget=Budget(schedules=60)).findings.values()
    assert (finding.kind, finding.reason) == (Kind.DEADLOCK, "")
