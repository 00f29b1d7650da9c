# SPDX-License-Identifier: Apache-2.0
"""A look, a change and a use: which threes are told."""

from tests.detect.story import Story

from eitherway.detect import detect_all
from eitherway.model.words import Kind, OpFlag, OpKind, World

CHECK, FAILED = OpFlag.CHECK, OpFlag.FAILED


def found(story: Story) -> list[tuple[int, ...]]:
    return [race.operations for race in detect_all(story.trace()) if race.kind is Kind.TOCTOU]


def looks(story: Story, actor: str, *, at: str = "stat:1", flags: OpFlag = CHECK) -> int:
    return story.does(actor, OpKind.LOAD, "f", at=at, flags=flags)


def test_told_as_check_change_use_whenever_the_change_came() -> None:
    for moment in range(3):
        story, numbers = Story(World.PROCESSES), {}
        steps = ["check", "use"]
        steps.insert(moment, "change")
        for step in steps:
            if step == "check":
                numbers[step] = looks(story, "P")
            elif step == "use":
                numbers[step] = story.reads("P", "f", at="open:2")
            else:
                numbers[step] = story.writes("Q", "f", at="unlink:3")
        assert found(story) == [(numbers["check"], numbers["change"], numbers["use"])]


def test_the_last_look_counts() -> None:
    story = Story(World.PROCESSES)
    looks(story, "P")
    second = looks(story, "P", at="access:2")
    use, change = story.reads("P", "f", at="open:3"), story.writes("Q", "f")
    assert found(story) == [(second, change, use)]


def test_a_call_that_failed_is_a_look() -> None:
    story = Story(World.PROCESSES)
    failed = looks(story, "P", at="open:1", flags=FAILED)
    use, change = story.writes("P", "f", at="creat:2"), story.writes("Q", "f")
    assert found(story) == [(failed, change, use)]


def test_a_second_try_is_no_use() -> None:
    story = Story(World.PROCESSES)
    looks(story, "P", at="mkdir:1", flags=FAILED)
    story.writes("P", "f", at="mkdir:1")
    story.writes("Q", "f", at="rmdir:2")
    assert found(story) == []


def test_looks_alone_use_nothing() -> None:
    story = Story(World.PROCESSES)
    looks(story, "P")
    looks(story, "P", at="access:2")
    story.writes("Q", "f")
    assert found(story) == []


def test_who_did_not_look_is_not_betrayed() -> None:
    story = Story(World.PROCESSES)
    looks(story, "P")
    story.reads("R", "f", at="open:2")
    story.writes("Q", "f")
    assert found(story) == []


def test_a_change_that_is_in_order_comes_not_between() -> None:
    before = Story(World.PROCESSES)
    change = before.writes("Q", "f")
    before.orders(change, looks(before, "P"))
    before.reads("P", "f", at="open:2")
    assert found(before) == []
    after = Story(World.PROCESSES)
    looks(after, "P")
    use = after.reads("P", "f", at="open:2")
    after.orders(use, after.writes("Q", "f"))
    assert found(after) == []


def test_a_lock_around_both_keeps_others_out() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    looks(story, "P")
    story.reads("P", "f", at="open:2")
    story.gives("P", "l")
    story.takes("Q", "l")
    story.writes("Q", "f")
    story.gives("Q", "l")
    assert found(story) == []
