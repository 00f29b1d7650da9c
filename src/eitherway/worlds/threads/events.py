# SPDX-License-Identifier: Apache-2.0
"""From what the runtime notes down while it traces to a trace with names.

The runtime writes events of fixed size with raw addresses, because it runs inside the target; here
addresses become places, variables and ranges, each distinct one once.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eitherway.model.trace import OPERATION, Table, Trace, TraceBuilder
from eitherway.model.words import OpKind, World
from eitherway.recording.blocks import tailed
from eitherway.recording.layout import BlockType
from eitherway.recording.read import Recording
from eitherway.symbols.lines import Frames, frames_at
from eitherway.symbols.variables import Variable, Variables, variables_of
from eitherway.worlds.threads.edges import edges_of

_SYNC = (int(OpKind.ACQUIRE), int(OpKind.RELEASE))
_WAITS = (int(OpKind.WAIT), int(OpKind.WAKE))
# What calls main and a thread's function.
_BELOW_THE_PROGRAM = frozenset({"ew_thread_main", "__libc_start_call_main", "__libc_start_main"})
_LIVES = (int(OpKind.START), int(OpKind.BEGIN), int(OpKind.END), int(OpKind.JOIN))


@dataclass(frozen=True, slots=True)
class Module:
    """An ELF file in the target's memory; an address less `base` is one of the file's."""

    path: str
    base: int
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Events:
    """What one traced run left."""

    events: Table
    frames: Table  # call sites, each with its caller's
    modules: tuple[Module, ...]

    @classmethod
    def read(cls, recording: Recording) -> "Events":
        """From the recording that the runtime wrote."""
        kinds = (BlockType.THREAD_EVENTS, BlockType.THREAD_FRAMES)
        events, frames = recording.tables(*kinds).values()
        return cls(events, frames, tuple(_modules(recording)))


def _modules(recording: Recording) -> Iterator[Module]:
    for block in recording.blocks(BlockType.THREAD_MODULES):
        for (base, lo, hi, _, _), path in tailed(block, recording.path):
            yield Module(os.fsdecode(path), base, lo, hi)


def trace_of(run: Events) -> Trace:
    """The trace of the run, with stacks, variables and edges."""
    builder = TraceBuilder(World.THREADS)
    _add_actors(builder, run.events)
    operations = np.zeros(len(run.events), dtype=OPERATION)
    operations["actor"] = run.events["thread"]
    operations["kind"] = run.events["op"]
    operations["flags"] = run.events["flags"]
    operations["stack"] = _stacks(builder, run)
    operations["range"] = _ranges(builder, run)
    return builder.build(operations, edges_of(run.events))


def _add_actors(builder: TraceBuilder, events: Table) -> None:
    """Threads are numbered in the order of their creation; thread 0 is main."""
    starts = np.flatnonzero(events["op"] == OpKind.START)
    parents = {int(events["address"][i]): (int(events["thread"][i]), int(i)) for i in starts}
    builder.actor()
    for number in range(1, max(parents, default=0) + 1):
        parent, started_by = parents.get(number, (0, None))
        builder.actor(parent=parent, started_by=started_by)


# --- places


def _stacks(builder: TraceBuilder, run: Events) -> Table:
    pairs = np.stack([run.events["frame"].astype(np.uint64), run.events["pc"]], axis=1)
    unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
    named = _named(run.modules, {*unique[:, 1].tolist(), *run.frames["pc"].tolist()})
    callers = _caller_stacks(run.frames, named)
    numbers = [builder.stack([*named[int(pc)], *callers[int(frame)]]) for frame, pc in unique]
    result: Table = np.array(numbers, dtype=np.uint32)[inverse.reshape(-1)]
    return result


def _caller_stacks(frames: Table, named: Mapping[int, Frames]) -> list[Frames]:
    """The stack of each call site; frame 0 is the bottom, and callers come first."""
    stacks: list[Frames] = [()]
    for caller, pc in zip(frames["caller"][1:].tolist(), frames["pc"][1:].tolist(), strict=True):
        own = () if named[pc] and named[pc][0].function in _BELOW_THE_PROGRAM else named[pc]
        stacks.append((*own, *stacks[caller]))
    return stacks


def _named(modules: Sequence[Module], addresses: set[int]) -> dict[int, Frames]:
    """Frames at return addresses: the call is the instruction before."""
    named: dict[int, Frames] = dict.fromkeys(addresses, ())
    for module in modules:
        inside = sorted(a for a in addresses if module.lo <= a < module.hi)
        offsets = [address - module.base - 1 for address in inside]
        named.update(zip(inside, frames_at(module.path, offsets), strict=True))
    return named


# --- objects


def _ranges(builder: TraceBuilder, run: Events) -> Table:
    events = run.events
    kind = np.select(
        [
            np.isin(events["op"], _SYNC),
            np.isin(events["op"], _WAITS),
            np.isin(events["op"], _LIVES),
        ],
        [1, 2, 3],
    )
    keys = np.stack([kind.astype(np.uint64), events["address"], events["size"]], axis=1)
    unique, inverse = np.unique(keys, axis=0, return_inverse=True)
    namer = _Namer(builder, run.modules)
    numbers = [namer.range(*map(int, key)) for key in unique]
    result: Table = np.array(numbers, dtype=np.uint32)[inverse.reshape(-1)]
    return result


class _Namer:
    """Gives memory its objects: a global variable, a lock, or plain memory by address."""

    def __init__(self, builder: TraceBuilder, modules: Sequence[Module]) -> None:
        self.builder = builder
        self.modules = modules
        self.tables: dict[str, Variables] = {}
        self.objects: dict[tuple[str, int], int] = {}

    def range(self, kind: int, address: int, size: int) -> int:
        if kind == 3:
            return self.builder.range(self._object("thread", address, f"T{address}"))
        variable, start = self._variable(address)
        if kind:
            name = _lock_name(variable, address, start)
            return self.builder.range(self._object(_SORTS[kind], address, name))
        if variable is None:
            return self.builder.range(self._object("memory", 0, ""), address, address + size)
        owner = self._object("global", start, variable.name)
        return self.builder.range(owner, address - start, address - start + size)

    def _object(self, kind: str, start: int, name: str) -> int:
        """The object that begins there: two files may each have a static variable of one name."""
        key = (kind, start)
        if key not in self.objects:
            self.objects[key] = self.builder.object(kind, name)
        return self.objects[key]

    def _variable(self, address: int) -> tuple[Variable | None, int]:
        for module in self.modules:
            if module.lo <= address < module.hi:
                if module.path not in self.tables:
                    self.tables[module.path] = variables_of(module.path)
                found = self.tables[module.path].at(address - module.base)
                return found, found.start + module.base if found else 0
        return None, 0


_SORTS = {1: "mutex", 2: "condition"}


def _lock_name(variable: Variable | None, address: int, start: int) -> str:
    """A lock may be one of several in a structure or an array."""
    if variable is None:
        return f"{address:#x}"
    return f"{variable.name}+{address - start}" if address > start else variable.name
