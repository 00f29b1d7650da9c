# SPDX-License-Identifier: Apache-2.0
"""Which block of memory an address lay in when it was touched: heap, mappings, TLS.

Memory is used again, and what is there later is another object. A block of the heap has a begin and
an end; a mapping or the storage of a thread lasts until something else begins at the same place.
"""

from dataclasses import dataclass

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
    start: int
    site: int  # where it came to be


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
        self._reach = np.maximum.accumulate(ordered["address"] + np.maximum(ordered["size"], 1))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Block:
        row = self._rows[number]
        words = _WORDS[Came(int(row["what"]))].format(int(row["size"]))
        return Block(words, int(row["address"]), int(row["site"]))

    def find(self, addresses: Table, events: Table) -> Table:
        """For each address as it was touched by that event the number of its block, or -1.

        Of several the last that came to be; one that was given back only where no other is.
        """
        found: Table = np.full(len(addresses), -1, dtype=np.int64)
        last: Table = np.full(len(addresses), -1, dtype=np.int64)  # given back by then
        open_: Table = np.arange(len(addresses))
        group = np.searchsorted(self._starts, addresses, side="right").astype(np.int64) - 1
        while len(open_ := self._may_be_in(open_, group, addresses)):
            number = self._begun(group[open_], events[open_])
            covers = number >= 0
            covers[covers] &= self._covers(number[covers], addresses[open_[covers]])
            at, number = open_[covers], number[covers]
            lives = self._until[number] > events[at]
            found[at[lives]] = np.maximum(found[at[lives]], number[lives])
            last[at[~lives]] = np.maximum(last[at[~lives]], number[~lives])
            group[open_] -= 1
        return np.where(found >= 0, found, last)

    def _may_be_in(self, which: Table, group: Table, addresses: Table) -> Table:
        """Those of the addresses that a block of their group, or of one before, reaches."""
        which = which[group[which] >= 0]
        last = self._last[group[which]]
        reached: Table = which[self._reach[last] > addresses[which]]
        return reached

    def _begun(self, group: Table, events: Table) -> Table:
        """Of the blocks that begin at one address the last that was there by then, or -1."""
        low, high = self._first[group] - 1, self._last[group]  # the place is above low, up to high
        while np.any(low < high):
            middle = (low + high + 1) // 2
            known = self._since[self._ordered[middle]] <= events
            low, high = np.where(known, middle, low), np.where(known, high, middle - 1)
        number: Table = np.where(low >= self._first[group], self._ordered[low], -1)
        return number

    def _covers(self, number: Table, addresses: Table) -> Table:
        rows = self._rows[number]
        covers: Table = addresses - rows["address"] < np.maximum(rows["size"], 1)
        return covers


def _ends(rows: Table) -> Table:
    """From which event on each is no more: what comes next at the same place ends it."""
    order = np.lexsort((np.arange(len(rows)), rows["address"]))
    ordered = rows[order]
    until: Table = np.full(len(rows), _NEVER, dtype=np.int64)
    again = ordered["address"][1:] == ordered["address"][:-1]
    until[order[:-1][again]] = ordered["event"][1:][again]
    return until
