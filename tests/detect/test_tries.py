# SPDX-License-Identifier: Apache-2.0
"""Who gives up where it finds a lock taken: which pairs are told."""

from tests.detect.story import Story

from eitherway.detect import detect_all
from eitherway.model.race import TRIED
from eitherway.model.words import OpFlag, World

TRY = OpFlag.TRY


def found(story: Story) -> list[tuple[int, ...]]:
    races = detect_all(story.trace())
    return [race.operations for race in races if race.pattern == TRIED]


def test_one_that_worked_and_could_have_come_too_early() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    given = story.gives("P", "l")
    assert found(story) == []
    taken = story.takes("Q", "l", flags=TRY)
    assert found(story) == [(given, taken)]


def test_one_that_gave_up_and_could_have_come_later() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    tried = story.takes("Q", "l", flags=TRY | OpFlag.FAILED)
    given = story.gives("P", "l")
    story.gives("P", "l")
    assert found(story) == [(tried, given)]


def test_who_waits_does_not_give_up() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    story.gives("P", "l")
    story.takes("Q", "l")
    assert found(story) == []


def test_one_actor_and_what_is_in_order_have_one_order() -> None:
    story = Story(World.PROCESSES)
    story.takes("P", "l")
    given = story.gives("P", "l")
    again = story.takes("P", "l", flags=TRY)
    assert found(story) == []
    last = story.gives("P", "l")
    story.orders(last, story.reads("Q", "file"))
    story.takes("Q", "l", flags=TRY)
    assert given < again < last
    assert found(story) == []
