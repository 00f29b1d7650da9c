# SPDX-License-Identifier: Apache-2.0
"""What a branch has left: what its two threads saw, stored and held near the pair, and its end.

Taken from a trace with values. Code that is not instrumented is not seen here; what it has left is,
at the end, in memory itself (`left_memory`).
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from eitherway.model.trace import Table
from eitherway.model.words import ACCESSES, STORES, OpFlag, OpKind
from eitherway.worlds.threads.block_names import BlockNames
from eitherway.worlds.threads.branch import Pair, Side
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.held import Held, Range, held_at
from eitherway.worlds.threads.left_compared import Spot
from eitherway.worlds.threads.left_memory import AtEnd, at_end
from eitherway.worlds.threads.memory import Memory

STORES_AT_MOST = 100_000  # behind the cut: beyond that the end is not compared
_WORD = 8  # bytes: of longer values there is only a hash
_MOVES = (int(OpKind.ACQUIRE), int(OpKind.RELEASE))

Access = tuple[int, int, int, int]  # op, address, size, value


@dataclass(frozen=True, slots=True)
class Region:
    """What a thread did from the cut on until it synchronised behind its access of the pair."""

    accesses: tuple[Access, ...]
    racing: int  # which of them is that of the pair
    again: int = 0  # the lock that it takes next, to look at the same bytes again
    locks: frozenset[int] = frozenset()  # locks that it has while it makes that access
    open: bool = False  # how it goes on is not known: the trace ends first
    held: Held | None = None  # where it ends; None: that is not known, or the branch is long
    stored: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Left:
    """Bytes as they stand, each with the event that stored it."""

    first: Region | None  # None: it did not come to its access
    second: Region | None
    near: dict[Spot, object] = field(repr=False)  # behind both regions
    end: dict[Spot, object] | None = field(repr=False)  # None: there is too much
    stored: dict[Spot, int] = field(repr=False)  # event that did, for names
    memory: AtEnd | None = field(repr=False)  # itself, whoever stored there; None: not known


def left_by(events: Events, pair: Pair, cut: int, *, whole: bool = True) -> Left:
    """Of the traced branch that was left at this step; `whole`: it is traced to its end."""
    rows, values = events.events, events.values
    if values is None:
        raise ValueError("the trace has no values")
    begin = int(np.searchsorted(rows["step"], cut))
    named = BlockNames(events, begin)
    spots = _Spots(events, named)
    first, one = _region(events, named, pair.first, 1, whole=whole)
    second, other = _region(events, named, pair.second, pair.times, whole=whole)
    near, stored = spots.after(sorted((*one, *other)), near=True)
    stores = begin + np.flatnonzero(np.isin(rows["op"][begin:], list(map(int, STORES))))
    few = whole and len(stores) <= STORES_AT_MOST
    end, last = spots.after(stores.tolist()) if few else (None, {})
    return Left(first, second, near, end, {**last, **stored}, at_end(events, named))


def differing(one: dict[Spot, object], other: dict[Spot, object]) -> list[Spot]:
    """Bytes that both stored and that are not the same, or that only one has."""
    return [spot for spot in {**one, **other} if one.get(spot) != other.get(spot)]


# --- regions


def _region(
    events: Events, named: BlockNames, side: Side, times: int, *, whole: bool
) -> tuple[Region | None, list[int]]:
    """What the thread did, and its stores."""
    rows, begin = events.events, named.begin
    own = begin + np.flatnonzero(rows["thread"][begin:] == side.thread)
    mine = rows[own]
    met = np.flatnonzero(_is(mine, side))
    if len(met) < times or events.values is None:
        return None, []
    racing = int(met[times - 1])
    after = np.flatnonzero(~_is_plain(mine[racing + 1 :]))
    stop = racing + 1 + (int(after[0]) if len(after) else len(mine) - racing - 1)
    part = own[:stop]
    stores = part[np.isin(rows["op"][part], list(map(int, STORES)))]
    region = Region(
        tuple(_accesses(rows[part], events.values[part])),
        racing,
        again=_looks_again(mine[stop:], side),
        locks=_locks(mine[racing + 1 :]),
        open=not len(after) and not whole,
        held=held_at(events, named, int(own[stop])) if len(after) and whole else None,
        stored=tuple(_ranges(rows[stores])),
    )
    return region, stores.tolist()


def _ranges(rows: Table) -> Iterator[Range]:
    for address, size in zip(rows["address"].tolist(), rows["size"].tolist(), strict=True):
        yield address, address + size


def _accesses(rows: Table, values: Table) -> Iterator[Access]:
    columns = (rows["op"], rows["address"], rows["size"], values)
    return zip(*(column.tolist() for column in columns), strict=True)


def _is(rows: Table, side: Side) -> Table:
    touches = (rows["address"] < side.high) & (rows["address"] + rows["size"] > side.low)
    same: Table = touches & (rows["op"] == side.op)
    return same


def _is_plain(rows: Table) -> Table:
    plain = (rows["flags"] & int(OpFlag.ATOMIC)) == 0
    accesses: Table = plain & np.isin(rows["op"], list(map(int, ACCESSES)))
    return accesses


def _looks_again(rows: Table, side: Side) -> int:
    """The lock, if the first thing that the thread does next is to take one, and then to look."""
    if not len(rows) or int(rows["op"][0]) != OpKind.ACQUIRE or not _is_done(rows[:1])[0]:
        return 0
    given = np.flatnonzero(rows["op"] == int(OpKind.RELEASE))
    held = rows[1 : int(given[0]) if len(given) else len(rows)]
    touches = (held["address"] < side.high) & (held["address"] + held["size"] > side.low)
    looks = np.any(touches & (held["op"] == int(OpKind.LOAD)))
    return int(rows["address"][0]) if looks else 0


def _locks(after: Table) -> frozenset[int]:
    """Locks that a thread gives back before it takes them, by what it does from there on."""
    moves = after[np.isin(after["op"], _MOVES) & _is_done(after)]
    locks, first = np.unique(moves["address"], return_index=True)
    alone = (moves["flags"][first] & int(OpFlag.SHARED)) == 0
    given = (moves["op"][first] == int(OpKind.RELEASE)) & alone
    return frozenset(locks[given].tolist())


def _is_done(rows: Table) -> Table:
    done: Table = (rows["flags"] & int(OpFlag.FAILED | OpFlag.BLOCKED)) == 0
    return done


# --- bytes


class _Spots:
    """Bytes of memory, those of blocks by names that are the same in both orders."""

    def __init__(self, events: Events, named: BlockNames) -> None:
        self._events = events
        self._blocks = named.blocks
        self._memory = Memory(events.names.modules, events.names.regions)
        self._names = named.of

    def after(
        self, stores: list[int], *, near: bool = False
    ) -> tuple[dict[Spot, object], dict[Spot, int]]:
        """Bytes as these events left them, but for those on stacks.

        Near the pair, what lies on another thread's stack counts: there it is not over yet.
        """
        numbers = self._last(np.array(stores, dtype=np.int64))
        rows, values = self._events.events[numbers], self._events.values
        blocks = self._blocks.find(rows["address"], numbers).tolist()
        spaces, _ = self._memory.locate(rows["address"], numbers)
        where = [self._memory.spaces[int(space)] for space in spaces]
        counts = [
            space.kind != "stack" or (near and space.thread != thread)
            for space, thread in zip(where, rows["thread"].tolist(), strict=True)
        ]
        told = np.zeros(len(rows), np.uint64) if values is None else values[numbers]
        pointed = self._blocks.find(told, numbers).tolist()
        bytes_: dict[Spot, object] = {}
        stored: dict[Spot, int] = {}
        within: defaultdict[int, set[Spot]] = defaultdict(set)
        for number, access, block, count, at in zip(
            numbers.tolist(), _accesses(rows, told), blocks, counts, pointed, strict=True
        ):
            if access[0] == OpKind.FREE:
                for spot in within.pop(block, ()):
                    del bytes_[spot], stored[spot]
            elif count:
                new = dict(self._told(access, block, at))
                within[block].update(new)
                bytes_.update(new)
                stored.update(dict.fromkeys(new, number))
        return bytes_, stored

    def _last(self, numbers: Table) -> Table:
        """Without those after which the same thread stored to the same bytes of the same block."""
        rows = self._events.events[numbers]
        blocks = self._blocks.find(rows["address"], numbers)
        same = (rows["address"], rows["size"], rows["op"], rows["thread"], blocks)
        last = dict(zip(zip(*(part.tolist() for part in same), strict=True), numbers, strict=True))
        kept: Table = np.sort(np.fromiter(last.values(), np.int64, len(last)))
        return kept

    def _told(self, access: Access, block: int, pointed: int) -> Iterator[tuple[Spot, object]]:
        """`pointed` is the block that the value leads into."""
        op, address, size, value = access
        base: object = self._names.get(block, "")
        start = address - (self._blocks[block].start if block in self._names else 0)
        if op == OpKind.ALLOCATE:
            return
        if size > _WORD:
            yield (base, start), ("whole", size, value)
            return
        pointer = self._pointed(value, pointed) if size == _WORD else None
        for byte in range(size):
            yield (base, start + byte), (pointer, byte) if pointer else value >> 8 * byte & 0xFF

    def _pointed(self, value: int, block: int) -> object:
        """The place in a block that came behind the cut, if the value is the address of one."""
        if block not in self._names:
            return None
        return self._names[block], value - self._blocks[block].start
