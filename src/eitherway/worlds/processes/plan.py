# SPDX-License-Identifier: Apache-2.0
"""A plan as the tracer takes it: turns, and what came from outside in them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.layout import MAX_PAYLOAD, TABLES, BlockType
from eitherway.recording.write import StreamWriter
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.calls import Call, call_of
from eitherway.worlds.processes.log import DataKind, Log

_PATHS = {"path", "link", "new path"}
_ANCHOR, _WAITS_FOR = 2, 4  # native/tracer/tracer.h
_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
_SPREAD = 0x9E3779B1  # native/tracer/numbering.h


@dataclass(frozen=True, slots=True)
class Turns:
    """Calls of a log in the order that a branch is to have.

    Some are anchors: what the branch is about, in the order that it is to have. The very last, a
    wait for any child, may be made one for the process `waits_for`.
    """

    calls: Sequence[int]
    anchors: tuple[int, ...] = ()  # calls
    waits_for: int = 0


@contextmanager
def plan_file(log: Log, turns: Turns) -> Iterator[int]:
    """A descriptor that the plan can be read from."""
    descriptor = os.memfd_create("eitherway-plan")
    writer = StreamWriter(os.dup(descriptor), Path("plan"), MAX_PAYLOAD)
    try:
        writer.rows(BlockType.PROCESS_TURNS, _rows(log, turns))
        for number, data in _inputs(log, turns.calls):
            writer.tailed(BlockType.PROCESS_DATA, (number, DataKind.CAME_FROM_OUTSIDE, 0), data)
        writer.flush()
        yield descriptor
    finally:
        writer.close()
        os.close(descriptor)


def _rows(log: Log, turns: Turns) -> Table:
    rows = np.zeros(len(turns.calls), dtype=TABLES[BlockType.PROCESS_TURNS])
    calls = log.calls[list(turns.calls)]
    for name in ("result", "thread", "index", "number"):
        rows[name] = calls[name]
    rows["name"] = [_name(log, row) for row in calls]
    found = [call_of(log, number) for number in turns.calls]
    waits = [call.child if call.waits_for_any else 0 for call in found]
    rows["child"] = [child or _made(call) for child, call in zip(waits, found, strict=True)]
    rows["flags"] = [_WAITS_FOR if child else 0 for child in waits]
    for call in turns.anchors:
        at = turns.calls.index(call)
        rows["flags"][at] |= _ANCHOR
        rows["occurrence"][at] = _occurrence(log, call)
    if turns.waits_for:
        rows["flags"][-1] |= _WAITS_FOR
        rows["child"][-1] = turns.waits_for
    return rows


def _made(call: Call) -> int:
    """The process that it made."""
    return call.result if call.shape.gives == "process" and call.worked else 0


def _occurrence(log: Log, call: int) -> int:
    """How many calls like this one its thread made before."""
    calls = log.calls
    same = calls["number"][:call] == calls["number"][call]
    same &= calls["thread"][:call] == calls["thread"][call]
    name = _name(log, calls[call])
    return sum(_name(log, row) == name for row in calls[:call][same])


def _name(log: Log, row: Table) -> int:
    """The hash of the last part of the first path, as native/tracer/lookups.c makes it."""
    call = CALLS.get(int(row["number"]))
    if call is None or not _PATHS.intersection(call.takes) or not row["value"]:
        return 0
    path = log.texts[int(row["value"])].rstrip(b"/")
    opened = int(row[f"a{call.takes.index('open flags')}"]) if "open flags" in call.takes else 0
    return (_hash(path.rpartition(b"/")[2]) ^ (opened * _SPREAD)) & 0xFFFFFFFF


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
