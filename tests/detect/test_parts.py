# SPDX-License-Identifier: Apache-2.0
"""The parts that detectors share: slots of ranges, cycles of a graph, locks held, the registry."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.detect import oracle
from tests.detect.programs import LOCKED, LOCKS, seeded
from tests.detect.story import Story

from eitherway.detect import DETECTORS, Detector, detect_all, overlap
from eitherway.detect.accesses import numbered
from eitherway.detect.graph import parts
from eitherway.detect.locks import Locks
from eitherway.detect.overlap import components, overlaps
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import RANGE
from eitherway.model.words import EdgeKind, Kind, OpFlag, OpKind, World

Row = tuple[int, int, int]
ROWS = st.lists(
    st.builds(
        lambda owner, lo, width: (owner, lo, lo + width),
        st.integers(0, 2),
        st.integers(0, 40) | st.sampled_from([2**63, 2**64 - 50]),
        st.integers(1, 12),
    ),
    max_size=14,
)


def overlapping(one: Row, other: Row) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


@settings(max_examples=1200)
@given(ROWS, st.sampled_from([0, 3, 16]))
def test_ranges_overlap_exactly_where_slots_meet(rows: list[Row], few: int) -> None:
    """By pairs, by trees, and some so and some so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap, "FEW", few)
        slots = overlaps(np.array(rows, dtype=RANGE))
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            meets = bool(set(slots.looks[i]) & set(slots.enters[j]))
            assert meets == overlapping(one, other)


@settings(max_examples=400)
@given(ROWS)
def test_components_are_what_overlaps_directly_or_not(rows: list[Row]) -> None:
    component = components(np.array(rows, dtype=RANGE)).tolist()
    expected = list(range(len(rows)))
    for _ in rows:
        for i, one in enumerate(rows):
            for j, other in enumerate(rows):
                if overlapping(one, other):
                    expected[i] = min(expected[i], expected[j])
    pairs = [(i, j) for i in range(len(rows)) for j in range(len(rows))]
    assert all((component[i] == component[j]) == (expected[i] == expected[j]) for i, j in pairs)


def test_equal_ranges_need_one_slot() -> None:
    slots = overlaps(np.array([(1, 0, 8)] * 3 + [(1, 8, 16), (2, 0, 8)], dtype=RANGE))
    assert slots.count == 3
    assert {len(mine) for mine in (*slots.looks, *slots.enters)} == {1}


def test_a_range_over_many_needs_few_slots() -> None:
    names = [(1, i, i + 1) for i in range(1_000)]
    slots = overlaps(np.array([(1, 0, 1 << 40), *names], dtype=RANGE))
    assert max(len(mine) for mine in (*slots.looks, *slots.enters)) < 50


Arc = tuple[int, int]


def parts_of(arcs: Iterable[Arc], nodes: int) -> list[int]:
    source, target = np.array(sorted(arcs), dtype=np.int64).reshape(-1, 2).T
    return [int(part) for part in parts(source, target, nodes)]


@settings(max_examples=500)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16))
def test_parts_are_what_can_reach_each_other(arcs: set[Arc]) -> None:
    reach = {(a, a) for a in range(8)} | arcs
    for middle in range(8):
        reach |= {(a, d) for a, b in reach if b == middle for c, d in reach if c == middle}
    part = parts_of(arcs, 8)
    for a in range(8):
        for b in range(8):
            assert (part[a] == part[b]) == ((a, b) in reach and (b, a) in reach)


def test_a_long_chain_of_arcs_is_no_trouble() -> None:
    chain = [(i, i + 1) for i in range(50_000)]
    assert len(set(parts_of(chain, 50_001))) == 50_001
    assert len(set(parts_of([*chain, (50_000, 0)], 50_001))) == 1


@pytest.mark.parametrize("seed", range(80))
def test_locks_held_at_every_operation(seed: int) -> None:
    trace = seeded((LOCKED, LOCKS)[seed % 2], seed, size=200)
    locks, graph = Locks(trace), oracle.Graph(trace, ())
    for i in range(len(trace)):
        held = {(held.lock, held.shared, held.since) for held in locks.held(i)}
        assert held == {(t.lock, t.shared, t.since) for t in oracle.held(graph, i)}


def test_holdings_of_many_locks_at_once() -> None:
    story = Story()
    for i in range(1_000):
        story.takes("A", f"lock {i}")
    for i in range(1_000):
        story.gives("A", f"lock {i}")
    holdings = Locks(story.trace()).holdings
    assert [len(holdings[i]) for i in (500, 1_000, 1_500)] == [500, 1_000, 500]


def test_failed_and_blocked_acquisitions_hold_nothing() -> None:
    story = Story()
    story.takes("A", "x", flags=OpFlag.TRY | OpFlag.FAILED)
    story.takes("A", "y", flags=OpFlag.BLOCKED)
    last = story.reads("A", "z")
    assert Locks(story.trace()).held(last) == ()


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_rows_are_numbered_in_their_order(rows: list[tuple[int, int]]) -> None:
    columns = np.array(rows).T
    number, first = numbered(*columns)
    distinct = sorted(set(rows))
    assert number.tolist() == [distinct.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in distinct]


def test_detectors_have_names_of_kinds() -> None:
    assert list(dict.fromkeys(d.name for d in DETECTORS)) == [
        Kind.LOAD_STORE,
        Kind.WAIT_WAKEUPS,
        Kind.WAKEUP_WAITS,
        Kind.TOCTOU,
        Kind.ATOMICITY,
        Kind.DEADLOCK,
        Kind.LOST_WAKEUP,
        Kind.MEMORY_ERROR,
        Kind.LOCK_MISUSE,
    ]


def test_a_detector_gets_the_order_it_asks_for_in_its_worlds() -> None:
    story = Story(World.KERNEL)
    first = story.does("A", OpKind.RELEASE, "m")
    second = story.takes("B", "m")
    story.gives("C", "m")
    third = story.takes("D", "m")
    asked: list[bool] = []

    def find(order: Order) -> list[Race]:
        asked.append(bool(order.before(first + 2, third)[0]))
        return [Race(Kind.HANG, (first, second))]

    both = (EdgeKind.INHERENT, EdgeKind.CHANCE)
    detectors = (
        Detector("all", find, both, frozenset(World)),
        Detector("inherent", find, (EdgeKind.INHERENT,), frozenset({World.KERNEL})),
        Detector("elsewhere", find, both, frozenset({World.PROCESSES})),
    )
    assert len(detect_all(story.trace(), detectors)) == 2
    assert asked == [True, False]
