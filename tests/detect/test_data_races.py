# SPDX-License-Identifier: Apache-2.0
"""Data races in traces told by hand."""

import pytest
from tests.detect.story import Story

from eitherway.detect import detect_all, load_store, meet
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag, OpKind, World


def races(story: Story) -> list[tuple[int, ...]]:
    return [race.operations for race in load_store.find(Order.of(story.trace()))]


def test_two_stores_race() -> None:
    story = Story()
    pair = story.writes("A", "x"), story.writes("B", "x")
    assert detect_all(story.trace()) == [Race(Kind.DATA_RACE, pair)]


def test_two_loads_do_not_race() -> None:
    story = Story()
    story.reads("A", "x"), story.reads("B", "x")
    assert races(story) == []


def test_all_that_race_are_known_though_the_first_are_told_alone() -> None:
    story = Story()
    early = [story.writes("A", "x", at="f:1") for _ in range(2)]
    reads = [story.reads("B", "x", at="g:2") for _ in range(2)]
    other = story.reads("C", "x")
    order = Order.of(story.trace())
    assert not any(reads[1] in race.operations for race in load_store.find(order))
    apart = story.writes("A", "y")
    order = Order.of(story.trace())
    asked = [reads[1], apart, early[0], early[1], other, apart]
    assert load_store.are_racing(order, asked).tolist() == [True, False, True, True, True, False]
    assert load_store.are_racing(order, []).tolist() == []


def test_those_that_race_are_known_however_many_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    story = Story()
    asked = []
    for actor in "ABCD":
        story.takes(actor, "m")
        asked += [story.writes(actor, "y"), story.writes(actor, actor)]
        story.gives(actor, "m")
        asked += [story.writes(actor, "x")]
    order = Order.of(story.trace())
    racing = load_store.are_racing(order, asked).tolist()
    assert racing == [False, False, True] * 4
    monkeypatch.setattr(load_store, "_AT_ONCE", 4)
    assert load_store.are_racing(order, asked).tolist() == racing


def test_accesses_under_a_mutex_do_not_race() -> None:
    story = Story()
    for actor in ("A", "B", "A", "C"):
        story.takes(actor, "m")
        story.reads(actor, "x")
        story.writes(actor, "x")
        story.gives(actor, "m")
    assert races(story) == []


def test_an_access_outside_the_mutex_races_with_the_later_sections_only() -> None:
    story = Story()
    for actor in ("A", "B"):
        story.takes(actor, "m")
        inside = story.writes(actor, "x")
        story.gives(actor, "m")
    outside = story.writes("A", "x")
    assert races(story) == [(inside, outside)]


@pytest.mark.parametrize(
    ("flags", "other", "expected"),
    [
        (OpFlag.ATOMIC, OpFlag.ATOMIC, 0),
        (OpFlag.ATOMIC, OpFlag.NONE, 1),
        (OpFlag.NONE, OpFlag.NONE, 1),
    ],
)
def test_atomic_accesses_race_with_plain_ones_only(
    flags: OpFlag, other: OpFlag, expected: int
) -> None:
    story = Story()
    story.does("A", OpKind.UPDATE, "x", flags=flags)
    story.does("B", OpKind.LOAD, "x", flags=other)
    assert len(races(story)) == expected


def test_between_processes_nothing_is_atomic() -> None:
    story = Story(World.PROCESSES)
    for actor in ("A", "B"):
        story.does(actor, OpKind.STORE, "x", flags=OpFlag.ATOMIC)
    assert detect_all(story.trace()) == [Race(Kind.LOAD_STORE, (0, 1))]


@pytest.mark.parametrize(
    ("part", "other", "expected"),
    [((0, 4), (4, 8), 0), ((0, 4), (3, 5), 1), ((0, 8), (2, 3), 1), ((2, 3), (0, 8), 1)],
)
def test_ranges_race_where_they_overlap(
    part: tuple[int, int], other: tuple[int, int], expected: int
) -> None:
    story = Story()
    story.does("A", OpKind.STORE, "x", part=part)
    story.does("B", OpKind.STORE, "x", part=other)
    assert len(races(story)) == expected


def test_a_pair_of_places_is_told_once_and_first() -> None:
    story = Story()
    for _ in range(3):
        story.writes("A", "x", at="f:1")
    for _ in range(3):
        story.reads("B", "x", at="g:2")
    assert races(story) == [(0, 3)]


def test_one_place_races_with_itself() -> None:
    story = Story()
    for actor in "ABC":
        story.writes(actor, "x", at="f:1")
    assert races(story) == [(0, 1)]


def test_pairs_of_places_can_be_told_for_each_object() -> None:
    story = Story()
    for thing in ("x", "y"):
        for actor in "AB":
            story.writes(actor, thing, at="f:1")
    order = Order.of(story.trace())
    assert len(load_store.find(order)) == 1
    assert len(load_store.find(order, per_object=True)) == 2


def test_what_is_not_known_does_not_race() -> None:
    """Range 0 stands for "not known", not for one thing that all touch."""
    story = Story()
    trace = story.trace()
    assert load_store.find(Order.of(trace)) == []


def test_parts_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story()
    for thing in range(30):
        for actor in "ABC":
            story.writes(actor, f"x{thing}")
    order = Order.of(story.trace())
    whole = load_store.find(order)
    monkeypatch.setattr(meet, "ITEMS_AT_ONCE", 7)
    assert load_store.find(order) == whole
    assert len(whole) == 90
