# SPDX-License-Identifier: Apache-2.0
"""Consistent cuts: which calls a branch makes again before the two whose order is tried."""

from dataclasses import dataclass

import numpy as np

from eitherway.model.order import Order
from eitherway.model.trace import Table
from eitherway.model.words import Arm
from eitherway.worlds.processes.traced import NO_CALL, Traced


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls of a log, in the order seen."""

    first: int
    second: int


class Cuts:
    """Of one run."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._order = Order.of(traced.trace)

    def pair(self, operations: tuple[int, ...]) -> Pair:
        """The calls of a race of two."""
        one, other = sorted(int(self._traced.call[number]) for number in operations)
        return Pair(one, other)

    def turns(self, pair: Pair, arm: Arm) -> list[int]:
        """Calls in the order that an arm is to have; in all but `prefix` the last two are the pair.

        Kept are those without which one of the two could not have happened; the rest is left to
        what comes then.
        """
        if arm is Arm.PREFIX:
            return list(range(pair.second + 1))
        ends = [pair.second, pair.first] if arm is Arm.FLIP else [pair.first, pair.second]
        needed = self._before(pair.first) | self._before(pair.second)
        needed[[pair.first, pair.second]] = False
        return [*np.flatnonzero(needed).tolist(), *ends]

    def _before(self, call: int) -> Table:
        """Which calls happened before one of them."""
        firsts = self._traced.first
        last = int(np.flatnonzero(self._traced.call == call)[-1])
        return self._order.before(firsts, np.full(len(firsts), last))


def is_pair(traced: Traced, operations: tuple[int, ...]) -> bool:
    """Whether a race is one of two calls of different processes."""
    calls = [int(traced.call[number]) for number in operations]
    return len(calls) == 2 and NO_CALL not in calls and calls[0] != calls[1]
