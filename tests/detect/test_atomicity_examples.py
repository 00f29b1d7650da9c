# SPDX-License-Identifier: Apache-2.0
"""Atomicity violations, seen and unseen, with locks and without."""

import pytest
from tests.detect.story import Story

from eitherway.detect import atomicity, detect_all
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import EdgeKind, Kind, OpKind

R, W, U = OpKind.LOAD, OpKind.STORE, OpKind.UPDATE


def races(story: Story) -> list[Race]:
    return atomicity.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))


def check_then_act(story: Story, actor: str, *, one_section: bool) -> list[int]:
    """Looks whether there is something, then takes it."""
    story.takes(actor, "m")
    looked = story.reads(actor, "count", at="take:1")
    if not one_section:
        story.gives(actor, "m")
        story.takes(actor, "m")
    read, wrote = (
        story.reads(actor, "count", at="take:5"),
        story.writes(actor, "count", at="take:6"),
    )
    story.gives(actor, "m")
    return [looked, read, wrote]


def test_check_and_act_in_two_sections() -> None:
    """There is no data race, and nothing went wrong: A had finished before B began."""
    story = Story()
    looked, read, _ = check_then_act(story, "A", one_section=False)
    story.takes("B", "m")
    wrote = story.writes("B", "count", at="put:1")
    story.gives("B", "m")
    found = detect_all(story.trace())
    assert found == [Race(Kind.ATOMICITY, (looked, read, wrote), "RWR")]


def test_check_and_act_in_one_section() -> None:
    story = Story()
    for actor in "AB":
        check_then_act(story, actor, one_section=True)
    assert races(story) == []


def test_another_lock_does_not_help() -> None:
    story = Story()
    check_then_act(story, "A", one_section=True)
    story.takes("B", "other")
    story.writes("B", "count", at="put:1")
    story.gives("B", "other")
    assert {race.pattern for race in races(story)} == {"RWR", "RWW"}


@pytest.mark.parametrize(
    ("first", "remote", "second", "pattern"),
    [
        (R, W, R, "RWR"),
        (W, W, R, "WWR"),
        (R, W, W, "RWW"),
        (W, R, W, "WRW"),
        (R, R, R, ""),
        (R, R, W, ""),
        (W, R, R, ""),
        (W, W, W, ""),
        (R, U, W, "RWW"),
        (R, W, U, "RWR"),
        (U, W, R, "RWR"),
        (U, R, W, "WRW"),
        (W, U, U, "WWR"),
        (U, W, U, ""),
        (U, U, U, ""),
    ],
)
def test_patterns(first: OpKind, remote: OpKind, second: OpKind, pattern: str) -> None:
    story = Story()
    story.does("A", first, "x", at="f:1")
    story.does("A", second, "x", at="f:2")
    story.does("B", remote, "x", at="g:1")
    assert [race.pattern for race in races(story)] == ([pattern] if pattern else [])


def test_the_next_turn_of_a_loop_is_another_region() -> None:
    story = Story()
    for actor in "ABA":
        story.takes(actor, "m")
        story.reads(actor, "x", at="f:1")
        story.writes(actor, "x", at="f:2")
        story.gives(actor, "m")
    assert races(story) == []


def test_two_functions_called_from_different_places_are_two_regions() -> None:
    story = Story()
    story.reads("A", "x", at="f:1")
    story.writes("A", "x", at="g:1")
    story.writes("B", "x", at="h:1")
    assert races(story) == []


def test_an_access_that_must_come_before_or_after_does_not_come_between() -> None:
    story = Story()
    before = story.writes("B", "x", at="g:1")
    first = story.reads("A", "x", at="f:1")
    second = story.reads("A", "x", at="f:2")
    after = story.writes("B", "x", at="h:2")
    story.orders(before, first)
    story.orders(second, after)
    assert races(story) == []


def test_an_access_that_must_follow_the_first_only_can_come_between() -> None:
    story = Story()
    first = story.reads("A", "x", at="f:1")
    second = story.reads("A", "x", at="f:2")
    remote = story.writes("B", "x", at="g:1")
    story.orders(first, remote)
    assert races(story) == [Race(Kind.ATOMICITY, (first, second, remote), "RWR")]
