# SPDX-License-Identifier: Apache-2.0
"""Which findings are judged, and for how long."""

from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import NoReturn, cast

import pytest

from eitherway.errors import BadInput
from eitherway.find import explaining
from eitherway.find import judging as module
from eitherway.find.explained import Explainer
from eitherway.find.explaining import explain_all
from eitherway.find.judging import Judging, is_open, judge_all
from eitherway.model.finding import Finding
from eitherway.model.words import Class, Kind, World
from eitherway.recording.store import Store
from eitherway.worlds.threads.course import Plan

FINDINGS = [Finding(World.THREADS, Kind.DATA_RACE, (), id=f"EW-{n}") for n in range(3)]


class Table:
    """Judges all but one."""

    def judged(self, finding: Finding) -> Finding:
        if finding.id == "EW-1":
            raise BadInput("its recording is gone")
        return finding


class Interrupted:
    """By somebody, at the second one."""

    def judged(self, finding: Finding) -> Finding:
        if finding.id == "EW-1":
            raise KeyboardInterrupt
        return finding


class Endless:
    """Comes to no end."""

    def judged(self, _: Finding) -> NoReturn:
        while True:
            pass

    fails = judged


JUDGING = cast(Judging, Table())


def test_what_cannot_be_judged_costs_nothing_else() -> None:
    told: list[str] = []
    judged, notes, _ = judge_all(JUDGING, FINDINGS, told.append)
    assert [finding.id for finding in judged] == ["EW-0", "EW-2"]
    assert notes == ["2 of 3 findings were judged", "EW-1 is not judged: its recording is gone"]
    assert told[0] == "judging 1 of 3: EW-0"


def test_none_is_begun_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 1.0, 11.0])
    monkeypatch.setattr(module, "monotonic", lambda: next(moments))
    judged, notes, _ = judge_all(JUDGING, FINDINGS, lambda _: None, seconds=10.0)
    assert [finding.id for finding in judged] == ["EW-0"]
    assert "2 were not judged in the time that there was: eitherway judge" in notes


def test_one_that_is_under_way_has_as_long_again() -> None:
    endless = cast(Judging, Endless())
    judged, notes, _ = judge_all(endless, FINDINGS, lambda _: None, seconds=0.01)
    assert judged == []
    assert "3 were not judged in the time that there was: eitherway judge" in notes


def test_what_was_judged_when_it_is_interrupted_is_kept() -> None:
    kept: list[Finding] = []
    interrupted = cast(Judging, Interrupted())
    told = judge_all(interrupted, FINDINGS, lambda _: None, keep=kept.append)
    assert [finding.id for finding in kept] == ["EW-0"]
    assert told.findings == kept
    assert told.notes[1] == "2 were not judged before it was interrupted: eitherway judge"
    assert isinstance(told.interrupted, KeyboardInterrupt)


def test_what_is_being_explained_when_the_time_is_over_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(explaining, "recorded_of", lambda _: SimpleNamespace(ran=None))
    explainer, until = cast(Explainer, Endless()), monotonic() + 0.5
    assert explain_all(explainer, FINDINGS, Store(tmp_path), until, 0.01) == []


def test_only_data_races_that_were_not_judged_are_open() -> None:
    race = FINDINGS[0]
    assert is_open(race)
    other = Finding(World.THREADS, Kind.DEADLOCK, ())
    done = Finding(World.THREADS, Kind.DATA_RACE, (), klass=Class.SINGLE_ORDERING)
    assert not is_open(other)
    assert not is_open(done)


def test_a_finding_without_a_recording_is_refused(tmp_path: Path) -> None:
    with (
        Judging(Store(tmp_path), plan=Plan(), fixed=True, continuations=1) as judging,
        pytest.raises(BadInput, match="no recording shows it"),
    ):
        judging.judged(FINDINGS[0])
