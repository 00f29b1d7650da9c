# SPDX-License-Identifier: Apache-2.0
"""A trace is refused unless its tables fit together; what fits comes back as it was put in."""

import tracemalloc
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from eitherway.model import trace as model
from eitherway.model.place import Place
from eitherway.model.trace import Range, Table, Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World

MAIN = Place(function="main", file="a.c", line=3)
WORK = Place(function="work", file="a.c", line=9, column=5, module="a.out", offset=0x401000)


def small() -> Trace:
    """Two threads, one object, an edge."""
    builder = TraceBuilder(World.THREADS)
    main = builder.actor("main", native_id=41)
    counter = builder.range(builder.object("variable", "counter"), 4, 8)
    start = builder.operation(main, OpKind.START, stack=builder.stack([MAIN]))
    worker = builder.actor("worker", parent=main, started_by=start, native_id=42)
    stack = builder.stack([WORK, MAIN])
    builder.operation(worker, OpKind.STORE, counter, stack=stack, flags=OpFlag.ATOMIC, value=7)
    builder.edge(start, 1)
    return builder.build()


def changed(table: Table, row: int, **columns: int) -> Table:
    copy = table.copy()
    for name, value in columns.items():
        copy[name][row] = value
    return copy


def test_views_say_what_was_put_in() -> None:
    trace = small()
    operation = trace.operation(1)
    assert len(trace) == 2
    assert (operation.index, operation.actor, operation.value) == (1, 1, 7)
    assert (operation.kind, operation.flags) == (OpKind.STORE, OpFlag.ATOMIC)
    assert operation.range == Range(1, "variable", "counter", 4, 8)
    assert operation.stack == (WORK, MAIN)
    assert operation.place == WORK
    assert trace.actor(0).parent is None
    assert trace.actor(0).started_by is None
    assert (trace.actor(1).name, trace.actor(1).parent, trace.actor(1).started_by) == (
        "worker",
        0,
        0,
    )
    assert trace.actor(1).native_id == 42


def test_what_is_not_known_is_none_or_empty() -> None:
    builder = TraceBuilder(World.KERNEL)
    builder.operation(builder.actor(), OpKind.OTHER)
    operation = builder.build().operation(0)
    assert operation.range is None
    assert operation.stack == ()
    assert operation.place == Place()
    assert operation.value is None


def test_views_and_traces_cannot_be_changed() -> None:
    trace = small()
    with pytest.raises(FrozenInstanceError):
        trace.world = World.KERNEL  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        trace.operation(0).actor = 5  # type: ignore[misc]


def test_an_empty_trace_is_a_trace() -> None:
    trace = TraceBuilder(World.PROCESSES).build()
    assert len(trace) == 0
    assert len(trace.edges) == 0


def test_the_builder_keeps_equal_rows_once() -> None:
    builder = TraceBuilder(World.THREADS)
    thing = builder.object("heap")
    assert builder.range(thing, 0, 8) == builder.range(thing, 0, 8)
    assert builder.range(thing) == builder.range(thing, 0, 1) != builder.range(thing, 0, 8)
    assert builder.place(MAIN) == builder.place(MAIN) != builder.place(WORK)
    assert builder.stack([WORK, MAIN]) == builder.stack([WORK, MAIN])
    assert builder.stack([]) == 0
    assert builder.string("main") == builder.string("main")
    assert builder.object("heap") != thing


def test_edges_can_be_chained() -> None:
    builder = TraceBuilder(World.THREADS)
    actor = builder.actor()
    for _ in range(3):
        builder.operation(actor, OpKind.OTHER)
    trace = builder.edge(0, 1).edge(1, 2, EdgeKind.CHANCE).build()
    assert trace.edges["kind"].tolist() == [EdgeKind.INHERENT, EdgeKind.CHANCE]


def _empty(trace: Trace, name: str) -> Table:
    table: Table = getattr(trace, name)[:0]
    return table


GOOD = small()
BAD: list[tuple[dict[str, Any], str]] = [
    ({"strings": ()}, "string 0 is not the empty string"),
    ({"strings": ("x", *GOOD.strings[1:])}, "string 0 is not the empty string"),
    *(
        ({name: _empty(GOOD, name)}, f"the table of {name} lacks its row 0")
        for name in ("objects", "ranges", "places", "stacks")
    ),
    *(
        ({table: changed(getattr(GOOD, table), -1, **{column: 99})}, f"{table}.{column} points")
        for table, column, _ in model._REFERENCES
    ),
    *(
        ({name: np.zeros(2, dtype=np.uint32)}, f"the table of {name} has columns uint32")
        for name in model._TYPES
    ),
    ({"values": np.zeros(1, dtype=np.uint64)}, "the values do not match the operations"),
    ({"values": np.zeros(2, dtype=np.int8)}, "the values do not match the operations"),
    ({"ranges": changed(GOOD.ranges, 1, lo=8)}, "a range is empty"),
    ({"ranges": changed(GOOD.ranges, 1, lo=9)}, "a range is empty"),
    ({"stacks": changed(GOOD.stacks, 1, caller=1)}, "a stack's caller does not come before it"),
    ({"edges": changed(GOOD.edges, 0, target=0)}, "an edge points backwards"),
    ({"edges": changed(GOOD.edges, 0, source=1, target=0)}, "an edge points backwards"),
    ({"edges": changed(GOOD.edges, 0, kind=9)}, "an edge has an unknown kind"),
    ({"operations": changed(GOOD.operations, 0, kind=0)}, "an operation has an unknown kind"),
    (
        {"operations": changed(GOOD.operations, 0, kind=OpKind.STORE, flags=OpFlag.CHECK)},
        "an operation that is no load has the flag of a check",
    ),
    ({"actors": changed(GOOD.actors, 1, started_by=2)}, "actors.started_by points behind the end"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[message for _, message in BAD])
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="not a trace: ") as problem:
        replace(GOOD, **change)
    assert message in str(problem.value)


def test_an_operation_costs_what_is_said() -> None:
    """Besides the columns, checking a trace keeps nothing."""
    count = 200_000
    operations = np.zeros(count, dtype=model.OPERATION)
    operations["kind"] = OpKind.LOAD
    assert operations.nbytes == count * model.BYTES_PER_OPERATION
    tracemalloc.start()
    trace = replace(GOOD, operations=operations, values=None)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(trace) == count
    assert kept < count


@pytest.mark.parametrize("depth", [model.MAX_FRAMES, model.MAX_FRAMES + 1, 10**6])
def test_a_deep_stack_is_shown_from_its_innermost_frames(depth: int) -> None:
    """A runaway recursion: what a person is shown has a bound, and says so."""
    builder = TraceBuilder(World.THREADS)
    places = [builder.place(Place(f"f{number}", "a.c", number)) for number in range(1, 4)]
    stacks = np.zeros(depth + 1, dtype=model.STACK)
    stacks["caller"][1:] = np.arange(depth)
    stacks["place"][1:] = np.resize(places, depth)
    trace = replace(builder.build(), stacks=stacks)
    shown = trace.stack(depth)
    lines = [place.line for place in shown[: model.MAX_FRAMES]]
    assert lines == [(depth - 1 - number) % 3 + 1 for number in range(model.MAX_FRAMES)]
    assert shown[model.MAX_FRAMES :] == (() if depth == model.MAX_FRAMES else (model.LEFT_OUT,))


@pytest.mark.parametrize(("lo", "hi"), [(0, 2**64), (-1, 4), (5, 5), (2**64 - 1, None)])
def test_the_builder_refuses_what_is_no_range(lo: int, hi: int | None) -> None:
    builder = TraceBuilder(World.THREADS)
    with pytest.raises(ValueError, match="not a range"):
        builder.range(builder.object("memory"), lo, hi)
