# SPDX-License-Identifier: Apache-2.0
"""What is read and written in two sections of a lock: which threes are told."""

from tests.detect.story import Story

from eitherway.detect import detect_all
from eitherway.model.order import Order
from eitherway.model.race import SECTIONS
from eitherway.model.sections import first_of
from eitherway.model.words import OpFlag, OpKind, World


def found(story: Story) -> list[tuple[int, ...]]:
    return [race.operations for race in detect_all(story.trace()) if race.pattern == SECTIONS]


def within(story: Story, actor: str, kind: OpKind, flags: OpFlag = OpFlag.NONE) -> int:
    story.takes(actor, "l")
    access = story.does(actor, kind, "f", flags=flags)
    story.gives(actor, "l")
    return access


def test_told_whenever_the_other_came() -> None:
    for moment in range(3):
        story, done = Story(World.PROCESSES), {}
        steps = [("P", OpKind.LOAD), ("P", OpKind.STORE)]
        steps.insert(moment, ("Q", OpKind.STORE))
        for step in steps:
            done[step] = within(story, *step)
        read, other, written = (
            done["P", OpKind.LOAD], done["Q", OpKind.STORE], done["P", OpKind.STORE],
        )  # fmt: skip
        assert found(story) == [(read, other, written)]


def test_one_section_is_whole() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    story.reads("P", "f")
    story.writes("P", "f")
    story.gives("P", "l")
    within(story, "Q", OpKind.STORE)
    assert found(story) == []


def test_who_wrote_what_it_did_not_read_lost_nothing() -> None:
    story = Story(World.PROCESSES)
    within(story, "P", OpKind.STORE)
    within(story, "P", OpKind.STORE)
    within(story, "Q", OpKind.STORE)
    assert found(story) == []


def test_a_look_is_no_read() -> None:
    story = Story(World.PROCESSES)
    within(story, "P", OpKind.LOAD, OpFlag.CHECK)
    within(story, "P", OpKind.STORE)
    within(story, "Q", OpKind.STORE)
    assert found(story) == []


def test_what_is_in_order_comes_not_between() -> None:
    story = Story(World.PROCESSES)
    within(story, "P", OpKind.LOAD)
    last = within(story, "P", OpKind.STORE)
    story.takes("Q", "l")
    story.orders(last, story.writes("Q", "f"))
    story.gives("Q", "l")
    assert found(story) == []


def test_another_lock_keeps_nobody_out() -> None:
    """Such a pair races by itself."""
    story = Story(World.PROCESSES)
    within(story, "P", OpKind.LOAD)
    within(story, "P", OpKind.STORE)
    story.takes("Q", "m")
    story.writes("Q", "f")
    story.gives("Q", "m")
    assert found(story) == []


def test_a_section_that_others_were_started_in_is_not_the_first() -> None:
    story = Story(World.PROCESSES)
    outer = story.takes("Q", "l")
    taken = story.takes("P", "l")
    story.orders(outer, taken)
    assert first_of(Order.of(story.trace()), outer, (taken,)) is None
