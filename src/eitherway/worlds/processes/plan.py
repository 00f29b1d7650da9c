# SPDX-License-Identifier: Apache-2.0
"""A plan as the tracer takes it: turns, and what came from outside in them."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
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


class Plans:
    """Of one log: what all its calls are as turns is worked out once, for many branches."""

    def __init__(self, log: Log) -> None:
        self.began = log.ending.began
        self._rows = _rows(log)
        self._given: dict[int, list[bytes]] = defaultdict(list)  # a long one in parts
        for datum in log.data:
            if datum.kind is DataKind.CAME_FROM_OUTSIDE:
                self._given[datum.call].append(datum.data)

    @contextmanager
    def file(self, turns: Turns) -> Iterator[int]:
        """A descriptor that the plan of these turns can be read from."""
        descriptor = os.memfd_create("eitherway-plan")
        writer = StreamWriter(os.dup(descriptor), Path("plan"), MAX_PAYLOAD)
        try:
            writer.rows(BlockType.PROCESS_TURNS, self._chosen(turns))
            for number, data in self._inputs(turns.calls):
                writer.tailed(BlockType.PROCESS_DATA, (number, DataKind.CAME_FROM_OUTSIDE, 0), data)
            writer.flush()
            yield descriptor
        finally:
            writer.close()
            os.close(descriptor)

    def _chosen(self, turns: Turns) -> Table:
        rows: Table = self._rows[list(turns.calls)]
        for call in turns.anchors:
            at = turns.calls.index(call)
            rows["flags"][at] |= _ANCHOR
            rows["occurrence"][at] = self._occurrence(call)
        if turns.waits_for:
            rows["flags"][-1] |= _WAITS_FOR
            rows["child"][-1] = turns.waits_for
        return rows

    def _occurrence(self, call: int) -> int:
        """How many calls like this one its thread made before."""
        before, this = self._rows[:call], self._rows[call]
        same = np.ones(call, dtype=bool)
        for name in ("number", "thread", "name"):
            same &= before[name] == this[name]
        return int(same.sum())

    def _inputs(self, calls: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """By number of the turn."""
        for number, call in enumerate(calls):
            for data in self._given.get(call, ()):
                yield number, data


def _rows(log: Log) -> Table:
    rows = np.zeros(len(log.calls), dtype=TABLES[BlockType.PROCESS_TURNS])
    for name in ("result", "thread", "index", "number"):
        rows[name] = log.calls[name]
    rows["name"] = _names(log)
    for number in np.flatnonzero(np.isin(log.calls["number"], _MAKE_OR_WAIT)).tolist():
        call = call_of(log, number)
        waited = call.child if call.waits_for_any else 0
        rows["child"][number] = waited or _made(call)
        rows["flags"][number] = _WAITS_FOR if waited else 0
    return rows


_MAKE_OR_WAIT = [
    number
    for number, call in CALLS.items()
    if call.gives == "process" or call.name in ("wait4", "waitid")
]


def _made(call: Call) -> int:
    """The process that it made."""
    return call.result if call.shape.gives == "process" and call.worked else 0


def _names(log: Log) -> list[int]:
    """Of the last part of the first path, as native/tracer/lookups.c makes it; 0 without one."""
    hashes = cache(lambda text: _hash(log.texts[text].rstrip(b"/").rpartition(b"/")[2]))
    columns = ("number", "value", *(f"a{index}" for index in range(6)))
    rows = zip(*(log.calls[name].tolist() for name in columns), strict=True)
    return [
        hashes(value) ^ _opened(number, arguments) if value and number in _NAMED else 0
        for number, value, *arguments in rows
    ]


_NAMED = {number for number, call in CALLS.items() if _PATHS.intersection(call.takes)}
_FLAGS = {
    number: call.takes.index("open flags")
    for number, call in CALLS.items()
    if "open flags" in call.takes
}


def _opened(number: int, arguments: Sequence[int]) -> int:
    return arguments[_FLAGS[number]] * _SPREAD & 0xFFFFFFFF if number in _FLAGS else 0


def _hash(data: bytes) -> int:
    """As many of its bits as a turn holds."""
    value = _FNV_START
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return value & 0xFFFFFFFF
