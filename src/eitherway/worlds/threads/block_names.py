# SPDX-License-Identifier: Apache-2.0
"""Names for blocks of the heap that are the same in runs that allocate in another order.

What came behind the cut is told by the call sites that allocated it and how many came from there
before; what was there already has no such name: its address is the same.
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from eitherway.worlds.threads.blocks import Blocks
from eitherway.worlds.threads.events import Came, Events

Name = tuple[tuple[int, ...], int]


class BlockNames:
    """Of one traced branch; `begin` is its first event behind the cut."""

    def __init__(self, events: Events, begin: int) -> None:
        self.begin = begin
        self.blocks = Blocks(events.names.memory)
        self.of: dict[int, Name] = {}  # by the number of the block
        self._sites = events.names.sites
        counts: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for number in range(len(self.blocks)):
            block = self.blocks[number]
            if block.since < begin or block.what is not Came.ALLOCATED:
                continue
            chain = tuple(self._chain(block.site))
            self.of[number] = chain, counts[chain]
            counts[chain] += 1

    @cached_property
    def span(self) -> tuple[int, int]:
        """Addresses [low, high) that hold all blocks with a name."""
        blocks = [self.blocks[number] for number in self.of]
        low = min((block.start for block in blocks), default=0)
        return low, max((block.start + block.size for block in blocks), default=0)

    def _chain(self, site: int) -> Iterator[int]:
        while site:
            yield int(self._sites["pc"][site])
            site = int(self._sites["caller"][site])
