# SPDX-License-Identifier: Apache-2.0
"""A search that keeps only its last run goes through all runs of any program once."""

from collections.abc import Iterator
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.recording.layout import GUIDE_DECISION
from eitherway.worlds.threads.decisions import (
    TIME_PASSES,
    Decision,
    What,
    following,
    has_others,
    preemptions,
    read,
)


def noted(kind: int, free: int, time: int, choices: list[int], chosen: int, usual: int) -> bytes:
    threads = b"" if kind else b"".join(choice.to_bytes(4, "little") for choice in choices)
    return GUIDE_DECISION.pack(kind, free, time, 0, len(choices), chosen, usual) + threads


def test_what_the_runtime_noted_is_read() -> None:
    data = noted(0, 0, 1, [7, 2, 5], 2, 5) + noted(1, 1, 0, [0, 1, 2], 1, 0)
    assert read(data) == (
        Decision(What.THREAD, (5, 2, 7, TIME_PASSES), 2, free=False),
        Decision(What.WAITER, (0, 1, 2), 1, free=True),
    )
    assert read(b"") == ()


def test_what_takes_a_turn_away_costs() -> None:
    stays = Decision(What.THREAD, (1, 2, TIME_PASSES), 1, free=False)
    assert [stays.cost(choice) for choice in stays.choices] == [0, 1, 1]
    blocked = Decision(What.THREAD, (1, 2, TIME_PASSES), 1, free=True)
    assert [blocked.cost(choice) for choice in blocked.choices] == [0, 0, 1]


# --- a program of two threads, each with so many steps that never block


def run(steps: tuple[int, int], prefix: tuple[int, ...]) -> list[Decision]:
    """The decisions of one run; thread 0 begins."""
    left, running, decisions = list(steps), 0, list[Decision]()
    while all(left):
        taken = len(decisions)
        chosen = prefix[taken] if taken < len(prefix) else running
        decisions.append(Decision(What.THREAD, (running, 1 - running), chosen, free=False))
        running = chosen
        left[running] -= 1
    return decisions


def search(steps: tuple[int, int], bound: int) -> Iterator[list[Decision]]:
    prefix: tuple[int, ...] | None = ()
    while prefix is not None:
        decisions = run(steps, prefix)
        yield decisions
        prefix = following(decisions, bound)


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


@given(st.tuples(st.integers(1, 4), st.integers(1, 4)), st.integers(0, 8))
def test_every_order_within_the_bound_is_run_once(steps: tuple[int, int], bound: int) -> None:
    runs = [tuple(decision.chosen for decision in decisions) for decisions in search(steps, bound)]
    assert len(runs) == len(set(runs))
    assert set(runs) == all_orders(steps, bound)


@given(st.tuples(st.integers(1, 4), st.integers(1, 4)), st.integers(0, 8))
def test_others_are_left_exactly_when_the_bound_left_some_out(
    steps: tuple[int, int], bound: int
) -> None:
    runs = list(search(steps, bound))
    assert max(map(preemptions, runs)) <= bound
    assert any(has_others(run, bound) for run in runs) == (len(runs) < comb(sum(steps), steps[0]))


@pytest.mark.parametrize("bound", [0, 1])
def test_a_run_without_decisions_is_the_only_one(bound: int) -> None:
    assert following([], bound) is None
    assert not has_others([], bound)
