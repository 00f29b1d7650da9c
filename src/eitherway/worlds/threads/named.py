# SPDX-License-Identifier: Apache-2.0
"""From the events of a traced run to a trace with names: places, variables, ranges and edges.

Each distinct call site and range is named once. What has no variable lies in an object of its own
for each block of the heap, mapping and stack, and for each stretch of other memory, so that ranges
do not depend on where the run's memory was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eitherway.model.distinct import distinct
from eitherway.model.finding import Frame
from eitherway.model.trace import OPERATION, Table, Trace, TraceBuilder
from eitherway.model.words import HANDLER_CALLED, OpKind, World
from eitherway.symbols.lines import Frames, frames_in
from eitherway.symbols.variables import Variable, Variables, variables_of
from eitherway.worlds.threads.blocks import Blocks
from eitherway.worlds.threads.edges import edges_of
from eitherway.worlds.threads.events import Came, Events, Module, is_life
from eitherway.worlds.threads.memory import Memory, Space, stretches

_SYNC = tuple(int(op) for op in (OpKind.ACQUIRE, OpKind.RELEASE, OpKind.INIT, OpKind.DESTROY))
_WAITS = (int(OpKind.WAIT), int(OpKind.WAKE))
_BELOW_THE_PROGRAM = frozenset({"__libc_start_call_main", "__libc_start_main"})  # calls main
# Where native/runtime/CMakeLists.txt has its sources lie: it calls threads, handlers, destructors.
_RUNTIME = "/eitherway-runtime/"
_HANDLER_CALLED = Frame(HANDLER_CALLED)


def trace_of(run: Events) -> Trace:
    """The trace of the run, with stacks, variables and edges."""
    builder = TraceBuilder(World.THREADS)
    _add_actors(builder, run.events, run.names.threads)
    operations = np.zeros(len(run.events), dtype=OPERATION)
    operations["actor"] = run.events["thread"]
    operations["kind"] = run.events["op"]
    operations["flags"] = run.events["flags"]
    stacks = _stacks(builder, run)
    operations["stack"] = stacks[run.events["site"]]
    operations["range"] = _ranges(builder, run, stacks)
    return builder.build(operations, edges_of(run.events), run.values)


def _add_actors(builder: TraceBuilder, events: Table, names: Mapping[int, str]) -> None:
    """Threads are numbered in the order of their creation; thread 0 is main."""
    builder.actor(names.get(0, ""))
    starts = np.flatnonzero(events["op"] == OpKind.START).tolist()
    for number, index in enumerate(starts, start=1):
        name = names.get(number, "")
        builder.actor(name, parent=int(events["thread"][index]), started_by=index)


# --- places


def _stacks(builder: TraceBuilder, run: Events) -> Table:
    """The number of the stack of each call site; site 0 is the bottom, and callers come first."""
    named = frames_of(run.names.modules, run.names.sites["pc"])
    sites = run.names.sites
    stacks = np.zeros(len(sites), dtype=np.uint32)
    for site, (caller, pc) in enumerate(
        zip(sites["caller"].tolist(), sites["pc"].tolist(), strict=True)
    ):
        stack = int(stacks[caller])
        for frame in reversed(named[pc]):
            stack = builder.called(stack, frame)
        stacks[site] = stack
    return stacks


def frames_of(modules: Sequence[Module], pcs: Table) -> dict[int, Frames]:
    """Frames at return addresses: the call is the instruction before."""
    addresses = distinct(pcs).tolist()
    named: dict[int, Frames] = dict.fromkeys(addresses, ())
    inside = [
        [address for address in addresses if module.lo <= address < module.hi] for module in modules
    ]
    asked = [
        (module.path, [address - module.base - 1 for address in these])
        for module, these in zip(modules, inside, strict=True)
    ]
    for these, frames in zip(inside, frames_in(asked), strict=True):
        named.update(zip(these, map(_of_the_program, frames), strict=True))
    return named


def _of_the_program(frames: Frames) -> Frames:
    if not frames or frames[0].function in _BELOW_THE_PROGRAM:
        return ()
    if not frames[0].file.startswith(_RUNTIME):
        return frames
    return (_HANDLER_CALLED,) if frames[0].file == f"{_RUNTIME}delivery.c" else ()


# --- objects


def _ranges(builder: TraceBuilder, run: Events, stacks: Table) -> Table:
    events = run.events
    lives = is_life(events)
    kind = _sorts(events)
    memory = Memory(run.names.modules, run.names.regions)
    blocks = Blocks(run.names.memory)
    spaces = np.zeros(len(events), dtype=np.int64)
    spaces[~lives] = _spaces(memory, blocks, events["address"][~lives], np.flatnonzero(~lives))
    columns = [kind, spaces, events["address"], events["size"]]
    first, inverse = _distinct(columns)
    namer = _Namer(builder, run.names.modules, memory.spaces, _Named(blocks, stacks))
    numbers = np.zeros(len(first), dtype=np.uint32)
    keys = list(zip(*(column[first].tolist() for column in columns), strict=True))
    for index in np.argsort(first).tolist():  # numbered as they come: addresses do not decide
        numbers[index] = namer.range(*keys[index])
    result: Table = numbers[inverse]
    return result


def _sorts(events: Table) -> Table:
    """Which have a lock, a condition or a thread for an object, and not memory."""
    sorts: Table = np.select(
        [np.isin(events["op"], _SYNC), np.isin(events["op"], _WAITS), is_life(events)], [1, 2, 3]
    )
    return sorts


def object_of(run: Events, operation: int) -> tuple[str, str]:
    """Kind and name of what one operation is about, as the trace has them: that takes longer."""
    row = run.events[operation : operation + 1]
    (kind,) = _sorts(row).tolist()
    memory = Memory(run.names.modules, run.names.regions)
    blocks = Blocks(run.names.memory)
    space = 0 if kind == _THREAD else _space_of(run, operation, kind, memory, blocks)
    stacks = np.zeros(len(run.names.sites), dtype=np.uint32)  # nobody asks
    namer = _Namer(
        TraceBuilder(World.THREADS), run.names.modules, memory.spaces, _Named(blocks, stacks)
    )
    touched = namer.touched(kind, space, int(row["address"][0]))
    return touched.kind, touched.name


def _space_of(run: Events, operation: int, kind: int, memory: Memory, blocks: Blocks) -> int:
    """Pages are numbered as they are touched, and a lock that lies in one is called by that."""
    number = np.array([operation])
    space = int(_spaces(memory, blocks, run.events["address"][number], number)[0])
    if not kind or space >= len(memory.spaces) or memory.spaces[space].kind != "memory":
        return space
    before = Memory(run.names.modules, run.names.regions)
    memory.spaces[:] = before.spaces  # the page that was found is the first no more
    numbers = np.flatnonzero(~is_life(run.events))
    spaces = _spaces(before, blocks, run.events["address"][numbers], numbers)
    memory.spaces[:] = before.spaces
    return int(spaces[np.searchsorted(numbers, operation)])


def _distinct(columns: Sequence[Table]) -> tuple[Table, Table]:
    """The first row of each sort, and the sort of each row; `np.unique` takes ten times as long."""
    order = np.lexsort(columns)
    begins = np.zeros(len(order), dtype=bool)
    begins[:1] = True
    for column in columns:
        ordered = column[order]
        begins[1:] |= ordered[1:] != ordered[:-1]
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(begins) - 1
    return order[begins], inverse


def _spaces(memory: Memory, blocks: Blocks, addresses: Table, numbers: Table) -> Table:
    """The space of each address; behind all spaces are the blocks."""
    spaces, _ = memory.locate(addresses, numbers)
    whole = np.array(stretches(memory.spaces), dtype=np.int64)[spaces]
    block = blocks.find(addresses, numbers)
    result: Table = np.where(block >= 0, len(memory.spaces) + block, whole)
    return result


@dataclass(frozen=True, slots=True)
class _Named:
    """Blocks, and the stacks of call sites."""

    blocks: Blocks
    stacks: Table


class _Namer:
    """Gives memory its objects: a variable, a lock, a block, or plain memory by where it lies."""

    def __init__(
        self,
        builder: TraceBuilder,
        modules: Sequence[Module],
        spaces: Sequence[Space],
        named: _Named,
    ) -> None:
        self.builder = builder
        self.spaces = spaces
        self.named = named
        self.variables = ModuleVariables(modules)
        self.objects: dict[tuple[str, int, int], int] = {}

    def range(self, kind: int, space: int, address: int, size: int) -> int:
        touched = self.touched(kind, space, address)
        owner, low = self._object(touched), touched.low
        if low is None:
            return self.builder.range(owner)
        return self.builder.range(owner, low, low + size)

    def touched(self, kind: int, space: int, address: int) -> "_Touched":
        if kind == _THREAD:
            return _Touched("thread", 0, address, f"T{address}")
        if kind and space >= len(self.spaces):  # of these there may be millions
            return _Touched(_SORTS[kind], space, address, self._words(space, address))
        variable, start = self.variables.at(address)
        if kind:
            words = _lock_name(variable, address, start) or self._words(space, address)
            return _Touched(_SORTS[kind], space, address, words)
        if space >= len(self.spaces):
            return self._in_block(space, address)
        if variable is None:
            return _Touched("memory", space, 0, low=address - self.spaces[space].lo + _BELOW)
        return _Touched("global", space, start, variable.name, low=address - start)

    def _in_block(self, space: int, address: int) -> "_Touched":
        block = self.named.blocks[space - len(self.spaces)]
        made = block.what is not Came.THREAD_LOCAL  # which comes with its thread
        stack = int(self.named.stacks[block.site]) if made else 0
        return _Touched(block.words, space, 0, stack=stack, low=address - block.start)

    def _words(self, space: int, address: int) -> str:
        if space < len(self.spaces):
            return self.spaces[space].words(address)
        block = self.named.blocks[space - len(self.spaces)]
        return f"{block.words}{address - block.start:+#x}"

    def _object(self, touched: "_Touched") -> int:
        """The object that begins there: two files may each have a static variable of one name."""
        key = (touched.kind, touched.space, touched.start)
        if key not in self.objects:
            self.objects[key] = self.builder.object(touched.kind, touched.name, stack=touched.stack)
        return self.objects[key]


class _Touched(NamedTuple):
    """An object, by its kind and by where it begins."""

    kind: str
    space: int
    start: int
    name: str = ""
    stack: int = 0  # where it was allocated
    low: int | None = None  # which part of it; None: all of it


class ModuleVariables:
    """The global variables of all modules, each module's read when first asked for."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = modules
        self.tables: dict[str, Variables] = {}
        self._last: Module | None = None

    def at(self, address: int) -> tuple[Variable | None, int]:
        """The variable there and where it starts in memory."""
        module = self.module_at(address)
        if module is None:
            return None, 0
        if module.path not in self.tables:
            self.tables[module.path] = variables_of(module.path)
        found = self.tables[module.path].at(address - module.base)
        return found, found.start + module.base if found else 0

    def module_at(self, address: int) -> Module | None:
        """The one that an address lies in."""
        if self._last is None or not self._last.lo <= address < self._last.hi:
            self._last = next((m for m in self.modules if m.lo <= address < m.hi), None)
        return self._last


# Pages of one stretch are counted from the one that was touched first; others may lie below it.
_BELOW = 1 << 47

_SORTS = {1: "mutex", 2: "condition"}
_THREAD = 3


def _lock_name(variable: Variable | None, address: int, start: int) -> str:
    """A lock may be one of several in a structure or an array."""
    if variable is None:
        return ""
    return f"{variable.name}+{address - start}" if address > start else variable.name
