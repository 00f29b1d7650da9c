# SPDX-License-Identifier: Apache-2.0
"""What is done with locks that their holders alone may do, or nobody."""

from tests.detect.story import Story

from eitherway.detect import lock_misuse
from eitherway.model.order import Order
from eitherway.model.words import Kind, OpFlag, OpKind


def misuses(story: Story) -> list[tuple[str, tuple[int, ...]]]:
    found = lock_misuse.find(Order.of(story.trace()))
    assert all(race.kind is Kind.LOCK_MISUSE for race in found)
    return [(race.pattern, race.operations) for race in found]


def fails(story: Story, actor: str, kind: OpKind, lock: str) -> int:
    return story.does(actor, kind, lock, flags=OpFlag.FAILED)


def test_taking_and_giving_back_is_right() -> None:
    story = Story()
    story.does("A", OpKind.INIT, "m")
    for actor in "AB":
        story.takes(actor, "m")
        story.gives(actor, "m")
    story.does("A", OpKind.DESTROY, "m")
    assert misuses(story) == []


def test_what_nobody_has_cannot_be_given_back() -> None:
    story = Story()
    story.takes("A", "m")
    story.gives("A", "m")
    given = story.gives("A", "m")
    assert misuses(story) == [("not-held", (given,))]


def test_what_another_has_cannot_be_given_back() -> None:
    story = Story()
    taken = story.takes("A", "m")
    given = story.gives("B", "m")
    assert misuses(story) == [("anothers", (taken, given))]


def test_a_reader_cannot_give_back_what_other_readers_have() -> None:
    story = Story()
    story.takes("A", "rw", flags=OpFlag.SHARED)
    taken = story.takes("B", "rw", flags=OpFlag.SHARED)
    story.gives("A", "rw")
    given = story.gives("A", "rw")
    assert misuses(story) == [("anothers", (taken, given))]


def test_what_was_taken_twice_is_given_back_twice() -> None:
    story = Story()
    story.takes("A", "m")
    story.takes("A", "m")
    story.gives("A", "m")
    story.gives("A", "m")
    given = story.gives("A", "m")
    assert misuses(story) == [("not-held", (given,))]


def test_a_release_that_failed_leaves_the_lock_with_its_holder() -> None:
    story = Story()
    taken = story.takes("A", "m")
    failed = fails(story, "B", OpKind.RELEASE, "m")
    story.gives("A", "m")
    assert misuses(story) == [("anothers", (taken, failed))]


def test_a_wait_gives_back_what_it_has() -> None:
    story = Story()
    story.takes("A", "m")
    story.gives("A", "m", at="wait:1")
    story.waits("A", "c", at="wait:1")
    begun = story.gives("B", "m", at="wait:2")
    story.waits("B", "c", at="wait:2")
    assert misuses(story) == [("wait-not-held", (begun,))]


def test_those_who_wait_at_one_time_have_one_mutex() -> None:
    story = Story()
    waits = []
    for actor, lock in (("A", "m"), ("B", "n")):
        story.takes(actor, lock)
        story.gives(actor, lock, at=f"{actor}:1")
    wake = story.wakes("C", "c")
    for actor in "AB":
        waits.append(story.waits(actor, "c", wake, at=f"{actor}:1"))
    assert misuses(story) == [("two-mutexes", (waits[0], waits[1]))]


def test_one_after_the_other_may_have_another_mutex() -> None:
    story = Story()
    for actor, lock in (("A", "m"), ("B", "n")):
        story.takes(actor, lock)
        story.gives(actor, lock, at=f"{actor}:1")
        wake = story.wakes("C", "c")
        story.waits(actor, "c", wake, at=f"{actor}:1")
    assert misuses(story) == []


def test_who_was_woken_waits_no_more() -> None:
    story = Story()
    story.takes("A", "m")
    story.gives("A", "m", at="A:1")
    wake = story.wakes("C", "c")
    story.takes("B", "n")
    story.gives("B", "n", at="B:1")
    story.waits("A", "c", wake, at="A:1")
    story.waits("B", "c", at="B:1", flags=OpFlag.BLOCKED)
    assert misuses(story) == []


def test_destroying_what_somebody_has_is_found() -> None:
    story = Story()
    taken = story.takes("A", "m")
    destroyed = fails(story, "B", OpKind.DESTROY, "m")
    assert misuses(story) == [("destroyed-held", (taken, destroyed))]


def test_what_was_destroyed_is_no_lock() -> None:
    story = Story()
    destroyed = story.does("A", OpKind.DESTROY, "m")
    used = [fails(story, "B", kind, "m") for kind in (OpKind.ACQUIRE, OpKind.RELEASE)]
    again = fails(story, "A", OpKind.DESTROY, "m")
    assert misuses(story) == [
        ("use-after-destroy", (destroyed, used[0])),
        ("use-after-destroy", (destroyed, used[1])),
        ("use-after-destroy", (destroyed, again)),
    ]


def test_what_is_made_again_is_a_lock_again() -> None:
    story = Story()
    story.does("A", OpKind.DESTROY, "m")
    story.does("A", OpKind.INIT, "m")
    story.takes("B", "m", flags=OpFlag.TRY | OpFlag.FAILED)
    story.does("A", OpKind.DESTROY, "n")
    story.takes("B", "n")  # its memory was written to: it is another lock
    story.takes("A", "n", flags=OpFlag.FAILED)  # and this one's time was over
    assert misuses(story) == []


def test_taking_again_is_found_where_it_fails() -> None:
    story = Story()
    taken = story.takes("A", "m")
    story.takes("A", "m", flags=OpFlag.FAILED | OpFlag.TRY)
    failed = fails(story, "A", OpKind.ACQUIRE, "m")
    assert misuses(story) == [("relock", (taken, failed))]


def test_one_place_is_told_once() -> None:
    story = Story()
    first = story.gives("A", "m", at="f:1")
    story.gives("A", "m", at="f:1")
    story.gives("B", "n", at="f:1")
    assert misuses(story) == [("not-held", (first,))]
