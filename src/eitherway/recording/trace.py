# SPDX-License-Identifier: Apache-2.0
"""A trace into a recording and out of it again."""

from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from eitherway.errors import Unavailable
from eitherway.model.trace import Trace
from eitherway.recording import refusals
from eitherway.recording.cut import Tables, cut
from eitherway.recording.layout import TABLES, BlockType
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording, as_table
from eitherway.recording.write import RecordingWriter

STREAM = "trace"

_NAMED = (  # what operations point to, each after what it points to itself
    BlockType.ACTORS,
    BlockType.OBJECTS,
    BlockType.RANGES,
    BlockType.PLACES,
    BlockType.STACKS,
)
_KINDS = (*_NAMED, BlockType.EDGES, BlockType.VALUES, BlockType.OPERATIONS)
_WITHOUT_TRACE = {BlockType.STRINGS, BlockType.ACTORS}  # input and metadata need these too


def write_trace(path: Path, trace: Trace, manifest: Manifest) -> Manifest:
    """A whole recording of one trace; its world is the trace's."""
    with RecordingWriter(path, replace(manifest, world=trace.world)) as writer:
        add_trace(writer, trace)
    return writer.manifest


def add_trace(writer: RecordingWriter, trace: Trace) -> None:
    """Writes a trace's tables, edges and values before the operations they are about."""
    stream = writer.stream(STREAM)
    stream.strings(trace.strings)
    for kind in (*_NAMED, BlockType.EDGES):
        stream.rows(kind, getattr(trace, kind.name.lower()))
    step = writer.block_bytes // TABLES[BlockType.OPERATIONS].itemsize
    for start in range(0, len(trace.operations), step):
        if trace.values is not None:
            stream.rows(BlockType.VALUES, trace.values[start : start + step])
        stream.rows(BlockType.OPERATIONS, trace.operations[start : start + step])


def read_trace(recording: Recording) -> Trace:
    """The trace of a recording; of an incomplete one, as much as is whole and fits together.

    What is left of an incomplete one has at least one operation, and `recording.losses` says what
    is missing; where no operation is left there is no trace to look at, and it is refused.
    """
    try:
        tables = _tables(recording)
        if recording.incomplete:
            tables = _rest(recording, tables)
        return _trace(recording, tables)
    except MemoryError as error:
        size = sum(entry.size for entry in recording.manifest.streams)
        where = refusals.shown_path(recording.path)
        raise Unavailable(f"the {size} bytes of {where} do not fit in memory") from error


def has_trace(kinds: Set[BlockType]) -> bool:
    """Whether blocks of these types are there because there is a trace."""
    return bool(kinds & (set(_KINDS) - _WITHOUT_TRACE))


def _tables(recording: Recording) -> Tables:
    buffers = {kind: bytearray() for kind in _KINDS}
    strings: list[str] = []
    seen: set[BlockType] = set()
    for block in recording.blocks(BlockType.STRINGS, *_KINDS):
        seen.add(block.type)
        if block.type is BlockType.STRINGS:
            strings.extend(recording.texts(block))
        else:
            recording.add(block, buffers)
    if not has_trace(seen) and not recording.losses:
        has = {kind for entry in recording.manifest.streams for kind in entry.holds}
        raise refusals.no_trace(recording.path, ", ".join(sorted(has)))
    tables = {kind.name.lower(): as_table(kind, buffer) for kind, buffer in buffers.items()}
    values = tables.pop("values")
    return Tables(tuple(strings), values=values if BlockType.VALUES in seen else None, **tables)


def _rest(recording: Recording, tables: Tables) -> Tables:
    rest = cut(tables)
    dropped = len(tables.operations) - len(rest.operations)
    if dropped:
        recording.lose("operations", refusals.dropped(recording.path, dropped))
    if not len(rest.operations) and recording.losses:
        raise refusals.nothing_whole(recording.path, recording.losses)
    return rest


def _trace(recording: Recording, tables: Tables) -> Trace:
    try:
        return Trace(
            world=recording.manifest.world,
            strings=tables.strings,
            actors=tables.actors,
            objects=tables.objects,
            ranges=tables.ranges,
            places=tables.places,
            stacks=tables.stacks,
            operations=tables.operations,
            edges=tables.edges,
            values=tables.values,
        )
    except ValueError as error:
        what = str(error).removeprefix("not a trace: ")
        raise refusals.broken_tables(recording.path, what) from error
