# SPDX-License-Identifier: Apache-2.0
"""A plan as the tracer takes it: turns, and what came from outside in them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.layout import MAX_PAYLOAD, TABLES, BlockType
from eitherway.recording.write import StreamWriter
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import DataKind, Log

_PATHS = {"path", "link", "new path"}
_ANCHOR = 2  # native/tracer/tracer.h
_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3


@contextmanager
def plan_file(log: Log, turns: Sequence[int], *, anchors: int) -> Iterator[int]:
    """A descriptor that the plan can be read from; the last so many turns are anchors."""
    descriptor = os.memfd_create("eitherway-plan")
    writer = StreamWriter(os.dup(descriptor), Path("plan"), MAX_PAYLOAD)
    try:
        writer.rows(BlockType.PROCESS_TURNS, _turns(log, turns, anchors))
        for number, data in _inputs(log, turns):
            writer.tailed(BlockType.PROCESS_DATA, (number, DataKind.CAME_FROM_OUTSIDE, 0), data)
        writer.flush()
        yield descriptor
    finally:
        writer.close()
        os.close(descriptor)


def _turns(log: Log, turns: Sequence[int], anchors: int) -> Table:
    rows = np.zeros(len(turns), dtype=TABLES[BlockType.PROCESS_TURNS])
    calls = log.calls[list(turns)]
    for name in ("result", "thread", "index", "number"):
        rows[name] = calls[name]
    rows["name"] = [_name(log, row) for row in calls]
    rows["child"] = [_child(row) for row in calls]
    if anchors:
        rows["flags"][-anchors:] = _ANCHOR
    return rows


def _child(row: Table) -> int:
    call, result = CALLS.get(int(row["number"])), int(row["result"])
    return result if call and call.gives == "process" and 0 < result < 1 << 22 else 0


def _name(log: Log, row: Table) -> int:
    """The hash of the last part of the first path, as native/tracer/lookups.c makes it."""
    call = CALLS.get(int(row["number"]))
    if call is None or not _PATHS.intersection(call.takes) or not row["value"]:
        return 0
    path = log.texts[int(row["value"])].rstrip(b"/")
    return _hash(path.rpartition(b"/")[2]) & 0xFFFFFFFF


def _hash(data: bytes) -> int:
    value = _FNV_START
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value


def _inputs(log: Log, turns: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """By number of the turn."""
    given = {
        datum.call: datum.data for datum in log.data if datum.kind is DataKind.CAME_FROM_OUTSIDE
    }
    for number, call in enumerate(turns):
        if call in given:
            yield number, given[call]
