# SPDX-License-Identifier: Apache-2.0
"""What the operations of a traced run touched, in the words of a finding.

| it lies in | it is told as |
|---|---|
| a variable | its name, with the field and the index: `stats.misses`, `slots[3]` |
| a file without a symbol table | the file, and which bytes of it as it is loaded |
| a frame of a function that has not returned | the local variable or its field, on that stack |
| the storage of a thread | the thread-local variable, of that thread |
| a block of the heap, a mapping | its size, and which bytes of it; a field, where its size tells |

Asked for operations of findings alone: debug information is read for each.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from eitherway.model.described import Described, field_of, with_field
from eitherway.model.trace import Table
from eitherway.model.words import ACCESSES
from eitherway.symbols.fields import part_of
from eitherway.symbols.frames import local_at
from eitherway.symbols.structures import field_in_block
from eitherway.symbols.thread_locals import thread_variables_of
from eitherway.worlds.threads.blocks import Block, Blocks
from eitherway.worlds.threads.events import Came, Events, is_life
from eitherway.worlds.threads.memory import Memory
from eitherway.worlds.threads.named import ModuleVariables

_ASKED_BY = 3  # calls
_WIDTHS = (1, 2, 4, 8)  # bytes of fields, of which not all need to be others


class Descriptions:
    """Of one run."""

    def __init__(self, run: Events) -> None:
        self._run = run
        self._variables = ModuleVariables(run.names.modules)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._run.names.memory)

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self._run.names.modules, self._run.names.regions)

    def __call__(self, operation: int) -> Described:
        """What is known beyond the name and kind of the object; empty where nothing is."""
        row = self._run.events[operation : operation + 1]
        if is_life(row)[0]:
            return Described()
        known = self._described(operation, row)
        is_access = int(row["op"][0]) in ACCESSES
        return known if is_access else Described(variable=known.variable)

    def at_end(self, address: int, size: int) -> Described:
        """What lies there when the run is over: a variable, or a block of the heap."""
        place = np.array([address], dtype=np.uint64)
        number = int(self._blocks.find(place, np.array([len(self._run.events)]))[0])
        if number < 0:
            return self._in_module(address, size)
        around = ((address & -width, width) for width in _WIDTHS)
        wider = (self._in_block(number, *one) for one in around if _holds(*one, address, size))
        field = next((each for each in wider if field_of(each.part)), None)
        known = field or self._in_block(number, address, size)
        return replace(known, object=self._blocks[number].words)

    def _described(self, operation: int, row: Table) -> Described:
        address, size = int(row["address"][0]), int(row["size"][0])
        number = np.array([operation])
        block = int(self._blocks.find(row["address"], number)[0])
        if block >= 0:
            return self._in_block(block, address, size)
        spaces, _ = self._memory.locate(row["address"], number)
        space = self._memory.spaces[int(spaces[0])]
        if space.kind == "module":
            return self._in_module(address, size)
        if space.kind == "stack":
            name = self._local(operation, space.thread, size)
            return Described(_of(space.thread, "stack"), name)
        return Described()

    def _in_module(self, address: int, size: int) -> Described:
        module = self._variables.module_at(address)
        variable, start = self._variables.at(address)
        if module is None:
            return Described()
        if variable is None:
            file = module.path.rpartition("/")[2].partition(".so")[0]
            part = _bytes(address - module.base, size, "#x")
            return Described(f"memory of {file}", part=part)
        inside = part_of(module.path, variable, address - start, size)
        return Described(variable=variable.name + inside)

    def _in_block(self, number: int, address: int, size: int) -> Described:
        block = self._blocks[number]
        if block.what is not Came.THREAD_LOCAL:
            within = _bytes(address - block.start, size)
            by = actor(block.thread) if block.what is Came.ALLOCATED else ""
            whole = address == block.start and size >= block.size
            field = self._field(block, address, size) if by and not whole else ""
            return Described(part="" if whole else with_field(within, field), allocator=by)
        end = block.start + block.size
        variable = thread_variables_of(self._run.names.modules[0].path).at(address - end)
        name = variable.name if variable else ""
        return Described(_of(self._served(block), "thread-local storage"), name)

    def _field(self, block: Block, address: int, size: int) -> str:
        """By whoever asked for the block, or for whom that was: xmalloc knows no structures."""
        sites, site = self._run.names.sites, block.site
        for _ in range(_ASKED_BY):
            module = self._variables.module_at(code := int(sites["pc"][site]))
            found = module and field_in_block(
                module.path, code - module.base - 1, block.size, address - block.start, size
            )
            if found or not (site := int(sites["caller"][site])):
                return found or ""
        return ""

    def _served(self, block: Block) -> int:
        """The thread whose storage it is: the one that starts with that event, or the first."""
        if self._run.names.sites["caller"][block.site] == 0:
            return 0
        return int(self._run.events["address"][block.since])

    def _local(self, operation: int, owner: int, size: int) -> str:
        """By the frame: what its thread does in it says which function it is of."""
        rows = self._run.names.locals
        at = int(np.searchsorted(rows["event"], operation))
        if at == len(rows) or rows["event"][at] != operation:
            return ""
        code = self._code_in(int(rows["site"][at]), operation, owner)
        module = self._variables.module_at(code) if code else None
        if module is None:
            return ""
        return local_at(module.path, code - module.base - 1, -int(rows["below"][at]), size)

    def _code_in(self, frame: int, operation: int, owner: int) -> int:
        """Of a function that was called there: the operation itself, or what its thread did.

        One place may call several: all threads begin at one.
        """
        events, sites = self._run.events, self._run.names.sites
        if events["thread"][operation] == owner:
            nearest = [int(events["site"][operation])]
        else:
            nearest = np.unique(events["site"][events["thread"] == owner]).tolist()
        inside = (site for each in nearest if (site := _called_at(sites["caller"], frame, each)))
        return int(sites["pc"][next(inside, 0)])


def _called_at(callers: Table, frame: int, site: int) -> int:
    """The site itself or the caller of it that is in the function called there; 0: none is."""
    while site and callers[site] != frame:
        site = int(callers[site])
    return site


def _holds(first: int, width: int, low: int, size: int) -> bool:
    return first <= low and low + size <= first + width


def _bytes(first: int, size: int, form: str = "d") -> str:
    last = first + size - 1
    return f"bytes {first:{form}} to {last:{form}}" if size > 1 else f"byte {first:{form}}"


def _of(thread: int, what: str) -> str:
    return f"{what} of {actor(thread)}"


def actor(thread: int) -> str:
    """As a person calls it, by its number."""
    return f"thread T{thread}" if thread else "main thread"
