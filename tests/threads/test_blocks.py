# SPDX-License-Identifier: Apache-2.0
"""An address belongs to the block that was there when it was touched."""

from random import Random

import numpy as np
import pytest

from eitherway.model.trace import Table
from eitherway.recording.layout import TABLES, BlockType
from eitherway.worlds.threads.blocks import Blocks
from eitherway.worlds.threads.events import Came

ROW = TABLES[BlockType.THREAD_MEMORY]
A, F, M = Came.ALLOCATED, Came.FREED, Came.MAPPED

Row = tuple[Came, int, int, int]  # what, address, size, from which event on


def table(rows: list[Row]) -> Table:
    result = np.zeros(len(rows), dtype=ROW)
    for index, (what, address, size, event) in enumerate(rows):
        result[index]["what"], result[index]["address"] = int(what), address
        result[index]["size"], result[index]["event"] = size, event
    return result


def find(rows: list[Row], *touched: tuple[int, int]) -> list[int]:
    addresses, events = np.array(touched, dtype=np.uint64).T
    found: list[int] = Blocks(table(rows)).find(addresses, events.astype(np.int64)).tolist()
    return found


def test_without_blocks_nothing_is_in_one() -> None:
    assert find([], (100, 0), (200, 5)) == [-1, -1]


def test_a_block_is_where_it_is_from_when_it_came() -> None:
    rows: list[Row] = [(A, 100, 10, 5)]
    touched = [(99, 9), (100, 4), (100, 5), (109, 7), (110, 7)]
    assert find(rows, *touched) == [-1, -1, 0, 0, -1]


def test_the_next_one_at_the_same_place_is_another() -> None:
    rows: list[Row] = [(A, 100, 10, 0), (F, 100, 10, 5), (A, 100, 20, 7)]
    assert find(rows, (105, 4), (105, 7), (115, 7), (115, 4)) == [0, 1, 1, -1]


def test_what_was_freed_is_still_that_until_something_else_is_there() -> None:
    rows: list[Row] = [(A, 100, 10, 0), (F, 100, 10, 5), (A, 90, 40, 8)]
    assert find(rows, (105, 6), (105, 8), (95, 6)) == [0, 1, -1]


def test_of_two_around_an_address_the_nearest_counts() -> None:
    rows: list[Row] = [(M, 0, 1000, 0), (A, 100, 10, 3)]
    assert find(rows, (105, 2), (105, 4), (200, 4)) == [0, 1, 0]


def test_a_short_block_does_not_hide_the_end_of_a_long_one() -> None:
    rows: list[Row] = [(A, 100, 50, 0), (F, 100, 50, 1), (A, 100, 8, 2), (F, 100, 8, 3)]
    assert find(rows, (140, 4), (104, 4)) == [0, 1]


def test_a_block_of_no_bytes_has_an_address() -> None:
    assert find([(A, 100, 0, 0)], (100, 1), (101, 1)) == [0, -1]


def test_a_block_has_words_and_a_place() -> None:
    rows = table([(A, 100, 64, 0), (F, 100, 64, 1), (M, 4096, 8192, 2)])
    rows["site"] = [7, 8, 9]
    blocks = Blocks(rows)
    assert len(blocks) == 2
    assert (blocks[0].words, blocks[0].start, blocks[0].site) == ("heap block of 64 bytes", 100, 7)
    assert (blocks[1].words, blocks[1].site) == ("mapping of 8192 bytes", 9)


class Heap:
    """An allocator that remembers who had which byte when: what `Blocks` says must be that."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311  not for secrets
        self.rows: list[Row] = []
        self.live: dict[int, int] = {}
        self.count = 0
        self.owner: dict[int, int] = {}  # of each byte, also after it was freed
        self.asked: list[tuple[int, int]] = []
        self.expected: list[int] = []

    def allocate(self, event: int) -> None:
        start, size = self.random.randrange(60), self.random.randint(1, 12)
        taken = {byte for at, length in self.live.items() for byte in range(at, at + length)}
        if taken & set(range(start, start + size)):
            return
        self.rows.append((A, start, size, event))
        self.live[start] = size
        for byte in range(start, start + size):
            self.owner[byte] = self.count
        self.count += 1

    def free(self, event: int) -> None:
        if self.live:
            start = self.random.choice(sorted(self.live))
            self.rows.append((F, start, self.live.pop(start), event))

    def ask(self, event: int) -> None:
        address = self.random.randrange(75)
        self.asked.append((address, event))
        self.expected.append(self.owner.get(address, -1))


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_those_of_an_allocator(seed: int) -> None:
    heap = Heap(seed)
    for event in range(200):
        heap.random.choice([heap.allocate, heap.allocate, heap.free, heap.ask, heap.ask])(event)
    assert find(heap.rows, *heap.asked) == heap.expected
