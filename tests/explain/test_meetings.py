# SPDX-License-Identifier: Apache-2.0
"""Pairs of operations that met, the last first."""

from tests.detect.story import Story

from eitherway.explain.meetings import meetings, moments
from eitherway.model.words import HANDLER_CALLED, OpFlag, OpKind


def test_accesses_of_two_actors_of_which_one_writes() -> None:
    story = Story()
    first = story.writes("one", "x")
    story.reads("one", "mine")
    last = story.reads("other", "x")
    assert list(meetings(story.trace())) == [(first, last)]


def test_two_that_only_read_do_not_meet() -> None:
    story = Story()
    story.reads("one", "x")
    story.reads("other", "x")
    assert list(meetings(story.trace())) == []


def test_each_with_the_last_that_it_meets() -> None:
    story = Story()
    story.writes("one", "x", at="f:1")
    again = story.writes("one", "x", at="f:2")
    read = story.reads("other", "x", at="g:1")
    write = story.writes("one", "x", at="f:3")
    assert list(meetings(story.trace())) == [(read, write), (again, read)]


def test_each_pair_of_places_once() -> None:
    story = Story()
    for _ in range(3):
        story.writes("one", "x", at="f:1")
        story.writes("other", "x", at="g:1")
    assert len(list(meetings(story.trace()))) == 2  # f before g, and g before f


def test_the_same_places_of_other_actors_are_others() -> None:
    story = Story()
    get = story.writes("one", "x", at="f:1")
    put = story.writes("other", "x", at="g:1")
    again = story.writes("third", "x", at="f:1")
    last = story.writes("one", "x", at="g:1")
    assert list(meetings(story.trace())) == [(again, last), (put, again), (get, put)]


def test_bytes_beside_each_other_do_not_meet() -> None:
    story = Story()
    story.does("one", OpKind.STORE, "x", part=(0, 4))
    story.does("other", OpKind.STORE, "x", part=(4, 8))
    low = story.does("one", OpKind.STORE, "y", part=(0, 4))
    high = story.does("other", OpKind.LOAD, "y", part=(3, 8))
    assert list(meetings(story.trace())) == [(low, high)]


def test_locks_meet_where_they_are_taken() -> None:
    story = Story()
    first = story.takes("one", "lock")
    story.gives("one", "lock")
    story.takes("third", "lock", flags=OpFlag.TRY | OpFlag.FAILED)
    last = story.takes("other", "lock")
    assert list(meetings(story.trace())) == [(first, last)]


def test_two_readers_of_a_lock_do_not() -> None:
    story = Story()
    first = story.takes("one", "lock", flags=OpFlag.SHARED)
    reader = story.takes("other", "lock", flags=OpFlag.SHARED)
    writer = story.takes("third", "lock")
    assert list(meetings(story.trace())) == [(reader, writer), (first, writer)]


def test_who_writes_meets_all_that_have_read_since_the_last_write() -> None:
    story = Story()
    story.reads("fourth", "x")
    made = story.writes("one", "x", at="f:1")
    story.reads("other", "x", at="g:1")
    early = story.reads("other", "x", at="g:2")
    late = story.reads("third", "x", at="h:1")
    write = story.writes("one", "x", at="f:2")
    found = list(meetings(story.trace()))
    assert found[:2] == [(late, write), (early, write)]
    assert (made, late) in found
    assert (made, early) in found


def test_those_who_wait_for_the_same_meet_each_other_and_who_wakes() -> None:
    story = Story()
    first = story.waits("one", "tokens")
    story.wakes("third", "tokens", at="f:1")
    wakes = story.wakes("third", "tokens", at="f:2")
    last = story.waits("other", "tokens")
    assert list(meetings(story.trace())) == [
        (wakes, last),
        (first, last),
        (first, wakes),
        (first, wakes - 1),
    ]


def test_two_that_wake_do_not() -> None:
    story = Story()
    story.wakes("one", "tokens")
    story.wakes("other", "tokens")
    assert list(meetings(story.trace())) == []


def test_what_a_thread_does_around_the_moment_at_which_it_is_sent_a_signal() -> None:
    story = Story()
    story.writes("sender", "mine", at="s:1")
    lock = story.takes("receiver", "lock", at="r:1")
    write = story.writes("receiver", "x", at="r:2")
    sent = story.wakes("sender", "signal", at="s:2")
    story.waits("receiver", "signal", sent, at=f"{HANDLER_CALLED}:1")
    again = story.takes("receiver", "lock", at="h:1")
    assert list(moments(story.trace())) == [(write, sent), (lock, sent), (sent, again)]


def test_who_waits_for_it_or_sends_it_to_itself_has_no_such_moment() -> None:
    story = Story()
    story.writes("receiver", "x", at="r:1")
    sent = story.wakes("sender", "signal", at="s:1")
    story.waits("receiver", "signal", sent, at="r:2")  # as sigwait does
    own = story.wakes("receiver", "other", at="r:3")
    story.waits("receiver", "other", own, at=f"{HANDLER_CALLED}:1")
    assert list(moments(story.trace())) == []
