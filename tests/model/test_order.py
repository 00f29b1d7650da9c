# SPDX-License-Identifier: Apache-2.0
"""The order of a trace is the closure of program order and edges, nothing more or less."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eitherway.model.order import BYTES_PER_OPERATION, Order
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpKind, World

KINDS = [(), (EdgeKind.INHERENT,), (EdgeKind.CHANCE,), tuple(EdgeKind)]


def made(actors: list[int], edges: list[tuple[int, int, EdgeKind]]) -> Trace:
    """One operation per entry of `actors`; edges over the operations that exist, forwards."""
    builder = TraceBuilder(World.THREADS)
    for _ in range(max(actors, default=-1) + 1):
        builder.actor()
    for actor in actors:
        builder.operation(actor, OpKind.OTHER)
    for one, other, kind in edges:
        source, target = sorted((one, other))
        if source < target < len(actors):
            builder.edge(source, target, kind)
    return builder.build()


TRACES = st.builds(
    made,
    st.lists(st.integers(0, 4), max_size=24),
    st.lists(
        st.tuples(st.integers(0, 23), st.integers(0, 23), st.sampled_from(EdgeKind)), max_size=16
    ),
)


def closure(
    trace: Trace, kinds: tuple[EdgeKind, ...]
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """before[i, j], by Warshall."""
    count = len(trace)
    before = np.zeros((count, count), dtype=bool)
    actor = trace.operations["actor"]
    for i in range(count):
        for j in range(i + 1, count):
            before[i, j] = actor[i] == actor[j]
    for edge in trace.edges:
        if EdgeKind(int(edge["kind"])) in kinds:
            before[edge["source"], edge["target"]] = True
    for middle in range(count):
        before |= np.outer(before[:, middle], before[middle])
    return before


@settings(max_examples=600)
@given(TRACES, st.sampled_from(KINDS))
def test_before_and_concurrent_are_the_closure(trace: Trace, kinds: tuple[EdgeKind, ...]) -> None:
    truth, order = closure(trace, kinds), Order.of(trace, kinds)
    one, other = (index.ravel() for index in np.indices(truth.shape))
    assert (order.before(one, other) == truth.ravel()).all()
    apart = ~truth & ~truth.T & ~np.eye(len(trace), dtype=bool)
    assert (order.concurrent(one, other) == apart.ravel()).all()


@settings(max_examples=600)
@given(TRACES, st.sampled_from(KINDS))
def test_sweep_gives_each_segment_its_clock_in_order(
    trace: Trace, kinds: tuple[EdgeKind, ...]
) -> None:
    truth, order = closure(trace, kinds), Order.of(trace, kinds)
    swept = list(order.sweep())
    assert [segment for segment, _ in swept] == list(range(len(order.actor)))
    assert (np.diff(order.first.astype(np.int64)) > 0).all()
    for segment, clock in swept:
        first = order.first[segment]
        for actor in set(range(len(trace.actors))) - {int(order.actor[segment])}:
            known = truth[:, first] & (trace.operations["actor"] == actor)
            numbers = order.number[order.segment[np.flatnonzero(known)]]
            assert clock[actor] == numbers.max(initial=0)


@settings(max_examples=300)
@given(TRACES)
def test_operations_of_a_segment_relate_to_others_alike(trace: Trace) -> None:
    truth, order = closure(trace, tuple(EdgeKind)), Order.of(trace)
    actor = trace.operations["actor"]
    for segment in range(len(order.actor)):
        mine = np.flatnonzero(order.segment == segment)
        assert mine[0] == order.first[segment]
        assert set(actor[mine].tolist()) == {int(order.actor[segment])}
        others = actor != order.actor[segment]
        for row in mine[1:]:
            assert (truth[row, others] == truth[mine[0], others]).all()
            assert (truth[others, row] == truth[others, mine[0]]).all()


def test_an_empty_trace_has_an_order() -> None:
    order = Order.of(made([], []))
    assert list(order.sweep()) == []
    assert order.before([], []).tolist() == []


def test_one_question_may_be_a_number() -> None:
    order = Order.of(made([0, 0, 1], []))
    assert order.before(0, 1).tolist() == [True]
    assert order.concurrent(0, 2).tolist() == [True]
    assert order.concurrent(2, 2).tolist() == [False]


def test_an_actor_that_does_nothing_is_no_trouble() -> None:
    trace = made([0, 2], [(0, 1, EdgeKind.INHERENT)])
    assert Order.of(trace).before(0, 1).all()


def test_edges_within_one_actor_make_no_segments() -> None:
    trace = made([0, 0, 0], [(0, 1, EdgeKind.INHERENT), (0, 2, EdgeKind.CHANCE)])
    assert Order.of(trace).actor.tolist() == [0]


@pytest.mark.parametrize("actors", [1_000, 70_000])
def test_many_actors_in_a_chain(actors: int) -> None:
    """Each is started by the one before it; 70,000 do not fit into 16 bits."""
    count = actors if actors <= 1_000 else 40
    numbers = np.linspace(0, actors - 1, count, dtype=int).tolist()
    chain = [(i, i + 1, EdgeKind.INHERENT) for i in range(count - 1)]
    order = Order.of(made(numbers, chain))
    assert order.before([0, 0, 5], [count - 1, 1, 3]).tolist() == [True, True, False]


def test_an_order_keeps_what_is_said_and_sweeps_in_little_more() -> None:
    """1,000 actors, 100,000 operations, 10,000 edges: all clocks at once would be 70 MB."""
    rng = np.random.default_rng(5)
    trace = made(rng.integers(0, 1_000, 100_000).tolist(), [])
    edges = np.zeros(10_000, dtype=trace.edges.dtype)
    edges["source"] = np.sort(rng.integers(0, 99_000, 10_000))
    edges["target"] = edges["source"] + rng.integers(1, 100, 10_000)
    edges["kind"] = EdgeKind.CHANCE
    trace = Trace(**{**{f: getattr(trace, f) for f in Trace.__slots__}, "edges": edges})
    tracemalloc.start()
    order = Order.of(trace)
    kept, _ = tracemalloc.get_traced_memory()
    segments = sum(1 for _ in order.sweep())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    per_segment = 16
    assert kept < len(trace) * BYTES_PER_OPERATION + segments * per_segment + 10_000 * 8 + 100_000
    assert peak < 16 * 2**20
