# SPDX-License-Identifier: Apache-2.0
"""Recordings and traces for the tests of this folder."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eitherway.model.place import Place
from eitherway.model.trace import (
    EDGE,
    NO_OPERATION,
    OPERATION,
    VALUE,
    Table,
    Trace,
    TraceBuilder,
)
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World
from eitherway.recording.layout import TABLES, BlockType
from eitherway.recording.manifest import Host, Manifest
from eitherway.recording.trace import add_trace
from eitherway.recording.write import RecordingWriter

OPERATIONS = 1000
CHOICES = np.array([3, 1, 4, 1, 5, 9, 2, 6], dtype="<u4")
INPUT = bytes(number * 7 % 256 for number in range(3000))
HOW = 6  # the string "how", key of the sample's metadata

MANIFEST = Manifest(
    world=World.THREADS,
    recorded_by="test",
    command=("prog", "café 🐎", b'\xff\xfe"\\\n\x7f\x01'.decode("utf-8", "surrogateescape")),
    build_ids={"/bin/prog": "c0ffee", "/lib/libc.so.6": "01"},
    host=Host(kernel="6.1.0", machine="x86_64", cpu=""),
    created="2025-01-02T03:04:05Z",
    tool="0.0.test",
)


def sample_trace(operations: int = OPERATIONS) -> Trace:
    """The trace that tests/native_recording/write_sample.c writes too."""
    builder = TraceBuilder(World.THREADS)
    for text in ("main", "counter", "memory", "a\udcff.c", "prog", "how"):
        builder.string(text)
    main = builder.actor("main", native_id=4711)
    builder.actor("main", parent=main, started_by=0, native_id=2**64 - 1)
    cell = builder.range(builder.object("memory", "counter"), 8, 16)
    stack = builder.stack([Place("main", "a\udcff.c", 12, 3, "prog", 0x123456789A)])
    for number in range(operations):
        builder.operation(
            number % 2,
            OpKind.LOAD if number % 2 else OpKind.STORE,
            cell,
            stack=stack if number % 3 else 0,
            flags=OpFlag.NONE if number % 5 else OpFlag.ATOMIC,
            value=number * number,
        )
    for number in range(1, operations, 2):
        builder.edge(number - 1, number, EdgeKind.CHANCE)
    return builder.build()


def write_sample(path: Path, *, block_bytes: int = 256, operations: int = OPERATIONS) -> None:
    """A recording with every common block type in it."""
    with RecordingWriter(path, MANIFEST, block_bytes=block_bytes) as writer:
        fill_sample(writer, operations)


def fill_sample(writer: RecordingWriter, operations: int = OPERATIONS) -> None:
    """All that the sample holds."""
    add_trace(writer, sample_trace(operations))
    run = writer.stream("run")
    run.rows(BlockType.CHOICES, CHOICES)
    run.input(7, 1, INPUT)
    run.input(8, 0, b"")
    run.metadata(HOW, b"quickly")


def write_thread_events(path: Path, *, events: int, values: bool = False) -> None:
    """What a tracing runtime writes: two threads that store in turn."""
    rows = np.zeros(events, dtype=TABLES[BlockType.THREAD_EVENTS])
    rows["op"], rows["size"], rows["follows"] = OpKind.STORE, 4, NO_OPERATION
    rows["address"] = 0x7F00_0000_0FFE + np.arange(events)
    rows["step"], rows["thread"] = np.arange(events), np.arange(events) % 2
    rows["site"] = 1 + np.arange(events) % 2
    rows["op"][0], rows["address"][0], rows["thread"][0] = OpKind.START, 1, 0
    asked = [(2 if values else 1, 2**32 - 1, 0, 2**64 - 1, 0, 2**64 - 1)]
    stack = [(0x7F00_0000_0000, 0x7F00_0000_1000, 0, 1, 0x7F00_0000_1000)]
    with RecordingWriter(path, MANIFEST, block_bytes=256) as writer:
        names = writer.stream("names")
        names.rows(BlockType.THREAD_ASKED, table(BlockType.THREAD_ASKED, asked))
        names.rows(BlockType.THREAD_REGIONS, table(BlockType.THREAD_REGIONS, stack))
        sites = table(BlockType.THREAD_FRAMES, [(0, 0), (0, 0x1234), (1, 0x5678)])
        names.rows(BlockType.THREAD_FRAMES, sites)
        lives = [(0x7F00_0000_1000, 64, 0, 1, 0, 1), (0x7F00_0000_1000, 64, 8, 2, 1, 2)]
        names.rows(BlockType.THREAD_MEMORY, table(BlockType.THREAD_MEMORY, lives))
        if values:
            late = table(BlockType.THREAD_CORRECTIONS, [(77, 1)])
            names.rows(BlockType.THREAD_CORRECTIONS, late)
            column = np.arange(events, dtype=TABLES[BlockType.THREAD_VALUES])
            writer.stream("values").rows(BlockType.THREAD_VALUES, column)
        writer.stream("events").rows(BlockType.THREAD_EVENTS, rows)


def table(kind: BlockType, rows: Sequence[tuple[int, ...]]) -> Table:
    """Rows of a table; reserved columns are no part of it."""
    return np.array(rows, dtype=TABLES[kind])


def random_trace(seed: int, operations: int) -> Trace:
    """A trace with many actors, objects and edges, with or without values."""
    dice = random.Random(seed)  # noqa: S311  not for secrets
    numbers = np.random.default_rng(seed)
    builder = TraceBuilder(dice.choice(list(World)))
    for number in range(dice.randint(1, 9)):
        builder.actor(f"actor {number}", parent=dice.randrange(number) if number else None)
    for number in range(dice.randint(1, 9)):
        builder.range(builder.object("memory", chr(200 + number)), number, number + 4)
    for number in range(dice.randint(1, 9)):
        builder.stack([Place(f"f{number}", "file.c", number), Place("main", "file.c", 1)])
    small = builder.build()
    rows = np.zeros(operations, dtype=OPERATION)
    for column, table in (("actor", "actors"), ("range", "ranges"), ("stack", "stacks")):
        rows[column] = numbers.integers(0, len(getattr(small, table)), operations)
    rows["kind"] = numbers.choice([int(kind) for kind in OpKind], operations)
    return Trace(
        world=small.world,
        strings=small.strings,
        actors=small.actors,
        objects=small.objects,
        ranges=small.ranges,
        places=small.places,
        stacks=small.stacks,
        operations=rows,
        edges=_edges(numbers, operations),
        values=numbers.integers(0, 2**63, operations).astype(VALUE)
        if dice.random() < 0.5
        else None,
    )


def _edges(
    numbers: np.random.Generator, operations: int
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    edges = np.zeros(operations // 3, dtype=EDGE)
    edges["source"] = numbers.integers(0, max(operations - 1, 1), len(edges))
    edges["target"] = edges["source"] + 1
    edges["kind"] = int(EdgeKind.INHERENT)
    return edges


def assert_same(one: Trace, other: Trace) -> None:
    """Both traces have the same tables."""
    assert one.world == other.world
    assert one.strings == other.strings
    for table in ("actors", "objects", "ranges", "places", "stacks", "operations", "edges"):
        np.testing.assert_array_equal(getattr(one, table), getattr(other, table), table)
    assert (one.values is None) == (other.values is None)
    if one.values is not None and other.values is not None:
        np.testing.assert_array_equal(one.values, other.values)
