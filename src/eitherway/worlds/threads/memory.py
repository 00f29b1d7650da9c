# SPDX-License-Identifier: Apache-2.0
"""Where addresses lie, in words that stay the same when everything lies elsewhere.

| space | an address is |
|---|---|
| a module | an offset into the ELF file |
| the stack of a thread | the distance from its upper end |
| the heap, the arguments | the distance from their begin |
| the rest: mappings, thread-local storage | a page, numbered when first touched, and an offset |

Nothing here knows of single allocations: two traces agree as long as the allocator does the same,
which it does whatever the addresses are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eitherway.model.trace import Table
from eitherway.worlds.threads.events import ARGUMENTS, HEAP, Module

PAGE = 4096


@dataclass(frozen=True, slots=True)
class Space:
    """A part of memory that has a name."""

    kind: str  # module, stack, heap, arguments, memory
    name: str
    lo: int
    origin: int  # offsets are counted from there, down or up
    thread: int = 0  # whose stack it is

    def words(self, address: int) -> str:
        """An address in it, for people."""
        return f"{self.name}{address - self.origin:+#x}"


class Memory:
    """Numbers of spaces and offsets for addresses; pages are numbered as they come."""

    def __init__(self, modules: Sequence[Module], regions: Table) -> None:
        self.spaces: list[Space] = []
        self._modules = _Modules(modules, self.spaces)
        self._regions = _Regions(regions, self.spaces)
        self._pages: dict[int, int] = {}

    def locate(self, addresses: Table, events: Table) -> tuple[Table, Table]:
        """For each address, as it was used at that event: its space, and its offset therein."""
        spaces = self._modules.find(addresses)
        rest = np.flatnonzero(spaces < 0)
        spaces[rest] = self._regions.find(addresses[rest], events[rest])
        rest = np.flatnonzero(spaces < 0)
        spaces[rest] = self._page_spaces(addresses[rest])
        return spaces, self._offsets(addresses, spaces)

    def _offsets(self, addresses: Table, spaces: Table) -> Table:
        unique, inverse = np.unique(spaces, return_inverse=True)
        origins = np.array([self.spaces[i].origin for i in unique], dtype=np.uint64)
        offsets: Table = addresses - origins[inverse]  # below the origin of a stack: modulo 2^64
        return offsets

    def _page_spaces(self, addresses: Table) -> Table:
        pages, first, inverse = np.unique(
            addresses // np.uint64(PAGE), return_index=True, return_inverse=True
        )
        for index in np.argsort(first):
            page = int(pages[index])
            if page not in self._pages:
                name = f"memory#{len(self._pages) + 1}"
                self._pages[page] = len(self.spaces)
                self.spaces.append(Space("memory", name, page * PAGE, page * PAGE))
        numbers: Table = np.array([self._pages[int(page)] for page in pages], dtype=np.int64)
        return numbers[inverse] if len(pages) else numbers


class _Modules:
    def __init__(self, modules: Sequence[Module], spaces: list[Space]) -> None:
        lo = np.array([module.lo for module in modules], dtype=np.uint64)
        hi = np.array([module.hi for module in modules], dtype=np.uint64)
        order = np.argsort(lo, kind="stable")
        self.lo, self.hi = lo[order], hi[order]
        self.numbers = len(spaces) + order  # as they were loaded, not as they lie
        spaces.extend(
            Space("module", module.path.rpartition("/")[2], module.lo, module.base)
            for module in modules
        )

    def find(self, addresses: Table) -> Table:
        found: Table = np.full(len(addresses), -1, dtype=np.int64)
        index = np.searchsorted(self.lo, addresses, side="right").astype(np.int64) - 1
        below = index >= 0
        inside = np.flatnonzero(below)[addresses[below] < self.hi[index[below]]]
        found[inside] = self.numbers[index[inside]]
        return found


class _Regions:
    """Stacks and the heap; memory that was one thread's stack becomes another's later."""

    def __init__(self, regions: Table, spaces: list[Space]) -> None:
        self.start = len(spaces)
        spaces.extend(map(_region_space, regions))
        self.bounds = np.unique(np.concatenate([regions["lo"], regions["hi"]]))
        self.owners: list[list[int]] = [[] for _ in self.bounds]
        for number, row in enumerate(regions):
            first, last = np.searchsorted(self.bounds, [row["lo"], row["hi"]])
            for part in range(int(first), int(last)):
                self.owners[part].append(number)
        self.since = regions["event"].astype(np.int64)

    def find(self, addresses: Table, events: Table) -> Table:
        """Of those that an address lies in, the last that came to be before the event."""
        part = np.searchsorted(self.bounds, addresses, side="right").astype(np.int64) - 1
        found: Table = np.full(len(addresses), -1, dtype=np.int64)
        for number in np.unique(part).tolist():
            if number < 0 or not self.owners[number]:
                continue
            owners = np.array(self.owners[number], dtype=np.int64)
            here = np.flatnonzero(part == number)
            last = np.searchsorted(self.since[owners], events[here], side="right") - 1
            found[here] = np.where(last >= 0, self.start + owners[last], -1)
        return found


def _region_space(row: np.void) -> Space:
    lo, origin, thread = int(row["lo"]), int(row["origin"]), int(row["thread"])
    for number, name in ((HEAP, "heap"), (ARGUMENTS, "arguments")):
        if thread == number:
            return Space(name, name, lo, origin)
    return Space("stack", f"stack of T{thread}", lo, origin, thread)


def stretches(spaces: Sequence[Space]) -> list[int]:
    """For each space its own number; for pages side by side that of the first that was touched."""
    whole = list(range(len(spaces)))
    runs: list[list[int]] = []
    previous = -PAGE
    for lo, index in sorted((s.lo, i) for i, s in enumerate(spaces) if s.kind == "memory"):
        if lo != previous + PAGE or not runs:
            runs.append([])
        runs[-1].append(index)
        previous = lo
    for run in runs:
        for member in run:
            whole[member] = min(run)
    return whole
