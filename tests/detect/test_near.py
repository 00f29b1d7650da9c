# SPDX-License-Identifier: Apache-2.0
"""Near conflicts, held against all pairs of small traces."""

from hypothesis import given
from hypothesis import strategies as st

from eitherway.detect import near
from eitherway.model.order import Order
from eitherway.model.place import Place
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import STORES, OpKind, World

STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),  # actor
        st.sampled_from([OpKind.LOAD, OpKind.STORE]),
        st.integers(0, 1),  # object
        st.integers(0, 3),  # from
        st.integers(1, 3),  # how long
    ),
    max_size=14,
)


def trace_of(steps: list[tuple[int, OpKind, int, int, int]], edges: list[int]) -> Trace:
    builder = TraceBuilder(World.PROCESSES)
    for _ in range(3):
        builder.actor()
    objects = [builder.object("file"), builder.object("file")]
    for number, (actor, kind, owner, lo, length) in enumerate(steps):
        touched = builder.range(objects[owner], lo, lo + length)
        stack = builder.stack([Place(function=f"f{number}")])
        builder.operation(actor, kind, touched, stack=stack)
    for source in edges:
        if source + 1 < len(steps):
            builder.edge(source, source + 1)
    return builder.build()


def conflicts(trace: Trace) -> set[tuple[int, int]]:
    order, found = Order.of(trace), set()
    operations = [trace.operation(number) for number in range(len(trace))]
    for a in operations:
        for b in operations[a.index + 1 :]:
            one, other = a.range, b.range
            assert one is not None
            assert other is not None
            overlap = one.object == other.object and one.lo < other.hi and other.lo < one.hi
            stores = a.kind in STORES or b.kind in STORES
            if a.actor != b.actor and overlap and stores and order.concurrent(a.index, b.index)[0]:
                found.add((a.index, b.index))
    return found


@given(STEPS, st.lists(st.integers(0, 12), max_size=4))
def test_all_pairs_of_a_small_trace_are_told(
    steps: list[tuple[int, OpKind, int, int, int]], edges: list[int]
) -> None:
    """Every operation has a place of its own here, so nothing is left out as more of the same."""
    trace = trace_of(steps, edges)
    assert {race.operations for race in near.find(Order.of(trace))} == conflicts(trace)


def test_of_many_instances_the_nearest_are_told() -> None:
    builder = TraceBuilder(World.PROCESSES)
    reader, writer = builder.actor(), builder.actor()
    touched = builder.range(builder.object("file"))
    stack = builder.stack([Place(function="read")])
    for _ in range(10):
        builder.operation(reader, OpKind.LOAD, touched, stack=stack)
    builder.operation(writer, OpKind.STORE, touched, stack=stack)
    races = near.find(Order.of(builder.build()))
    assert [race.operations for race in races] == [(6, 10), (7, 10), (8, 10), (9, 10)]


def test_what_proc_tells_of_a_process_is_told_file_by_file() -> None:
    """Who reads one file again and again does not hide that another is read once."""
    builder = TraceBuilder(World.PROCESSES)
    reader, writer = builder.actor(), builder.actor()
    process = builder.object("process")
    files = [builder.range(process, number, number + 1) for number in (1, 2)]
    execve, read = (builder.stack([Place(function=name)]) for name in ("execve", "read"))
    builder.operation(writer, OpKind.STORE, builder.range(process, 0, 8), stack=execve)
    for file in [files[0]] * 6 + [files[1]]:
        builder.operation(reader, OpKind.LOAD, file, stack=read)
    races = near.find(Order.of(builder.build()))
    assert [race.operations for race in races] == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 7)]
