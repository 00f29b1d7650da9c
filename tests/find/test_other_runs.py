# SPDX-License-Identifier: Apache-2.0
"""Schedules in which the accesses that race come in other orders."""

from random import Random

import numpy as np
import pytest

from eitherway.find.other_runs import drawn
from eitherway.worlds.threads.schedule import SWITCH, Schedule, SwitchKind
from eitherway.worlds.threads.turns import own_steps


def test_steps_are_counted_by_the_thread_that_makes_them() -> None:
    rows = [
        (4, 1, SwitchKind.THREAD),
        (5, 0, SwitchKind.WAITER),
        (9, 2, SwitchKind.THREAD),
        (12, 1, SwitchKind.THREAD),
    ]
    schedule = Schedule(switches=np.array(rows, dtype=SWITCH), reached=20)
    assert list(own_steps(schedule, [3, 4, 8, 9, 11, 12, 15])) == [3, 0, 4, 0, 2, 5, 8]


@pytest.mark.parametrize("seed", range(20))
def test_each_thread_keeps_its_own_order_and_comes_to_its_end(seed: int) -> None:
    turns = list(drawn({1: [2, 7], 3: [4]}, Random(seed)))  # noqa: S311  no secret
    assert turns[0].thread == 0
    own = {t: [turn.until for turn in turns if turn.thread == t] for t in (0, 1, 3)}
    end = own[0][0]
    assert own == {0: [end], 1: [2, 7, end], 3: [4, end]}


def test_orders_differ() -> None:
    cuts = {1: [2, 7], 2: [2, 7]}
    orders = {tuple(drawn(cuts, Random(seed))) for seed in range(12)}  # noqa: S311  no secret
    assert len(orders) > len(cuts)
