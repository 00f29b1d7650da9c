# SPDX-License-Identifier: Apache-2.0
"""Deadlocks that can happen, and those that cannot."""

from collections.abc import Iterable

import pytest
from tests.detect.story import Story

from eitherway.detect import deadlock, detect_all, requests
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import EdgeKind, Kind, OpFlag, OpKind

SHARED, TRY, BLOCKED = OpFlag.SHARED, OpFlag.TRY, OpFlag.BLOCKED


def races(story: Story) -> list[Race]:
    return deadlock.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))


def eats(story: Story, actor: str, *locks: str, flags: OpFlag = OpFlag.NONE) -> list[int]:
    """Takes the locks one after the other, then gives them back."""
    taken = [story.takes(actor, lock, flags=flags) for lock in locks]
    for lock in reversed(locks):
        story.gives(actor, lock)
    return taken


def table(seats: int, *, gate: bool = False) -> tuple[Story, list[int]]:
    """Philosophers who eat one after the other, so that nothing goes wrong in this run."""
    story, forks = Story(), []
    for seat in range(seats):
        name = f"philosopher {seat}"
        if gate:
            story.takes(name, "gate")
        forks += eats(story, name, f"fork {seat}", f"fork {(seat + 1) % seats}")
        if gate:
            story.gives(name, "gate")
    return story, forks


@pytest.mark.parametrize("seats", range(2, 7))
def test_dining_philosophers(seats: int) -> None:
    story, forks = table(seats)
    assert races(story) == [Race(Kind.DEADLOCK, tuple(forks), f"ring of {seats}")]


@pytest.mark.parametrize("seats", range(2, 6))
def test_a_gate_lets_only_one_of_them_eat(seats: int) -> None:
    story, _ = table(seats, gate=True)
    assert races(story) == []


def test_rings_longer_than_the_limit_are_not_told() -> None:
    story, _ = table(deadlock.LONGEST + 1)
    assert races(story) == []


def test_one_left_handed_philosopher_is_enough() -> None:
    story = Story()
    for seat in range(3):
        left, right = sorted((seat, (seat + 1) % 4))
        eats(story, f"philosopher {seat}", f"fork {left}", f"fork {right}")
    eats(story, "philosopher 3", "fork 0", "fork 3")
    assert races(story) == []


def test_two_orders_in_one_thread_are_no_deadlock() -> None:
    story = Story()
    eats(story, "A", "x", "y")
    eats(story, "A", "y", "x")
    assert races(story) == []


def test_an_order_that_must_be_is_no_deadlock() -> None:
    story = Story()
    eats(story, "A", "x", "y")
    end = story.does("A", OpKind.END, "A")
    story.orders(end, story.does("B", OpKind.JOIN, "A"))
    eats(story, "B", "y", "x")
    assert races(story) == []


def test_readers_do_not_wait_for_readers() -> None:
    story = Story()
    eats(story, "A", "x", "y", flags=SHARED)
    eats(story, "B", "y", "x", flags=SHARED)
    assert races(story) == []


def test_a_writer_waits_for_readers() -> None:
    story = Story()
    for actor, first, second in (("A", "x", "y"), ("B", "y", "x")):
        story.takes(actor, first, flags=SHARED)
        story.takes(actor, second)
        story.gives(actor, second)
        story.gives(actor, first)
    assert len(races(story)) == 1


def test_a_try_does_not_wait() -> None:
    story = Story()
    eats(story, "A", "x", "y")
    story.takes("B", "y")
    story.takes("B", "x", flags=TRY)
    assert races(story) == []


def test_a_lock_taken_again_is_no_deadlock() -> None:
    story = Story()
    eats(story, "A", "x", "y", "x")
    assert races(story) == []


def test_a_lock_is_held_until_released_as_often_as_taken() -> None:
    story = Story()
    first = story.takes("A", "x")
    story.takes("A", "x")
    story.gives("A", "x")
    second = story.takes("A", "y")
    other = eats(story, "B", "y", "x")
    assert [race.operations for race in races(story)] == [(first, second, *other)]


def test_a_lock_that_its_holder_waits_for() -> None:
    story = Story()
    taken, waits = story.takes("A", "x"), story.takes("A", "x", flags=BLOCKED)
    assert races(story) == [Race(Kind.DEADLOCK, (taken, waits), "self")]


def test_a_deadlock_that_happened() -> None:
    story = Story()
    first = [story.takes("A", "x"), story.takes("B", "y")]
    stuck = [story.takes("A", "y", flags=BLOCKED), story.takes("B", "x", flags=BLOCKED)]
    ring = (first[0], stuck[0], first[1], stuck[1])
    assert races(story) == [Race(Kind.DEADLOCK, ring, "ring of 2")]


def test_a_ring_is_told_once_for_all_locks_and_actors() -> None:
    story = Story()
    for i in range(20):
        for actor, first, second in (("A", "x", "y"), ("B", "y", "x")):
            story.takes(f"{actor}{i}", f"{first}{i}", at=f"{actor}:1")
            story.takes(f"{actor}{i}", f"{second}{i}", at=f"{actor}:2")
            story.gives(f"{actor}{i}", f"{second}{i}")
            story.gives(f"{actor}{i}", f"{first}{i}")
    assert len(races(story)) == 1


def test_a_release_by_somebody_else_changes_nothing() -> None:
    story = Story()
    story.gives("B", "x")
    story.takes("A", "x")
    story.gives("B", "x")
    story.takes("A", "y")
    eats(story, "B", "y", "x")
    assert len(races(story)) == 1


def transfers(locks: int, actors: int) -> Story:
    """Every two locks in both orders, from one place, by one actor after the other."""
    story = Story()
    pairs = [(i, j) for i in range(locks) for j in range(locks) if i != j]
    for turn, (i, j) in enumerate(pairs):
        actor = f"teller {turn % actors}"
        story.takes(actor, f"account {i}", at="transfer:1")
        story.takes(actor, f"account {j}", at="transfer:2")
        story.gives(actor, f"account {j}")
        story.gives(actor, f"account {i}")
    return story


def test_rings_of_the_same_places_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are millions of them."""
    monkeypatch.setattr(deadlock, "STEPS", 3_000)
    found = deadlock.find(Order.of(transfers(20, 8).trace(), (EdgeKind.INHERENT,)))
    assert sorted(race.pattern for race in found) == [f"ring of {n}" for n in range(2, 7)]
    assert found.limits == ()


def test_no_ring_has_more_actors_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlock, "STEPS", 3_000)
    found = deadlock.find(Order.of(transfers(20, 3).trace(), (EdgeKind.INHERENT,)))
    assert sorted(race.pattern for race in found) == ["ring of 2", "ring of 3"]
    assert found.limits == ()


def test_a_search_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    story, forks = table(4)
    monkeypatch.setattr(deadlock, "STEPS", 3)
    found = detect_all(story.trace())
    assert list(found) == []
    assert any("rings of 4 actors were searched for 3 steps" in limit for limit in found.limits)
    monkeypatch.setattr(deadlock, "STEPS", 100)
    found = detect_all(story.trace())
    assert [race.operations for race in found] == [tuple(forks)]
    assert found.limits == ()


def test_a_tangle_does_not_use_up_the_steps_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story()
    for i in range(12):  # each pair in both orders, by one actor: many paths and no ring
        for j in range(12):
            if i != j:
                eats(story, "A", f"a {i}", f"a {j}")
    last = [*eats(story, "A", "x", "y"), *eats(story, "B", "y", "x")]
    monkeypatch.setattr(deadlock, "STEPS", 20)
    found = deadlock.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))
    assert [race.operations for race in found] == [tuple(last)]
    assert len(found.limits) == 1


def hoard(*orders: Iterable[int]) -> Story:
    """Each actor takes locks in an order of its own and holds them all."""
    story = Story()
    for number, order in enumerate(orders):
        locks = [f"lock {i}" for i in order]
        for lock in locks:
            story.takes(f"actor {number}", lock, at="lock_all:1")
        for lock in locks:
            story.gives(f"actor {number}", lock)
    return story


def test_locks_held_on_no_cycle_make_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST", 0)
    story = hoard(range(300), range(300))
    found = deadlock.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))
    assert (list(found), found.limits) == ([], ())


def test_too_many_requests_are_cut_evenly_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MOST", 2_000)
    story = hoard(range(300), reversed(range(300)))
    found = deadlock.find(Order.of(story.trace(), (EdgeKind.INHERENT,)))
    assert [race.pattern for race in found] == ["ring of 2"]
    assert len(found.limits) == 1
    assert "too many locks are held at once" in found.limits[0]
