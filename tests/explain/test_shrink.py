# SPDX-License-Identifier: Apache-2.0
"""What is not needed is left out, whatever is asked for and however that depends on the parts."""

from hypothesis import given
from hypothesis import strategies as st

from eitherway.explain.shrink import shrunk


def never(_items: list[int], _at: int) -> None:
    """No two are alike."""


@given(st.lists(st.integers(0, 9), max_size=40), st.sets(st.integers(0, 9), max_size=3))
def test_what_is_needed_stays_and_nothing_else(items: list[int], needed: set[int]) -> None:
    needed &= set(items)
    kept = shrunk(items, lambda some: needed <= set(some), never)
    assert sorted(kept) == sorted(needed)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(2, 7))
def test_no_single_item_can_go(items: list[int], divisor: int) -> None:
    """Also where what is asked for comes and goes with the parts: the sum, here."""
    rest = sum(items) % divisor

    def holds(some: list[int]) -> bool:
        return sum(some) % divisor == rest and len(some) > 0

    kept = shrunk(items, holds, never)
    assert holds(kept)
    assert not any(holds(kept[:at] + kept[at + 1 :]) for at in range(len(kept)))


@given(st.lists(st.integers(0, 3), max_size=20))
def test_what_is_left_is_in_its_order(items: list[int]) -> None:
    kept = shrunk(items, lambda some: some.count(1) == items.count(1), never)
    assert kept == [1] * items.count(1)


def test_alike_ones_become_one_where_that_still_holds() -> None:
    """As turns of one thread: the later part is done in the earlier turn."""

    def joined(items: list[tuple[str, int]], at: int) -> list[tuple[str, int]] | None:
        later = next((n for n in range(at + 1, len(items)) if items[n][0] == items[at][0]), None)
        if later is None:
            return None
        return [*items[:at], items[later], *items[at + 1 : later], *items[later + 1 :]]

    def holds(items: list[tuple[str, int]]) -> bool:
        """Without the first `a` it would begin with `b`."""
        return {("a", 2), ("b", 1)} <= set(items) and items[0][0] == "a"

    items = [("a", 1), ("b", 1), ("a", 2), ("c", 1)]
    assert shrunk(items, holds, joined) == [("a", 2), ("b", 1)]
    assert shrunk(items, holds, lambda items, at: None) == items[:3]


def test_large_parts_go_in_few_trials() -> None:
    trials = 0

    def holds(some: list[int]) -> bool:
        nonlocal trials
        trials += 1
        return {7, 4_000} <= set(some)

    assert shrunk(range(10_000), holds, never) == [7, 4_000]
    assert trials < 200


def test_without_time_all_stays() -> None:
    """Who has no more time says that nothing holds."""
    assert shrunk([1, 2, 3], lambda _: False, never) == [1, 2, 3]
