# SPDX-License-Identifier: Apache-2.0
"""Reads what the runtime notes down while it traces, whole or part by part.

The runtime writes events of fixed size with raw addresses, because it runs inside the target. What
they refer to (call sites, ELF files, stacks) is small and read first.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import numpy as np

from eitherway.model.text import printable
from eitherway.model.trace import Table
from eitherway.model.words import OpFlag, OpKind
from eitherway.recording import refusals
from eitherway.recording.blocks import Block, tailed
from eitherway.recording.layout import TABLES, BlockType
from eitherway.recording.read import Recording, as_table
from eitherway.worlds.threads.trace_request import Depth, TraceRequest, Where

HEAP, ARGUMENTS = 0xFFFFFFFF, 0xFFFFFFFE  # instead of a thread, in regions
PART = 1 << 18  # events that are held at a time


class Came(IntEnum):
    """How memory comes and goes."""

    ALLOCATED = 1
    FREED = 2
    MAPPED = 3
    THREAD_LOCAL = 4


@dataclass(frozen=True, slots=True)
class Module:
    """An ELF file in the target's memory; an address less `base` is one of the file's."""

    path: str
    base: int
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Stale:
    """What stood in a block of the heap when it was allocated."""

    known: int  # bytes that are told: those there are, and zeros
    bytes: bytes
    moved: int = 0  # where the block lay that it was made of
    kept: int = 0  # bytes that it has from there


@dataclass(frozen=True, slots=True)
class Registers:
    """What a thread held at an event, within the runtime."""

    pc: int
    stack: int  # where it begins
    bytes: bytes  # of it
    registers: dict[int, int]  # those that a call keeps, by DWARF's numbers
    result: int  # of a thread that is over


@dataclass(frozen=True, slots=True)
class Names:
    """What the events of a traced run refer to."""

    asked: TraceRequest
    sites: Table  # each with its caller's
    modules: tuple[Module, ...]
    regions: Table
    corrections: Table  # of values, by event
    memory: Table  # as it came and went
    locals: Table  # frames that what was touched lies in, by event
    threads: dict[int, str]  # names that threads were given, by number
    changes: Table | None = None  # of memory since the cut; None: that is not known
    stale: dict[tuple[int, int], Stale] = field(default_factory=dict)  # by address and event
    registers: dict[int, Registers] = field(default_factory=dict)  # by event

    @classmethod
    def read(cls, recording: Recording) -> "Names":
        """Refuses what does not fit together."""
        tables, modules, threads, stale, registers = _all(recording)
        asked, sites, regions, corrections, memory, locals_, changes = tables
        if not len(asked):
            raise refusals.no_trace(recording.path, "nothing that a trace of threads begins with")
        before = np.maximum(np.arange(len(sites)), 1)  # the first is its own caller
        if not len(sites) or np.any(sites["caller"] >= before):
            raise refusals.broken_tables(recording.path, "a call site comes before its caller")
        if np.any(regions["lo"] >= regions["hi"]) or np.any(np.diff(regions["event"]) < 0):
            raise refusals.broken_tables(recording.path, "a region is empty or out of turn")
        _check_memory(memory, len(sites), recording.path)
        if np.any(np.diff(locals_["event"].astype(np.int64)) <= 0):
            raise refusals.broken_tables(recording.path, "a frame is out of turn")
        if np.any(locals_["site"] >= len(sites)):
            raise refusals.broken_tables(recording.path, "a frame is at no call site")
        request = _request(asked, recording.path)
        ordered = np.sort(corrections, order="event")
        return cls(
            request,
            sites,
            modules,
            regions,
            ordered,
            memory,
            locals_,
            threads,
            _whole(changes, recording.path),
            stale,
            registers,
        )

    def corrected(self, values: Table, first: int) -> Table:
        """The values of the events from this number on, as they turned out to be."""
        rows = self.corrections
        begin, end = np.searchsorted(rows["event"], [first, first + len(values)])
        result: Table = values.copy()
        result[rows["event"][begin:end] - first] = rows["value"][begin:end]
        return result


_NAMES = (
    BlockType.THREAD_ASKED,
    BlockType.THREAD_FRAMES,
    BlockType.THREAD_REGIONS,
    BlockType.THREAD_CORRECTIONS,
    BlockType.THREAD_MEMORY,
    BlockType.THREAD_LOCALS,
    BlockType.THREAD_CHANGES,
)
_TAILED = (
    BlockType.THREAD_MODULES,
    BlockType.THREAD_NAMES,
    BlockType.THREAD_STALE,
    BlockType.THREAD_REGISTERS,
)
_All = tuple[
    list[Table],
    tuple[Module, ...],
    dict[int, str],
    dict[tuple[int, int], Stale],
    dict[int, Registers],
]


def _all(recording: Recording) -> _All:
    """In one go: there are thousands of blocks."""
    modules: list[Module] = []
    threads: dict[int, str] = {}
    stale: dict[tuple[int, int], Stale] = {}
    registers: dict[int, Registers] = {}
    buffers = {kind: bytearray() for kind in _NAMES}
    for block in recording.blocks(*_NAMES, *_TAILED):
        if block.type is BlockType.THREAD_MODULES:
            modules += _modules(block, recording.path)
        elif block.type is BlockType.THREAD_NAMES:
            threads.update(_thread_names(block, recording.path))
        elif block.type is BlockType.THREAD_STALE:
            stale.update(_stale(block, recording.path))
        elif block.type is BlockType.THREAD_REGISTERS:
            registers.update(_registers(block, recording.path))
        else:
            recording.add(block, buffers)
    tables = [as_table(kind, buffers[kind]) for kind in _NAMES]
    return tables, tuple(modules), threads, stale, registers


def _whole(changes: Table, path: Path) -> Table | None:
    """Those that are told, when one record says that this is all."""
    last = changes["address"] == 0
    if np.any(changes["address"] % 8) or _is_unordered(changes["address"][~last]):
        raise refusals.broken_tables(path, "memory changed where no word is, or out of order")
    return changes[~last] if np.count_nonzero(last) == 1 else None


def _is_unordered(addresses: Table) -> bool:
    return bool(np.any(addresses[1:] <= addresses[:-1]))


def _check_memory(memory: Table, sites: int, path: Path) -> None:
    if np.any(np.diff(memory["event"].astype(np.int64)) < 0):
        raise refusals.broken_tables(path, "memory came or went out of turn")
    if np.any(memory["site"] >= sites):
        raise refusals.broken_tables(path, "memory came from a call site that is not there")
    if np.any((memory["what"] == 0) | (memory["what"] > len(Came))):
        raise refusals.broken_tables(path, "memory came or went in an unknown way")
    if np.any(memory["address"] + memory["size"] < memory["address"]):
        raise refusals.broken_tables(path, "there is more memory than there is")


def is_trace(recording: Recording) -> bool:
    """Whether the recording is one that a tracing runtime wrote."""
    return next(recording.blocks(BlockType.THREAD_ASKED), None) is not None


def _request(rows: Table, path: Path) -> TraceRequest:
    row = rows[0]
    if any(np.any(rows[name] != row[name]) for name in ("depth", "frames", "from", "until")):
        raise refusals.broken_tables(path, "different things were asked for")
    try:
        where, *also = (Where(int(each["low"]), int(each["high"])) for each in rows)
        return TraceRequest(
            depth=Depth(int(row["depth"])),
            frames=int(row["frames"]),
            start=int(row["from"]),
            stop=int(row["until"]),
            where=where,
            also=tuple(also),
        )
    except ValueError as error:
        raise refusals.broken_tables(path, str(error)) from error


def _modules(block: Block, where: Path) -> Iterator[Module]:
    for (base, lo, hi, _, _), path in tailed(block, where):
        if not base <= lo < hi:
            raise refusals.broken_tables(where, "a module lies nowhere")
        yield Module(os.fsdecode(path), base, lo, hi)


def _thread_names(block: Block, where: Path) -> Iterator[tuple[int, str]]:
    for (thread, _), name in tailed(block, where):
        yield thread, printable(name.decode(errors="backslashreplace"))


def _stale(block: Block, where: Path) -> Iterator[tuple[tuple[int, int], Stale]]:
    for (address, known, moved, kept, event, _), content in tailed(block, where):
        if len(content) > known:
            raise refusals.broken_tables(where, "more of a block is told than is known")
        yield (address, event), Stale(known, content, moved, kept)


_KEPT = (15, 14, 13, 12, 3, 6)  # r15 to r12, rbx and rbp


def _registers(block: Block, where: Path) -> Iterator[tuple[int, Registers]]:
    for (pc, stack, *kept, result, event, _), content in tailed(block, where):
        yield event, Registers(pc, stack, content, dict(zip(_KEPT, kept, strict=True)), result)


@dataclass(frozen=True, slots=True)
class Events:
    """Some of the events of a traced run, or all."""

    names: Names
    events: Table
    values: Table | None
    first: int = 0  # number of the first

    @classmethod
    def read(cls, recording: Recording) -> "Events":
        """All of them: 40 bytes each, and 8 for a value."""
        names = Names.read(recording)
        kinds = (BlockType.THREAD_EVENTS, BlockType.THREAD_VALUES)
        events, values = recording.tables(*kinds).values()
        expected = len(events) if names.asked.depth is Depth.VALUES else 0
        if recording.incomplete:  # values are written before their events
            values = values[:expected]
        if len(values) != expected:
            raise refusals.broken_tables(recording.path, "the values do not match the events")
        _Door(names, recording.path).check(events)
        return cls(names, events, names.corrected(values, 0) if expected else None)


def parts(recording: Recording, names: Names) -> Iterator[Events]:
    """All of them, part by part: memory does not grow with the length of the run."""
    door = _Door(names, recording.path)
    values = _Rows(recording, BlockType.THREAD_VALUES)
    has_values = names.asked.depth is Depth.VALUES
    first = 0
    for events in _gathered(recording):
        door.check(events)
        column = names.corrected(values.take(len(events)), first) if has_values else None
        yield Events(names, events, column, first)
        first += len(events)


def _gathered(recording: Recording) -> Iterator[Table]:
    rows = _Rows(recording, BlockType.THREAD_EVENTS)
    while len(table := rows.take(PART, short=True)):
        yield table


class _Rows:
    """A table that is read as far as it is asked for."""

    def __init__(self, recording: Recording, kind: BlockType) -> None:
        self.path = recording.path
        self.blocks = recording.blocks(kind)
        self.dtype = TABLES[kind]
        self.kind = kind
        self.rest = b""

    def take(self, count: int, *, short: bool = False) -> Table:
        size = count * self.dtype.itemsize
        pieces, have = [self.rest], len(self.rest)
        while have < size and (block := next(self.blocks, None)) is not None:
            pieces.append(block.payload)
            have += len(block.payload)
        data = b"".join(pieces)
        if len(data) < size and not short:
            words = f"there are too few {self.kind.name.lower()}"
            raise refusals.broken_tables(self.path, words)
        self.rest = data[size:]
        return np.frombuffer(data[:size], dtype=self.dtype)


_KNOWN = tuple(int(op) for op in OpKind)
_LIVES = tuple(int(op) for op in (OpKind.START, OpKind.BEGIN, OpKind.END, OpKind.JOIN))


class _Door:
    """Everything behind it relies on what is checked here; events come in order."""

    def __init__(self, names: Names, path: Path) -> None:
        self.sites = len(names.sites)
        self.path = path
        self.threads = 1

    def check(self, events: Table) -> None:
        for problem in self._problems(events):
            raise refusals.broken_tables(self.path, problem)

    def _problems(self, events: Table) -> Iterator[str]:
        if not len(events):
            return
        started = events["address"][events["op"] == int(OpKind.START)]
        if np.any(started != np.arange(self.threads, self.threads + len(started))):
            yield "threads are not numbered as they were started"
        self.threads += len(started)
        if int(events["thread"].max()) >= self.threads:
            yield "a thread did something that was never started"
        if int(events["site"].max()) >= self.sites:
            yield "an event happened at a call site that is not there"
        if not np.isin(events["op"], _KNOWN).all():
            yield "an event has an unknown kind"
        if np.any(events["flags"] & ~np.uint8(sum(OpFlag) - OpFlag.CHECK)):  # no call of threads
            yield "an event has unknown flags"
        if np.any(events["address"] + events["size"] <= events["address"]):
            yield "an event touches nothing, or more than there is"
        lives = events["address"][is_life(events)]
        if len(lives) and int(lives.max()) >= self.threads:
            yield "a thread lived that was never started"


def is_life(events: Table) -> Table:
    """Which of them tell of the life of a thread: their address is its number.

    A fence is its thread's own business; what else has no name is the end of a piece of memory.
    """
    fences = (events["op"] == int(OpKind.OTHER)) & (events["flags"] & int(OpFlag.ATOMIC) > 0)
    lives: Table = np.isin(events["op"], _LIVES) | fences
    return lives
