# SPDX-License-Identifier: Apache-2.0
"""A deadlock and the lost wake-up that ends in it are one finding; any other two are not."""

import pytest

from eitherway.find.failures import without_repeats
from eitherway.model.finding import Finding, FoundOperation, Frame, Source
from eitherway.model.identity import identified
from eitherway.model.words import NEVER_RETURNED, Kind, World

OFTEN = "No thread of the program can go on in 3 of 64 schedules."


def side(line: int, op: str = "wait", thread: str = "thread T1") -> FoundOperation:
    frame = Frame(function=f"f{line}", file="a.c", line=line)
    return FoundOperation(actor=thread, op=op, variable="ready", stack=(frame,))


def finding(kind: Kind, *sides: FoundOperation, consequence: str = "") -> Finding:
    told = Finding(
        world=World.THREADS,
        kind=kind,
        operations=sides,
        consequence=consequence,
        sources=(Source("eitherway"),),
    )
    return identified(told)


STUCK = f"wait{NEVER_RETURNED}"
DEADLOCK = finding(Kind.DEADLOCK, side(15, STUCK), consequence=OFTEN)


def once(*findings: Finding) -> list[Finding]:
    return list(without_repeats({each.id: each for each in findings}).values())


@pytest.mark.parametrize("first", [False, True])
def test_a_deadlock_is_told_as_the_wake_up_that_was_seen_to_be_lost(first: bool) -> None:
    lost = finding(Kind.LOST_WAKEUP, side(10, "wake-up"), side(15), consequence=OFTEN)
    assert once(*((lost, DEADLOCK) if first else (DEADLOCK, lost))) == [lost]


def test_a_wake_up_that_nobody_saw_lost_takes_no_deadlock_away() -> None:
    feared = finding(Kind.LOST_WAKEUP, side(10, "wake-up"), side(15))
    assert once(feared, DEADLOCK) == [feared, DEADLOCK]


def test_a_wait_elsewhere_is_another_deadlock() -> None:
    lost = finding(Kind.LOST_WAKEUP, side(10, "wake-up"), side(16), consequence=OFTEN)
    assert once(lost, DEADLOCK) == [lost, DEADLOCK]
    two = finding(Kind.DEADLOCK, side(15, STUCK), side(16, STUCK, "thread T2"), consequence=OFTEN)
    assert once(lost, two) == [lost, two]


def test_a_cycle_of_locks_is_never_taken_for_a_wake_up() -> None:
    lost = finding(Kind.LOST_WAKEUP, side(10, "wake-up"), side(15), consequence=OFTEN)
    cycle = finding(Kind.DEADLOCK, side(14, "lock"), side(15, STUCK), consequence=OFTEN)
    assert once(lost, cycle) == [lost, cycle]
