# SPDX-License-Identifier: Apache-2.0
"""Which block of memory an address lay in when it was touched: heap, mappings, TLS.

Memory is used again, and what is there later is another object. A block of the heap has a begin and
an end; a mapping or the storage of a thread lasts until something else begins at the same place.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from eitherway.model.trace import Table
from eitherway.worlds.threads.events import Came

_WORDS = {
    Came.ALLOCATED: "heap block of {} bytes",
    Came.MAPPED: "mapping of {} bytes",
    Came.THREAD_LOCAL: "thread-local storage",
}
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Block:
    """One, for people."""

    words: str
    what: Came
    start: int
    size: int
    site: int  # where it came to be
    thread: int  # who made it
    since: int  # event


class Blocks:
    """All blocks of a run, numbered as they came to be."""

    def __init__(self, rows: Table) -> None:
        begins = rows["what"] != Came.FREED
        self._rows = rows[begins]
        self._since = self._rows["event"].astype(np.int64)
        self._until = _ends(rows)[begins]
        self._ordered = np.lexsort((np.arange(len(self._rows)), self._rows["address"]))
        ordered = self._rows[self._ordered]
        self._starts, self._first = np.unique(ordered["address"], return_index=True)
        self._last = np.append(self._first[1:], len(ordered)) - 1
        self._ends = ordered["address"] + np.maximum(ordered["size"], 1)
        self._reach = np.maximum.accumulate(self._ends)
        self._larger = _larger(ordered["address"], self._ends)
        self._made = lru_cache(maxsize=1 << 10)(self._make)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Block:
        """Asked for again and again: a block may hold a million locks."""
        return self._made(number)

    def _make(self, number: int) -> Block:
        row = self._rows[number]
        what, size = Came(int(row["what"])), int(row["size"])
        words = _WORDS[what].format(size)
        return Block(
            words,
            what,
            int(row["address"]),
            size,
            int(row["site"]),
            int(row["thread"]),
            int(row["event"]),
        )

    def find(self, addresses: Table, events: Table) -> Table:
        """For each address as it was touched by that event the number of its block, or -1.

        Of several that live, the one that begins nearest; where none does, the last that did.
        """
        found: Table = np.full(len(addresses), -1, dtype=np.int64)
        open_: Table = np.arange(len(addresses))
        group = np.searchsorted(self._starts, addresses, side="right").astype(np.int64) - 1
        while len(open_ := self._may_be_in(open_, group, addresses)):
            number = self._around(group[open_], addresses[open_], events[open_])
            lives = (number >= 0) & (self._until[number] > events[open_])
            found[open_] = np.where(lives, number, np.maximum(found[open_], number))
            open_ = open_[~lives]
            group[open_] -= 1
        return found

    def sizes(self, numbers: Table) -> Table:
        """Of some of them, as they were asked for, and 0 for -1."""
        sizes: Table = np.where(numbers >= 0, np.append(self._rows["size"], 0)[numbers], 0)
        return sizes

    def lives(self, number: int) -> bool:
        """Whether it is there at the end."""
        return bool(self._until[number] == _NEVER)

    def _may_be_in(self, which: Table, group: Table, addresses: Table) -> Table:
        """Those of the addresses that a block of their group, or of one before, reaches."""
        which = which[group[which] >= 0]
        last = self._last[group[which]]
        reached: Table = which[self._reach[last] > addresses[which]]
        return reached

    def _around(self, group: Table, addresses: Table, events: Table) -> Table:
        """Of the blocks that begin at one address the last around another by then, or -1."""
        place = self._begun(group, events)
        while np.any(short := (place >= 0) & (self._ends[place] <= addresses)):
            place = np.where(short, self._larger[place], place)
        number: Table = np.where(place >= 0, self._ordered[place], -1)
        return number

    def _begun(self, group: Table, events: Table) -> Table:
        """The place of the last that was there by then, or -1."""
        low, high = self._first[group] - 1, self._last[group]  # the place is above low, up to high
        while np.any(low < high):
            middle = (low + high + 1) // 2
            known = self._since[self._ordered[middle]] <= events
            low, high = np.where(known, middle, low), np.where(known, high, middle - 1)
        place: Table = np.where(low >= self._first[group], low, -1)
        return place


def _ends(rows: Table) -> Table:
    """From which event on each is no more: what comes next at the same place ends it."""
    order = np.lexsort((np.arange(len(rows)), rows["address"]))
    ordered = rows[order]
    until: Table = np.full(len(rows), _NEVER, dtype=np.int64)
    again = ordered["address"][1:] == ordered["address"][:-1]
    until[order[:-1][again]] = ordered["event"][1:][again]
    return until


def _larger(starts: Table, ends: Table) -> Table:
    """For each the place of the last before it that begins there too and reaches further."""
    larger: Table = np.full(len(starts), -1, dtype=np.int64)
    kept: list[tuple[int, int, int]] = []  # of one start, each reaching further than the next
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        while kept and (kept[-1][0] != start or kept[-1][1] <= end):
            kept.pop()
        if kept:
            larger[place] = kept[-1][2]
        kept.append((start, end, place))
    return larger
