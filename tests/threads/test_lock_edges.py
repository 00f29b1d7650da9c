# SPDX-License-Identifier: Apache-2.0
"""What is said of locks by sorting is what is said of them one by one; and it is no work each."""

import random

import numpy as np
import pytest

from eitherway.model.trace import Table
from eitherway.model.words import OpFlag, OpKind
from eitherway.recording.layout import TABLES, BlockType
from eitherway.worlds.threads import edges
from eitherway.worlds.threads.edges import edges_of

LOCKS = range(0x1000, 0x1000 + 40 * 6, 40)
ON_LOCKS = (OpKind.ACQUIRE, OpKind.RELEASE)


def events_of(rows: list[tuple[OpKind, OpFlag, int, int, int]]) -> Table:
    """Of (kind, flags, thread, address, size)."""
    table = np.zeros(len(rows), dtype=TABLES[BlockType.THREAD_EVENTS])
    for name, column in zip(
        ("op", "flags", "thread", "address", "size"), zip(*rows, strict=True), strict=True
    ):
        table[name] = column
    return table


def some_events(seed: int) -> Table:
    """Locks that are taken, shared, not got and freed by three threads, in no order that counts."""
    chance = random.Random(seed)  # noqa: S311  not for secrets
    flags = [OpFlag.NONE] * 6 + [OpFlag.FAILED, OpFlag.BLOCKED] + [OpFlag.SHARED] * (seed % 3)
    rows = []
    for _ in range(200):
        thread, lock = chance.randrange(3), chance.choice(LOCKS)
        if chance.random() < 0.1:
            kind = chance.choice((OpKind.FREE, OpKind.OTHER))
            rows.append((kind, OpFlag.NONE, thread, lock - 8, chance.choice((8, 16, 100))))
        else:
            rows.append((chance.choice(ON_LOCKS), chance.choice(flags), thread, lock, 40))
    return events_of(rows)


@pytest.mark.parametrize("seed", range(60))
def test_sorted_or_one_by_one_it_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events = some_events(seed)
    by_sorting = edges_of(events)
    monkeypatch.setattr(edges, "exclusive_locks", lambda rows: np.zeros(len(rows), dtype=bool))
    one_by_one = edges_of(events)
    assert len(one_by_one)
    assert sorted(by_sorting.tolist()) == sorted(one_by_one.tolist())
    assert np.all(np.diff(by_sorting["target"].astype(np.int64)) >= 0)


def test_a_million_locks_are_no_work_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise AssertionError("an event on a lock was looked at by itself")

    monkeypatch.setattr(edges._Follow, "event", refuse)
    count = 1_000_000
    events = np.zeros(4 * count, dtype=TABLES[BlockType.THREAD_EVENTS])
    events["op"] = np.tile([int(kind) for kind in ON_LOCKS], 2 * count)
    events["thread"] = np.repeat([1, 2], 2 * count)
    events["address"] = 0x10000 + 40 * np.tile(np.repeat(np.arange(count), 2), 2)
    events["size"] = 40
    found = edges_of(events)
    assert len(found) == count
    assert np.array_equal(found["target"], np.arange(2 * count, 4 * count, 2))
    assert np.array_equal(found["source"], np.arange(1, 2 * count, 2))
