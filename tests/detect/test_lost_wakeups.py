# SPDX-License-Identifier: Apache-2.0
"""Wake-ups that were lost, can be lost, and cannot."""

import itertools
from collections.abc import Sequence

import pytest
from tests.detect import agreement
from tests.detect.story import Story

from eitherway.detect import detect_all, lost_wakeup
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import EdgeKind, Kind, OpFlag


def races(story: Story) -> list[Race]:
    return lost_wakeup.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))


def waiter_begins(story: Story, *, looks_outside: bool = False) -> int:
    """Looks, gives back the mutex and begins to wait; returns the operation it begins with."""
    if looks_outside:
        story.reads("waiter", "ready")
    story.takes("waiter", "m")
    if not looks_outside:
        story.reads("waiter", "ready")
    return story.gives("waiter", "m")


def waiter_goes_on(story: Story, wake: int, flags: OpFlag = OpFlag.NONE) -> int:
    wait = story.waits("waiter", "condition", wake, flags=flags)
    story.takes("waiter", "m")
    story.gives("waiter", "m")
    return wait


def waker(story: Story, steps: str) -> int:
    """Steps: t takes the mutex, g gives it back, s stores, w wakes."""
    wake = -1
    for step in steps:
        match step:
            case "t":
                story.takes("waker", "m")
            case "g":
                story.gives("waker", "m")
            case "s":
                story.writes("waker", "ready")
            case "w":
                wake = story.wakes("waker", "condition")
    return wake


@pytest.mark.parametrize("steps", ["tswg", "tsgw", "twsg", "stwg"])
def test_a_mutex_around_look_and_store_is_enough(steps: str) -> None:
    story = Story()
    waiter_begins(story)
    waiter_goes_on(story, waker(story, steps))
    assert races(story) == []


@pytest.mark.parametrize("steps", ["sw", "w", "wtsg", "tgsw", "tgw", "swtg"])
def test_without_it_the_wake_can_come_too_early(steps: str) -> None:
    story = Story()
    begin = waiter_begins(story)
    wake = waker(story, steps)
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def test_looking_before_taking_the_mutex_is_too_early() -> None:
    story = Story()
    begin = waiter_begins(story, looks_outside=True)
    wake = waker(story, "tswg")
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


@pytest.mark.parametrize("steps", ["twg", "tw"])
def test_a_waker_that_was_told_within_the_mutex_comes_later(steps: str) -> None:
    story = Story()
    story.takes("waiter", "m")
    told = story.wakes("waiter", "semaphore", flags=OpFlag.CUMULATIVE)
    story.gives("waiter", "m")
    story.waits("waker", "semaphore", told)
    waiter_goes_on(story, waker(story, steps))
    assert races(story) == []


def test_but_not_without_the_mutex_at_the_wake() -> None:
    story = Story()
    story.takes("waiter", "m")
    told = story.wakes("waiter", "semaphore", flags=OpFlag.CUMULATIVE)
    begin = story.gives("waiter", "m")
    story.waits("waker", "semaphore", told)
    wake = waker(story, "tgw")
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def stores_elsewhere(story: Story, *, ready: str = "ready", read: str = "last") -> int:
    """A third one puts in the first entry; the waker reads which is the last, links the next."""
    story.takes("third", "m")
    story.writes("third", ready)
    story.writes("third", "last")
    story.gives("third", "m")
    story.takes("waker", "m")
    story.reads("waker", read)
    story.writes("waker", "last")
    story.gives("waker", "m")
    return story.wakes("waker", "condition")


def test_what_the_waker_read_of_a_third_one_makes_that_one_come_first() -> None:
    story = Story()
    waiter_begins(story)
    waiter_goes_on(story, stores_elsewhere(story))
    assert races(story) == []


@pytest.mark.parametrize(("ready", "read"), [("other", "last"), ("ready", "other")])
def test_but_not_when_one_of_both_is_something_else(ready: str, read: str) -> None:
    story = Story()
    begin = waiter_begins(story)
    wake = stores_elsewhere(story, ready=ready, read=read)
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def test_nor_when_the_waiter_had_seen_what_the_third_one_stored() -> None:
    story = Story()
    story.takes("third", "m")
    story.writes("third", "ready")
    story.writes("third", "last")
    story.gives("third", "m")
    begin = waiter_begins(story)
    story.takes("waker", "m")
    story.reads("waker", "last")
    wake = story.wakes("waker", "condition")
    story.gives("waker", "m")
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def section(story: Story, actor: str, lock: str, steps: Sequence[str]) -> int:
    """Stores to things, or reads what is marked with a '?'; wakes at 'wake'."""
    wake = -1
    story.takes(actor, lock)
    for step in steps:
        if step == "wake":
            wake = story.wakes(actor, "condition")
        elif step.endswith("?"):
            story.reads(actor, step[:-1])
        else:
            story.writes(actor, step)
    story.gives(actor, lock)
    return wake


_THIRD = (("ready", "last"), ("last", "ready"), ("ready",), ("last",), ("last", "other"))
_FOURTH = (None, ("last",), ("other",), ("last?", "last"))
_WAKER = (("last?",), ("other?",), ("last", "last?"), ("ready?",), ())


def test_nor_is_one_lost_that_hears_of_the_third_one_by_a_fourth() -> None:
    story = Story()
    waiter_begins(story)
    section(story, "third", "m", ("ready", "last"))
    section(story, "fourth", "m", ("last?", "last"))
    waiter_goes_on(story, section(story, "waker", "m", ("last?", "last", "wake")))
    assert races(story) == []


@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("lock", ["m", "n"])
@pytest.mark.parametrize("wakes_within", [True, False])
def test_whoever_stores_and_reads_what_the_oracle_agrees(
    early: bool, lock: str, wakes_within: bool
) -> None:
    outcomes = set()
    for third, fourth, waker in itertools.product(_THIRD, _FOURTH, _WAKER):
        story = Story()
        if early:
            section(story, "third", lock, third)
        waiter_begins(story)
        if not early:
            section(story, "third", lock, third)
        if fourth:
            section(story, "fourth", "m", fourth)
        wake = section(story, "waker", "m", (*waker, "last", *(["wake"] * wakes_within)))
        waiter_goes_on(story, wake if wakes_within else story.wakes("waker", "condition"))
        agreement.check_lost_wakeup(story.trace())
        outcomes.add(bool(races(story)))
    assert outcomes == ({True} if early or lock == "n" else {True, False})


def waiter_of_any(story: Story, *, hands_on: bool = True) -> int:
    """Looks under a lock of the user's; takes the mutex before, or after, it gives that back."""
    story.takes("waiter", "users")
    story.reads("waiter", "ready")
    if hands_on:
        story.takes("waiter", "m")
    story.gives("waiter", "users")
    if not hands_on:
        story.takes("waiter", "m")
    return story.gives("waiter", "m")


def waker_of_any(story: Story, *, lock: str = "users", mutex: str = "m") -> int:
    story.takes("waker", lock)
    story.writes("waker", "ready")
    story.gives("waker", lock)
    story.takes("waker", mutex)
    wake = story.wakes("waker", "condition")
    story.gives("waker", mutex)
    return wake


def test_a_look_under_a_lock_that_is_handed_on_to_the_mutex_is_enough() -> None:
    story = Story()
    waiter_of_any(story)
    waiter_goes_on(story, waker_of_any(story))
    assert races(story) == []


@pytest.mark.parametrize(
    ("hands_on", "lock", "mutex"),
    [(False, "users", "m"), (True, "another", "m"), (True, "users", "another")],
)
def test_and_without_any_part_of_that_it_is_not(hands_on: bool, lock: str, mutex: str) -> None:
    story = Story()
    begin = waiter_of_any(story, hands_on=hands_on)
    wake = waker_of_any(story, lock=lock, mutex=mutex)
    wait = waiter_goes_on(story, wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def test_a_mutex_that_was_given_back_after_looking_is_not_held() -> None:
    story = Story()
    story.takes("waiter", "m")
    story.reads("waiter", "ready")
    story.gives("waiter", "m")
    story.takes("waiter", "m")
    story.gives("waiter", "m")
    waiter_goes_on(story, waker(story, "tswg"))
    assert [race.pattern for race in races(story)] == ["possible"]


def test_a_wait_without_a_mutex() -> None:
    story = Story()
    begin = story.reads("waiter", "ready")
    wake = waker(story, "sw")
    wait = story.waits("waiter", "condition", wake)
    assert races(story) == [Race(Kind.LOST_WAKEUP, (begin, wake, wait), "possible")]


def test_a_wait_that_must_have_begun() -> None:
    story = Story()
    begin = waiter_begins(story)
    after = story.reads("waker", "other")
    story.orders(begin, after)
    waiter_goes_on(story, waker(story, "sw"))
    assert races(story) == []


def test_a_wait_with_a_timeout_loses_nothing() -> None:
    story = Story()
    waiter_begins(story)
    waiter_goes_on(story, waker(story, "sw"), flags=OpFlag.TRY)
    assert races(story) == []


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("looks", 0),  # what it was woken for was not for it
        ("looks, and stores what nobody else sees", 0),
        ("looks, and stores", 1),
        ("nothing", 2),  # it counts wake-ups
    ],
)
def test_a_waiter_that_waits_again(does: str, told: int) -> None:
    story = Story()
    waiter_begins(story)
    story.waits("waiter", "condition", waker(story, "tgw"))
    story.takes("waiter", "m")
    if "looks" in does:
        story.reads("waiter", "ready")
    if "nobody" in does:
        story.writes("waiter", "own")
    elif "stores" in does:
        story.writes("waiter", "ready")
    story.gives("waiter", "m")
    story.waits("waiter", "condition", waker(story, "tswg"))
    assert len(races(story)) == told


def test_a_semaphore_keeps_its_wakes() -> None:
    story = Story()
    story.reads("waiter", "ready")
    post = story.wakes("waker", "semaphore", flags=OpFlag.CUMULATIVE)
    story.waits("waiter", "semaphore", post)
    assert races(story) == []


def test_a_wake_that_nobody_heard_and_a_wait_without_end() -> None:
    story = Story()
    wake = waker(story, "tswg")
    story.takes("waiter", "m")
    story.gives("waiter", "m")
    wait = story.waits("waiter", "condition", flags=OpFlag.BLOCKED)
    assert detect_all(story.trace()) == [Race(Kind.LOST_WAKEUP, (wake, wait), "seen")]


def test_a_wait_without_end_that_began_before_the_wake_was_not_meant() -> None:
    story = Story()
    story.waits("waiter", "condition", flags=OpFlag.BLOCKED)
    waker(story, "w")
    assert races(story) == []


def test_a_wake_that_had_to_come_first_is_no_race() -> None:
    story = Story()
    wake = waker(story, "w")
    story.orders(wake, story.reads("waiter", "other"))
    story.waits("waiter", "condition", flags=OpFlag.BLOCKED)
    assert races(story) == []


def test_a_wake_somebody_else_heard_is_not_lost() -> None:
    story = Story()
    start = story.reads("other", "x")
    story.orders(start, story.reads("waker", "x"))
    wake = waker(story, "w")
    story.waits("other", "condition", wake)
    story.waits("waiter", "condition", flags=OpFlag.BLOCKED)
    assert races(story) == []
