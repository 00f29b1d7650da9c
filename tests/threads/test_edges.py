# SPDX-License-Identifier: Apache-2.0
"""What each kind of event follows: lives, locks, wakes and atomic operations."""

import itertools
import random

import numpy as np
import pytest

from eitherway.model.trace import NO_OPERATION
from eitherway.model.words import EdgeKind, OpFlag, OpKind
from eitherway.recording.layout import TABLES, BlockType
from eitherway.worlds.threads import edges
from eitherway.worlds.threads.edges import edges_of

EVENT = TABLES[BlockType.THREAD_EVENTS]
RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST = 0, 2, 3, 4, 5


class Run:
    """Events in a row; each call gives its number."""

    def __init__(self) -> None:
        self.rows: list[dict[str, int]] = []

    def event(self, thread: int, op: OpKind, address: int = 0x1000, **columns: int) -> int:
        row = {"thread": thread, "op": op, "address": address, "size": 4, "follows": NO_OPERATION}
        self.rows.append({**row, **columns})
        return len(self.rows) - 1

    def atomic(self, thread: int, op: OpKind, order: int, address: int = 0x1000) -> int:
        return self.event(thread, op, address, order=order, flags=OpFlag.ATOMIC)

    def edges(self) -> set[tuple[int, int]]:
        return {(source, target) for source, target, _ in self.kinds()}

    def kinds(self) -> set[tuple[int, int, EdgeKind]]:
        table = np.zeros(len(self.rows), dtype=EVENT)
        for index, row in enumerate(self.rows):
            for name, value in row.items():
                table[name][index] = value
        return {(int(s), int(t), EdgeKind(int(k))) for s, t, k in edges_of(table)}


def test_no_events_have_no_edges() -> None:
    assert Run().edges() == set()


def test_plain_accesses_order_nothing() -> None:
    run = Run()
    run.event(0, OpKind.STORE)
    run.event(1, OpKind.LOAD)
    assert run.edges() == set()


def test_a_thread_begins_after_its_start_and_ends_before_its_join() -> None:
    run = Run()
    start = run.event(0, OpKind.START, 1)
    run.event(0, OpKind.START, 2)
    begin = run.event(1, OpKind.BEGIN, 1)
    end = run.event(1, OpKind.END, 1)
    join = run.event(0, OpKind.JOIN, 1)
    assert run.kinds() == {(start, begin, EdgeKind.INHERENT), (end, join, EdgeKind.INHERENT)}


def test_a_lock_follows_the_last_release_of_itself_only_by_chance() -> None:
    run = Run()
    run.event(0, OpKind.ACQUIRE)
    first = run.event(0, OpKind.RELEASE)
    run.event(0, OpKind.RELEASE, 0x2000)
    second = run.event(1, OpKind.ACQUIRE)
    assert run.kinds() == {(first, second, EdgeKind.CHANCE)}


def test_readers_follow_the_writer_and_not_each_other() -> None:
    run = Run()
    writer = run.event(0, OpKind.RELEASE)
    readers = [run.event(t, OpKind.ACQUIRE, flags=OpFlag.SHARED) for t in (1, 2)]
    done = [run.event(t, OpKind.RELEASE, flags=OpFlag.SHARED) for t in (1, 2)]
    next_writer = run.event(3, OpKind.ACQUIRE)
    expected = {(writer, reader) for reader in readers}
    expected |= {(source, next_writer) for source in (writer, *done)}
    assert run.edges() == expected


@pytest.mark.parametrize("flag", [OpFlag.FAILED, OpFlag.BLOCKED])
def test_an_attempt_that_got_nothing_follows_nothing(flag: OpFlag) -> None:
    run = Run()
    run.event(0, OpKind.RELEASE)
    run.event(1, OpKind.ACQUIRE, flags=flag)
    run.event(0, OpKind.WAKE)
    run.event(1, OpKind.WAIT, flags=flag)
    assert run.edges() == set()


def test_a_wait_follows_the_wake_that_ended_it() -> None:
    run = Run()
    run.event(0, OpKind.WAKE)
    wake = run.event(2, OpKind.WAKE)
    wait = run.event(1, OpKind.WAIT, follows=wake)
    assert run.kinds() == {(wake, wait, EdgeKind.INHERENT)}


def test_a_wait_that_did_not_have_to_follows_every_wake_before() -> None:
    run = Run()
    run.event(0, OpKind.WAKE)
    last = run.event(0, OpKind.WAKE)
    other = run.event(2, OpKind.WAKE)
    wait = run.event(1, OpKind.WAIT)
    assert run.edges() == {(last, wait), (other, wait)}


def test_leaving_a_barrier_follows_every_arrival() -> None:
    run = Run()
    arrivals = [run.event(t, OpKind.WAKE, flags=OpFlag.CUMULATIVE) for t in (0, 1, 2)]
    leave = run.event(0, OpKind.WAIT, follows=arrivals[-1])
    assert run.edges() == {(arrival, leave) for arrival in arrivals}


@pytest.mark.parametrize("free", [(0x1000, 4), (0xFC0, 0x1000), (0x1000, 1)])
def test_what_is_in_a_freed_block_orders_nothing_with_what_comes_later(
    free: tuple[int, int],
) -> None:
    run = Run()
    run.event(0, OpKind.RELEASE)
    run.atomic(0, OpKind.STORE, RELEASE)
    run.event(0, OpKind.WAKE)
    run.event(0, OpKind.FREE, free[0], size=free[1])
    run.event(1, OpKind.ACQUIRE)
    run.atomic(1, OpKind.LOAD, ACQUIRE)
    run.event(1, OpKind.WAIT)
    assert run.edges() == set()


@pytest.mark.parametrize("free", [(0x1001, 8), (0xF00, 0x100), (0x2000, 0x100000)])
def test_what_is_beside_a_freed_block_is_as_it_was(free: tuple[int, int]) -> None:
    run = Run()
    release = run.event(0, OpKind.RELEASE)
    run.event(0, OpKind.FREE, free[0], size=free[1])
    acquire = run.event(1, OpKind.ACQUIRE)
    assert run.edges() == {(release, acquire)}


@pytest.mark.parametrize("store", [RELEASE, ACQ_REL, SEQ_CST])
@pytest.mark.parametrize("load", [1, ACQUIRE, SEQ_CST])
def test_an_acquiring_load_follows_the_releasing_store(store: int, load: int) -> None:
    run = Run()
    a, b = run.atomic(0, OpKind.STORE, store), run.atomic(1, OpKind.LOAD, load)
    assert run.kinds() == {(a, b, EdgeKind.INHERENT)}


@pytest.mark.parametrize(("store", "load"), [(RELAXED, ACQUIRE), (RELEASE, RELAXED)])
def test_relaxed_on_either_side_orders_nothing(store: int, load: int) -> None:
    run = Run()
    run.atomic(0, OpKind.STORE, store)
    run.atomic(1, OpKind.LOAD, load)
    assert run.edges() == set()


def test_a_relaxed_store_ends_the_release_sequence() -> None:
    run = Run()
    run.atomic(0, OpKind.STORE, RELEASE)
    run.atomic(2, OpKind.STORE, RELAXED)
    run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == set()


def test_a_relaxed_store_of_the_same_thread_goes_on_with_it() -> None:
    """C11 5.1.2.4; C++20 has dropped it."""
    run = Run()
    a = run.atomic(0, OpKind.STORE, RELEASE)
    run.atomic(0, OpKind.STORE, RELAXED)
    b = run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == {(a, b)}


def test_a_store_goes_on_with_its_own_threads_sequence_alone() -> None:
    run = Run()
    a = run.atomic(0, OpKind.STORE, RELEASE)
    b = run.atomic(2, OpKind.UPDATE, ACQ_REL)
    run.atomic(0, OpKind.STORE, RELAXED)
    load = run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == {(a, b), (a, load)}


def test_a_store_of_another_thread_ends_it_for_good() -> None:
    run = Run()
    run.atomic(0, OpKind.STORE, RELEASE)
    run.atomic(2, OpKind.STORE, RELAXED)
    run.atomic(0, OpKind.STORE, RELAXED)
    run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == set()


def test_a_relaxed_update_goes_on_with_it() -> None:
    run = Run()
    a = run.atomic(0, OpKind.STORE, RELEASE)
    run.atomic(2, OpKind.UPDATE, RELAXED)
    b = run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == {(a, b)}


def test_updates_in_a_row_have_few_edges() -> None:
    run = Run()
    updates = [run.atomic(i % 2, OpKind.UPDATE, ACQ_REL) for i in range(50)]
    assert run.edges() == set(itertools.pairwise(updates))


def test_releasing_updates_that_do_not_acquire_all_count() -> None:
    run = Run()
    a = run.atomic(0, OpKind.UPDATE, RELEASE)
    b = run.atomic(2, OpKind.UPDATE, RELEASE)
    load = run.atomic(1, OpKind.LOAD, ACQUIRE)
    assert run.edges() == {(a, load), (b, load)}


def test_loads_before_the_first_store_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ops = (OpKind.LOAD, OpKind.LOAD, OpKind.STORE, OpKind.UPDATE, OpKind.OTHER, OpKind.FREE)
    for seed in range(200):
        draw = random.Random(seed)  # noqa: S311  no secret
        run = Run()
        for _ in range(draw.randrange(40)):
            op, thread = draw.choice(ops), draw.randrange(3)
            if op is OpKind.FREE:
                run.event(thread, op, 0x1000, size=draw.choice([4, 16]))
            else:
                address = 0x1000 + 4 * draw.randrange(3)
                run.atomic(thread, op, draw.choice([RELAXED, ACQUIRE, RELEASE, SEQ_CST]), address)
        found = run.kinds()
        with monkeypatch.context() as patched:
            patched.setattr(edges, "_early_loads", lambda events: np.zeros(len(events), dtype=bool))
            assert run.kinds() == found
