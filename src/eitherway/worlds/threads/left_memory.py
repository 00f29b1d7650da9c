# SPDX-License-Identifier: Apache-2.0
"""What a branch has left in memory, whoever stored it there.

The runtime tells which words are not as they were at the cut (native/runtime/left.c). Of those
the program's own count: variables of its modules, and blocks of the heap that are there at the end.
Not the C and C++ libraries', nor what lies in locks, which is the runtime's; nor stacks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from eitherway.model.trace import Table
from eitherway.model.words import OpKind
from eitherway.symbols.data import data_of
from eitherway.worlds.threads.block_names import BlockNames
from eitherway.worlds.threads.events import Came, Events, Module

WORD = 8  # bytes
_OF_LOCKS = (
    OpKind.ACQUIRE,
    OpKind.RELEASE,
    OpKind.INIT,
    OpKind.DESTROY,
    OpKind.WAIT,
    OpKind.WAKE,
)
# What others keep for the program: buffers of streams, lists of blocks, caches of the loader.
_LIBC = ("libc.", "libc-", "ld-musl")
_OF_COMPILERS = ("libstdc++", "libc++", "libgcc_s", "libgomp", "libomp")
_ALLOCATORS = ("libjemalloc", "libmimalloc", "libtcmalloc")
_WITH_LIBC = ("ld-linux", "libdl.", "libm.", "libpthread", "librt.")
_OTHERS = (*_LIBC, *_WITH_LIBC, *_OF_COMPILERS, *_ALLOCATORS)


class Home(NamedTuple):
    """A part of memory that is the program's: addresses [low, high)."""

    name: object  # of a block that came behind the cut; empty: it lies there in every branch
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Fresh:
    """A block that came behind the cut, with what it held when it was allocated."""

    start: int
    size: int  # as far as that is known
    held: bytes
    plain: int  # bytes at its begin that it has from a block of before the cut

    def has_changed(self, at: int, byte: int) -> bool:
        """Whether somebody has written this there, as far as can be seen."""
        return at < self.plain or self.held[at] != byte


def at_end(events: Events, named: BlockNames) -> "AtEnd | None":
    """Of a traced branch; None: it was not told, or libc's memory cannot be told apart."""
    apart = any(_name(module).startswith(_LIBC) for module in events.names.modules)
    changes = events.names.changes
    return AtEnd(events, named, changes) if changes is not None and apart else None


class AtEnd:
    """Memory at the end of a branch; words by their addresses, in order."""

    def __init__(self, events: Events, named: BlockNames, changes: Table) -> None:
        self._events = events
        self._named = named
        self.addresses: Table = changes["address"]
        self.before: Table = changes["before"]
        self.after: Table = changes["after"]
        # Of each word the number of the block that came behind the cut and that it points into.
        self.pointed = self._pointed(self.after)

    def _blocks_at(self, addresses: Table) -> Table:
        return self._named.blocks.find(addresses, np.full(len(addresses), len(self._events.events)))

    def _pointed(self, values: Table) -> Table:
        """Right behind a block is still its: there an iteration ends."""
        fresh = np.array(sorted(self._named.of), dtype=np.int64)
        inside, behind = (self._blocks_at(values - np.uint64(back)) for back in (0, 1))
        result: Table = np.where(np.isin(inside, fresh), inside, behind)
        result[~np.isin(result, fresh)] = -1
        return result

    def value(self, row: int) -> object:
        """Of a word; a pointer into a block that came behind the cut by the name of that."""
        value, block = int(self.after[row]), int(self.pointed[row])
        if block < 0:
            return value
        return self._named.of[block], value - self._named.blocks[block].start

    # --- whose it is

    @cached_property
    def _variables(self) -> Table:
        """Where they lie, in order: begins and ends."""
        found = [
            (module.base + low, module.base + high)
            for module in self._events.names.modules
            if not is_of_others(module)
            for low, high in data_of(module.path)
        ]
        ranges: Table = np.array(sorted(found), dtype=np.uint64).reshape(-1, 2)
        return ranges

    @cached_property
    def locks(self) -> set[int]:
        """Words of them."""
        rows = self._events.events
        rows = rows[np.isin(rows["op"], [int(op) for op in _OF_LOCKS])]
        places = {*zip(rows["address"].tolist(), rows["size"].tolist(), strict=True)}
        return {word for at, size in places for word in range(at & -WORD, at + size, WORD)}

    def homes(self, words: Table) -> Iterator[Home | None]:
        """Of each; a variable may begin within a word."""
        lows, highs = self._variables[:, 0], self._variables[:, 1]
        last = np.searchsorted(lows, words + np.uint64(WORD - 1), side="right") - 1
        for word, block, at in zip(
            words.tolist(), self._blocks_at(words).tolist(), last.tolist(), strict=True
        ):
            if block >= 0:
                yield self._in_block(block)
            elif at >= 0 and word < int(highs[at]):
                yield Home("", int(lows[at]), int(highs[at]))
            else:
                yield None

    def _in_block(self, number: int) -> Home | None:
        if not self._counts(number):
            return None
        block = self._named.blocks[number]
        return Home(self._named.of.get(number, ""), block.start, block.start + block.size)

    def _counts(self, number: int) -> bool:
        """Whether it is there at the end, and nobody else's: libc allocates for itself, too."""
        block = self._named.blocks[number]
        if block.what is not Came.ALLOCATED or not self._named.blocks.lives(number):
            return False
        code = int(self._events.names.sites["pc"][block.site])
        by = (module for module in self._events.names.modules if module.lo <= code < module.hi)
        return not any(map(is_of_others, by))

    # --- what came behind the cut

    @cached_property
    def fresh(self) -> dict[object, Fresh]:
        """Blocks that did and are there at the end, by their names."""
        held = _held(self._events)
        found: dict[object, Fresh] = {}
        for number, name in self._named.of.items():
            block = self._named.blocks[number]
            known = held.get((block.start, block.since))
            if known is not None and self._counts(number):
                size = min(block.size, len(known[1]))
                found[name] = Fresh(block.start, size, known[1], known[0])
        return found


def _held(events: Events) -> dict[tuple[int, int], tuple[int, bytes]]:
    """What blocks held when they were allocated, behind what they have from before the cut."""
    found: dict[tuple[int, int], tuple[int, bytes]] = {}
    last: dict[int, tuple[int, bytes]] = {}  # by address: the runtime tells them in order
    for (address, event), stale in events.names.stale.items():
        plain, held = 0, stale.bytes.ljust(stale.known, b"\0")
        if stale.moved:
            plain, old = last.get(stale.moved, (stale.kept, bytes(stale.kept)))
            plain = min(plain, stale.kept)
            held = old[: stale.kept] + (held[stale.kept :] if len(old) >= stale.kept else b"")
        last[address] = found[address, event] = plain, held
    return found


def _name(module: Module) -> str:
    return module.path.rpartition("/")[2]


def is_of_others(module: Module) -> bool:
    """The C and C++ libraries, and what comes with them."""
    return _name(module).startswith(_OTHERS)
