# SPDX-License-Identifier: Apache-2.0
"""What runs show of others goes through all runs of any program, each once."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import Unavailable
from eitherway.recording.layout import GUIDE_DECISION
from eitherway.worlds.threads.decisions import TIME_PASSES, Decision, Frontier, read
from eitherway.worlds.threads.schedule import SwitchKind


def noted(kind: int, free: int, time: int, choices: list[int], chosen: int, usual: int) -> bytes:
    threads = b"" if kind else b"".join(choice.to_bytes(4, "little") for choice in choices)
    return GUIDE_DECISION.pack(kind, free, time, 0, len(choices), chosen, usual) + threads


def test_what_the_runtime_noted_is_read() -> None:
    data = noted(0, 0, 1, [7, 2, 5], 2, 5) + noted(1, 1, 0, [0, 1, 2], 1, 0)
    assert read(data) == (
        Decision(SwitchKind.THREAD, (5, 2, 7, TIME_PASSES), 2, free=False),
        Decision(SwitchKind.WAITER, (0, 1, 2), 1, free=True),
    )
    assert read(b"") == ()


def test_what_takes_a_turn_away_costs() -> None:
    stays = Decision(SwitchKind.THREAD, (1, 2, TIME_PASSES), 1, free=False)
    assert [stays.cost(choice) for choice in stays.choices] == [0, 1, 1]
    blocked = Decision(SwitchKind.THREAD, (1, 2, TIME_PASSES), 1, free=True)
    assert [blocked.cost(choice) for choice in blocked.choices] == [0, 0, 1]


# --- a program of two threads, each with so many steps that never block


def run(steps: tuple[int, int], prefix: tuple[int, ...]) -> list[Decision]:
    """The decisions of one run; thread 0 begins."""
    left, running, decisions = list(steps), 0, list[Decision]()
    while all(left):
        taken = len(decisions)
        chosen = prefix[taken] if taken < len(prefix) else running
        decisions.append(Decision(SwitchKind.THREAD, (running, 1 - running), chosen, free=False))
        running = chosen
        left[running] -= 1
    return decisions


def search(
    steps: tuple[int, int], frontier: Frontier, bound: int
) -> Iterator[tuple[int, list[Decision]]]:
    """The runs within the bound that were not done before, with their preemptions."""
    while (branch := frontier.take(bound)) is not None:
        decisions = run(steps, branch.prefix)
        yield branch.preemptions, decisions
        frontier.add(branch, decisions)


def chosen(decisions: list[Decision]) -> tuple[int, ...]:
    return tuple(decision.chosen for decision in decisions)


def _end(order: tuple[int, ...], who: int, steps: int) -> int:
    """How many steps there are until this thread has done all of its own."""
    return [at for at, other in enumerate(order) if other == who][steps - 1] + 1


def all_orders(steps: tuple[int, int], bound: int) -> set[tuple[int, ...]]:
    """By plain enumeration: who does each step, until one of them has done all."""
    total, found = sum(steps), set()
    for chosen in combinations(range(total), steps[0]):
        order = tuple(0 if at in chosen else 1 for at in range(total))
        last = next(
            n for n in range(1, total + 1) if order[:n].count(order[n - 1]) == steps[order[n - 1]]
        )
        contested = order[:last]
        if sum(a != b for a, b in zip((0, *contested), contested, strict=False)) <= bound:
            found.add(contested)
    return found


STEPS = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(STEPS, st.integers(0, 8))
def test_every_order_within_the_bound_is_run_once(steps: tuple[int, int], bound: int) -> None:
    runs = [chosen(decisions) for _, decisions in search(steps, Frontier(), bound)]
    assert len(runs) == len(set(runs))
    assert set(runs) == all_orders(steps, bound)


@given(STEPS, st.lists(st.integers(0, 8), min_size=1))
def test_bound_after_bound_no_order_comes_again(steps: tuple[int, int], bounds: list[int]) -> None:
    frontier, runs = Frontier(), list[tuple[int, ...]]()
    for bound in bounds:
        runs += [chosen(decisions) for _, decisions in search(steps, frontier, bound)]
    assert len(runs) == len(set(runs))
    assert set(runs) == all_orders(steps, max(bounds))


@given(STEPS, st.integers(0, 8))
def test_others_are_left_exactly_when_the_bound_left_some_out(
    steps: tuple[int, int], bound: int
) -> None:
    frontier = Frontier()
    runs = list(search(steps, frontier, bound))
    for preemptions, decisions in runs:
        assert preemptions == sum(one.cost(one.chosen) for one in decisions) <= bound
    assert frontier.has_more(bound) == (len(runs) < comb(sum(steps), steps[0]))


@pytest.mark.parametrize("bound", [0, 1])
def test_a_run_without_decisions_is_the_only_one(bound: int) -> None:
    frontier = Frontier()
    first = frontier.take(bound)
    assert first is not None
    frontier.add(first, [])
    assert frontier.take(bound) is None
    assert not frontier.has_more(bound)


@given(STEPS, st.integers(0, 3), st.integers(0, 5))
def test_without_room_all_within_the_bound_are_run_and_others_are_known_of(
    steps: tuple[int, int], bound: int, room: int
) -> None:
    frontier = Frontier(room)
    runs = {chosen(decisions) for _, decisions in search(steps, frontier, bound)}
    assert runs <= all_orders(steps, bound)
    assert (runs == all_orders(steps, bound)) == (not frontier.lacks(bound))
    assert frontier.has_more(bound) or runs == all_orders(steps, 8)


def test_a_run_that_goes_elsewhere_does_not_repeat() -> None:
    frontier, decisions = Frontier(), run((2, 2), ())
    first = frontier.take(0)
    assert first is not None
    frontier.add(first, decisions)
    branch = frontier.take(1)
    assert branch is not None
    other = [one._replace(choices=(*one.choices, 7)) for one in run((2, 2), branch.prefix)]
    for wrong in (decisions[: branch.at], other):
        with pytest.raises(Unavailable, match="does not repeat"):
            frontier.add(branch, wrong)
