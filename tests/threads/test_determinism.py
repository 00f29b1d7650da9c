# SPDX-License-Identifier: Apache-2.0
"""A run that is another when it is done again: what differs is found, and what may be the cause."""

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.captured import Capture, Captured
from eitherway.worlds.threads.causes import likely_causes
from eitherway.worlds.threads.course import Ended, Plan
from eitherway.worlds.threads.determinism import (
    Difference,
    Kind,
    check_determinism,
    check_schedule,
    compare,
)
from eitherway.worlds.threads.family import Member
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.schedule import SWITCH, Schedule, SwitchKind

Program = Callable[[str], str]


def recorded(program: Program, how: str) -> Recorded:
    launch = Launch.here([program("differs"), how])
    return Recorded(launch, run(launch, seed=2))


def one(found: list[Difference], kind: Kind) -> Difference:
    (difference,) = (each for each in found if each.kind is kind)
    return difference


def test_what_is_the_same_differs_in_nothing(program: Program) -> None:
    assert check_determinism(recorded(program, "never")) == []
    assert check_schedule(Launch.here([program("differs"), "never"]), seed=9) == []


def test_the_clock_of_the_processor(program: Program) -> None:
    first = recorded(program, "clock")
    found = check_determinism(first)
    assert "differs from byte" in one(found, Kind.OUTPUT).words
    assert "in line 1: was '" in one(found, Kind.OUTPUT).words
    causes = likely_causes(first, first.ran, fixed=True, boxed=True)
    assert any("rdtsc in" in cause for cause in causes)
    assert check_schedule(first.launch, seed=2) != []


def test_files_that_the_run_changed(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "count").write_text("5", encoding="ascii")
    first = recorded(program, "file")
    again = run(first.launch, replay=first.ran)
    found = check_determinism(first, again=again)
    assert found
    assert "count_runs" in one(found, Kind.TRACE).words
    before = (tmp_path / "count").read_text(encoding="ascii")
    (cause,) = (
        cause
        for cause in likely_causes(first, again, fixed=True, boxed=False)
        if "it changes files" in cause
    )
    assert str(tmp_path / "count") in cause
    assert (tmp_path / "count").read_text(encoding="ascii") == before
    assert likely_causes(first, first.ran, fixed=True, boxed=True)


def test_files_that_the_run_made_and_does_not_make_again(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "older").write_text("")
    os.utime(tmp_path / "older", (1, 1))
    first = recorded(program, "once")
    again = run(first.launch, replay=first.ran)
    assert (first.ran.out.beginning, again.out.beginning) == (b"is made\n", b"was there\n")
    (cause,) = (
        cause
        for cause in likely_causes(first, again, fixed=True, boxed=False)
        if "has changed since" in cause
    )
    assert "made" in cause
    assert "older" not in cause


@pytest.mark.parametrize("late", [False, True])
def test_a_replay_that_waits_for_what_never_comes_ends(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    first = recorded(program, "ever")
    ran = first.ran
    if late:  # where nothing was decided any more
        schedule = dataclasses.replace(ran.schedule, switches=ran.schedule.switches[:0])
        members = (dataclasses.replace(ran.members[0], schedule=schedule),)
        ran = dataclasses.replace(ran, members=members)
    again = run(first.launch, replay=ran, plan=Plan(timeout=30))
    assert again.course.ended is Ended.ITSELF
    assert b"the replay diverged: " in again.err.beginning


def test_addresses_are_blamed_where_they_are_not_fixed(program: Program) -> None:
    first = recorded(program, "never")
    assert "eitherway doctor" in likely_causes(first, first.ran, fixed=False, boxed=True)[0]


# --- made-up runs


def captured(data: bytes) -> Captured:
    capture = Capture()
    capture.add(data)
    return capture.captured()


def made(
    *switches: tuple[int, int, int], out: bytes = b"", came: tuple[inputs.Item, ...] = ()
) -> Ran:
    table = np.array(list(switches), dtype=SWITCH)
    schedule = Schedule(9, hash(switches) & 0xFFFF, table)
    return Ran(0, captured(out), captured(b""), (Member(schedule, inputs.packed(came)),))


def test_the_first_decision_that_differs_is_named() -> None:
    first = made((1, 2, 0), (5, 1, 0), (7, 3, 0))
    second = made((1, 2, 0), (5, 4, 1), (7, 3, 0))
    found = one(compare(first, second), Kind.SCHEDULE)
    assert found.step == 5
    assert found.words == (
        "decision 2 was: thread 1 goes on at step 5; is: waiter 4 is woken at step 5"
    )
    shorter = one(compare(first, made((1, 2, 0))), Kind.SCHEDULE)
    assert shorter.words == "decision 2 was: thread 1 goes on at step 5; is: none any more"


def test_every_kind_of_switch_has_words() -> None:
    header = Path(__file__).parents[2] / "native" / "runtime" / "schedule.h"
    names = re.findall(r"^ +EW_SWITCH_(\w+),", header.read_text(encoding="utf-8"), re.MULTILINE)
    assert [kind.name for kind in SwitchKind] == names
    for kind in SwitchKind:
        found = one(compare(made((1, 2, kind)), made((1, 3, kind))), Kind.SCHEDULE)
        assert found.words.startswith("decision 1 was: ")


def test_what_differs_in_a_child_is_named() -> None:
    def family(*switches: tuple[int, int, int], status: int) -> Ran:
        child = Member(made(*switches).schedule, parent=0, ordinal=1, status=status)
        return dataclasses.replace(made(), members=(Member(Schedule()), child))

    found = compare(family((3, 1, 0), status=0), family((3, 1, 5), status=9))
    assert [each.words for each in found] == [
        "in process 2, it ended with signal 9, not ended with status 0",
        "in process 2, decision 1 was: thread 1 goes on at step 3; "
        "is: time passes until something is due at step 3",
    ]


def test_how_a_run_ended_is_no_function_that_is_not_controlled(program: Program) -> None:
    first = recorded(program, "never")
    said = captured(b"eitherway: deadlock: no thread can go on\neitherway: ftime: the clock\n")
    again = dataclasses.replace(first.ran, err=said)
    told = " ".join(likely_causes(first, again, fixed=True, boxed=True))
    assert "not controlled: ftime: the clock" in told
    assert "deadlock" not in told


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (b"a\nbc\n", b"a\nbx\n", "byte 3 on, in line 2: was 'bc', is 'bx'"),
        (b"a\n", b"a\nb\n", "byte 2 on, in line 2: was at its end, is 'b'"),
        (b"", b"\xff\x1b[0m", r"byte 0 on, in line 1: was at its end, is '\xff\x1b[0m'"),
    ],
)
def test_the_first_byte_that_differs_is_named(first: bytes, second: bytes, words: str) -> None:
    assert words in one(compare(made(out=first), made(out=second)), Kind.OUTPUT).words


def test_output_that_differs_far_behind_is_told_so() -> None:
    far = b"x" * (1 << 20)
    words = one(compare(made(out=far + b"a"), made(out=far + b"b")), Kind.OUTPUT).words
    assert "differs somewhere behind byte 1048576" in words


def test_the_input_that_differs_is_named() -> None:
    first = made(came=((1, 0, b"t"), (4, 2, b"one")))
    second = made(came=((1, 0, b"t"), (4, 1, b"other")))
    found = one(compare(first, second), Kind.INPUT)
    assert found.words.startswith(
        "number 2 of what came from outside was data for thread 2, 3 bytes 6f6e65, is data"
    )
    fewer = one(compare(first, made(came=((1, 0, b"t"),))), Kind.INPUT)
    assert fewer.words.endswith("is not there")
    assert compare(first, second, clocks=False) == []


def test_the_ending_that_differs_is_named() -> None:
    other = dataclasses.replace(made(), status=-11)
    assert one(compare(made(), other), Kind.ENDING).words == "it ended with signal 11, not status 0"
