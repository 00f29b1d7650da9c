# SPDX-License-Identifier: Apache-2.0
"""What is done with memory that was given back."""

from tests.detect.story import Story

from eitherway.detect import memory_error
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag, OpKind

BLOCK = (0, 64)


def errors(story: Story) -> list[tuple[str, tuple[int, ...]]]:
    found: list[Race] = memory_error.find(Order.of(story.trace()))
    assert all(race.kind is Kind.MEMORY_ERROR for race in found)
    return [(race.pattern, race.operations) for race in found]


def test_what_is_used_before_is_right() -> None:
    story = Story()
    story.does("A", OpKind.ALLOCATE, "b", part=BLOCK)
    story.writes("A", "b")
    story.does("A", OpKind.FREE, "b", part=BLOCK)
    assert errors(story) == []


def test_a_use_behind_the_free_is_found() -> None:
    story = Story()
    free = story.does("A", OpKind.FREE, "b", part=BLOCK)
    use = story.does("A", OpKind.LOAD, "b", part=(8, 12))
    assert errors(story) == [("use-after-free", (free, use))]


def test_a_use_by_another_may_be_ordered_or_not() -> None:
    story = Story()
    story.takes("A", "m")
    free = story.does("A", OpKind.FREE, "b", part=BLOCK)
    story.gives("A", "m")
    racing = story.reads("C", "b", at="f:1")
    story.takes("B", "m")
    ordered = story.reads("B", "b", at="f:2")
    assert errors(story) == [
        ("unordered-use-after-free", (free, racing)),
        ("use-after-free", (free, ordered)),
    ]


def test_a_use_that_came_before_the_free_is_none() -> None:
    story = Story()
    story.reads("A", "b")
    story.does("B", OpKind.FREE, "b", part=BLOCK)
    assert errors(story) == []


def test_what_lies_beside_the_block_is_no_part_of_it() -> None:
    story = Story()
    story.does("A", OpKind.FREE, "b", part=BLOCK)
    story.does("A", OpKind.LOAD, "b", part=(64, 72))
    story.reads("A", "c")
    assert errors(story) == []


def test_a_second_free_is_found_in_any_order() -> None:
    story = Story()
    first = story.does("A", OpKind.FREE, "b", part=BLOCK)
    second = story.does("B", OpKind.FREE, "b", part=BLOCK)
    assert errors(story) == [("unordered-double-free", (first, second))]


def test_a_free_in_the_midst_of_a_block_is_found() -> None:
    story = Story()
    free = story.does("A", OpKind.FREE, "b", part=(8, 9), flags=OpFlag.FAILED)
    assert errors(story) == [("invalid-free", (free,))]


def test_blocks_that_nothing_is_known_of_are_given_back_rightly() -> None:
    story = Story()
    story.does("A", OpKind.FREE, "memory", part=(64, 128))
    story.does("A", OpKind.FREE, "memory", part=(64, 128))
    story.does("A", OpKind.LOAD, "memory", part=(64, 72))
    assert errors(story) == []


def test_each_place_is_told_once() -> None:
    story = Story()
    free = story.does("A", OpKind.FREE, "b", part=BLOCK)
    first = story.reads("A", "b", at="f:1")
    story.reads("A", "b", at="f:1")
    write = story.writes("A", "b", at="f:1")
    other = story.reads("A", "b", at="f:2")
    assert errors(story) == [
        ("use-after-free", (free, first)),
        ("use-after-free", (free, write)),
        ("use-after-free", (free, other)),
    ]
