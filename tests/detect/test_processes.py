# SPDX-License-Identifier: Apache-2.0
"""Process races on the examples that RacePro explains them with."""

from collections.abc import Callable, Iterator

import pytest
from tests.detect.story import WHOLE, Story

from eitherway.detect import detect_all
from eitherway.detect.wakes import Line, Lines, Mask
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import Kind, OpFlag, OpKind, World

STREAM = OpFlag.CUMULATIVE


def found(trace: Trace, kind: Kind) -> list[tuple[int, ...]]:
    return [race.operations for race in detect_all(trace) if race.kind is kind]


def test_ps_and_grep() -> None:
    """Figure 7: a shell starts ps (P2) and grep (P3) with a pipe between them."""
    story = Story(World.PROCESSES)
    fork2 = story.does("P1", OpKind.STORE, "/proc", part=(2, 3))
    begin2 = story.does("P2", OpKind.BEGIN, "P2")
    fork3 = story.does("P1", OpKind.STORE, "/proc", part=(3, 4))
    begin3 = story.does("P3", OpKind.BEGIN, "P3")
    story.orders(fork2, begin2)
    story.orders(fork3, begin3)
    getdents = story.does("P2", OpKind.LOAD, "/proc", part=WHOLE)
    execve = story.writes("P3", "/proc/3/cmdline")
    read = story.reads("P2", "/proc/3/cmdline")
    write = story.wakes("P2", "pipe", flags=STREAM)
    story.waits("P3", "pipe", write, flags=OpFlag.WILDCARD)
    story.writes("P3", "/proc/3/cmdline")  # exit: behind the read, through the pipe
    exit2 = story.wakes("P2", "children of P1")
    exit3 = story.wakes("P3", "children of P1")
    wait = story.waits("P1", "children of P1", exit2, flags=OpFlag.WILDCARD)
    story.waits("P1", "children of P1", exit3, flags=OpFlag.WILDCARD)
    trace = story.trace()
    assert found(trace, Kind.LOAD_STORE) == [(fork3, getdents), (execve, read)]
    assert found(trace, Kind.WAIT_WAKEUPS) == [(exit2, exit3, wait)]


def test_children_one_after_the_other_do_not_race() -> None:
    story = Story(World.PROCESSES)
    for child in ("P2", "P3"):
        start = story.does("P1", OpKind.START, child)
        story.orders(start, story.does(child, OpKind.BEGIN, child))
        gone = story.wakes(child, "children of P1")
        story.waits("P1", "children of P1", gone, flags=OpFlag.WILDCARD)
    assert detect_all(story.trace()) == []


def test_a_wait_for_one_child_does_not_race() -> None:
    story = Story(World.PROCESSES)
    exit2, _exit3 = story.wakes("P2", "children"), story.wakes("P3", "children")
    story.waits("P1", "children", exit2)
    assert detect_all(story.trace()) == []


def test_a_child_that_was_waited_for_by_name_is_gone() -> None:
    story = Story(World.PROCESSES)
    exit2, exit3 = story.wakes("P2", "children"), story.wakes("P3", "children")
    story.waits("P1", "children", exit2)
    story.waits("P1", "children", exit3, flags=OpFlag.WILDCARD)
    assert found(story.trace(), Kind.WAIT_WAKEUPS) == []


def test_a_wait_for_any_child_can_steal_one_waited_for_by_name_later() -> None:
    story = Story(World.PROCESSES)
    exit2, exit3 = story.wakes("P2", "children"), story.wakes("P3", "children")
    wait = story.waits("P1", "children", exit3, flags=OpFlag.WILDCARD)
    story.waits("P1", "children", exit2)
    assert found(story.trace(), Kind.WAIT_WAKEUPS) == [(exit2, exit3, wait)]


def test_a_read_takes_two_writes_together() -> None:
    """Figure 8a: the read came after both writes of one process and returned both."""
    story = Story(World.PROCESSES)
    first, second = (story.wakes("P1", "stream", flags=STREAM) for _ in range(2))
    read = story.waits("P2", "stream", first, second, flags=OpFlag.WILDCARD)
    assert found(story.trace(), Kind.WAIT_WAKEUPS) == [(first, second, read)]


def test_a_read_takes_the_first_of_two_writes() -> None:
    """Figure 8b: the read came between the writes."""
    story = Story(World.PROCESSES)
    first = story.wakes("P1", "stream", flags=STREAM)
    read = story.waits("P2", "stream", first, flags=OpFlag.WILDCARD)
    second = story.wakes("P1", "stream", flags=STREAM)
    assert found(story.trace(), Kind.WAIT_WAKEUPS) == [(first, read, second)]


def test_questions_and_answers_over_streams_do_not_race() -> None:
    story = Story(World.PROCESSES)
    for _ in range(5):
        ask = story.wakes("P1", "questions", at="ask:1", flags=STREAM)
        story.waits("P2", "questions", ask, at="hear:1", flags=OpFlag.WILDCARD)
        answer = story.wakes("P2", "answers", at="answer:1", flags=STREAM)
        story.waits("P1", "answers", answer, at="learn:1", flags=OpFlag.WILDCARD)
    assert detect_all(story.trace()) == []


def test_two_processes_accept_one_connection() -> None:
    story = Story(World.PROCESSES)
    connect = story.wakes("client", "socket")
    mine = story.waits("server 1", "socket", connect)
    other = story.waits("server 2", "socket", flags=OpFlag.BLOCKED)
    assert detect_all(story.trace()) == [Race(Kind.WAKEUP_WAITS, (connect, mine, other))]


def test_a_signal_may_interrupt_an_earlier_call() -> None:
    story = Story(World.PROCESSES)
    earlier = story.waits("P1", "signals of P1", flags=OpFlag.TRY)
    kill = story.wakes("P2", "signals of P1")
    hit = story.waits("P1", "signals of P1", kill, flags=OpFlag.TRY)
    later = story.waits("P1", "signals of P1", flags=OpFlag.TRY)
    waits = found(story.trace(), Kind.WAKEUP_WAITS)
    assert waits == [(earlier, kill, hit), (kill, hit, later)]


def test_names_of_a_directory_race_with_listing_it_only() -> None:
    story = Story(World.PROCESSES)
    create = story.does("P1", OpKind.STORE, "/tmp", part=(1, 2))
    unlink = story.does("P2", OpKind.STORE, "/tmp", part=(2, 3))
    getdents = story.does("P3", OpKind.LOAD, "/tmp", part=WHOLE)
    story.does("P4", OpKind.LOAD, "/tmp", part=(5, 6))
    assert found(story.trace(), Kind.LOAD_STORE) == [(create, getdents), (unlink, getdents)]


def _taken_twice(story: Story, stream: str, *readers: str) -> tuple[int, ...]:
    """At one place each, as every read of a program is."""
    wake = story.does("P1", OpKind.WAKE, stream, at="write:1", flags=STREAM)
    waits = [
        story.does(reader, OpKind.WAIT, stream, at="read:1", flags=OpFlag.WILDCARD)
        for reader in readers
    ]
    story.orders(wake, waits[0])
    return wake, *waits


def test_each_stream_of_a_program_is_told_by_itself() -> None:
    story = Story(World.PROCESSES)
    one, other = _taken_twice(story, "one", "P2", "P3"), _taken_twice(story, "other", "P2", "P3")
    assert found(story.trace(), Kind.WAKEUP_WAITS) == [one, other]


def test_what_one_reads_twice_does_not_hide_what_two_read() -> None:
    story = Story(World.PROCESSES)
    wake, first, again, anothers = _taken_twice(story, "jobs", "P2", "P2", "P3")
    story.orders(wake, again)  # one message, in two parts
    races = found(story.trace(), Kind.WAKEUP_WAITS)
    assert (wake, first, again) in races
    assert {(wake, first, anothers), (wake, again, anothers)} & set(races)


def test_of_thousands_of_children_each_is_not_held_against_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That any of them could have ended first is told once: then nobody need be looked at."""
    looks = []
    where = Lines.where

    def counted(lines: Lines, may_be: Callable[[Lines], Mask]) -> Iterator[Line]:
        looks.append(lines)
        return where(lines, may_be)

    monkeypatch.setattr(Lines, "where", counted)
    story = Story(World.PROCESSES)
    exits = [story.does(f"P{i}", OpKind.WAKE, "children", at="exit:1") for i in range(2, 102)]
    for gone in exits:
        wait = story.does("P1", OpKind.WAIT, "children", at="wait:1", flags=OpFlag.WILDCARD)
        story.orders(gone, wait)
    assert len(found(story.trace(), Kind.WAIT_WAKEUPS)) == 1
    assert len(looks) < len(exits)
