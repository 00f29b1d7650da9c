# SPDX-License-Identifier: Apache-2.0
"""Which pairs of a run are the same race once more."""

import pytest
from tests.detect.story import Story

from eitherway.detect import load_store
from eitherway.detect.instances import Pair, instances
from eitherway.model.order import Order


def told(story: Story, limit: int = 99) -> list[Pair]:
    order = Order.of(story.trace())
    (race,) = load_store.find(order)
    return instances(order, race, limit)


def test_each_access_meets_all_of_the_other_side() -> None:
    story = Story()
    early = [story.writes("A", "x", at="f:1") for _ in range(3)]
    read = story.reads("B", "x", at="g:2")
    late = [story.writes("A", "x", at="f:1") for _ in range(2)]
    pairs = [*((write, read) for write in early), *((read, write) for write in late)]
    assert set(told(story)) == set(pairs)


def test_what_is_close_together_is_not_crowded_out() -> None:
    story = Story()
    reads = [story.reads("B", "x", at="g:2") for _ in range(10)]
    writes = [story.writes("A", "x", at="f:1") for _ in range(10)]
    found = told(story, 9)
    assert len(found) == 9
    assert sum(write == writes[0] for _, write in found) >= 4
    assert any(read == reads[0] and write != writes[0] for read, write in found)


def test_the_witness_of_the_race_comes_first() -> None:
    story = Story()
    for _ in range(3):
        story.writes("A", "x", at="f:1")
        story.reads("B", "x", at="g:2")
    (race,) = load_store.find(Order.of(story.trace()))
    assert told(story)[0] == race.operations


def test_accesses_that_something_orders_are_no_instance() -> None:
    story = Story()
    story.takes("A", "m")
    first = story.writes("A", "x", at="f:1")
    story.gives("A", "m")
    story.takes("B", "m")
    read = story.reads("B", "x", at="g:2")
    story.gives("B", "m")
    last = story.writes("A", "x", at="f:1")
    assert told(story) == [(read, last)]
    assert first not in (read, last)


def test_other_objects_and_other_places_are_other_races() -> None:
    story = Story()
    pair = story.writes("A", "x", at="f:1"), story.reads("B", "x", at="g:2")
    story.writes("A", "y", at="f:1")
    story.writes("C", "y", at="f:1")
    order = Order.of(story.trace())
    race = next(race for race in load_store.find(order) if race.operations == pair)
    assert instances(order, race, 99) == [pair]


def test_one_place_may_race_with_itself() -> None:
    story = Story()
    writes = [story.writes(actor, "x", at="f:1") for actor in "ABA"]
    assert set(told(story)) == {(writes[0], writes[1]), (writes[1], writes[2])}


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_as_many_as_wanted_are_spread_over_the_run(limit: int) -> None:
    story = Story()
    for _ in range(20):
        story.writes("A", "x", at="f:1")
        story.reads("B", "x", at="g:2")
    found = told(story, limit)
    assert len(found) == len(set(found)) == limit
    assert limit == 1 or max(found)[0] >= 30
