# SPDX-License-Identifier: Apache-2.0
"""Sections of locks: what is done between an ACQUIRE and a RELEASE, whoever holds it for whom."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eitherway.model.order import Order
from eitherway.model.trace import Trace
from eitherway.model.words import OpFlag, OpKind

Column = npt.NDArray[np.int64]


class SectionsOf(NamedTuple):
    """Of one lock: the operations that took it and gave it back."""

    taken: Column
    given: Column

    def around(self, order: Order, operations: Column) -> tuple[Column, Column, Column]:
        """Which of these are in one, and the begin and end of each.

        That is the last ACQUIRE seen before an operation, if it happened before it, and the next
        RELEASE, if it happened after it.
        """
        before = np.searchsorted(self.taken, operations) - 1
        after = np.searchsorted(self.given, operations)
        there = (before >= 0) & (after < len(self.given))
        rows = np.flatnonzero(there)
        begin, end = self.taken[before[rows]], self.given[after[rows]]
        held = order.before(begin, operations[rows]) & order.before(operations[rows], end)
        return rows[held], begin[held], end[held]


def begins(order: Order, operations: Sequence[int]) -> tuple[int, ...] | None:
    """The ACQUIREs of the sections of one lock that these are in, each in its own; None without."""
    wanted = np.array(operations, dtype=np.int64)
    for lock in sections_of(order.trace):
        rows, begin, _ = lock.around(order, wanted)
        if len(rows) == len(wanted) == len(set(begin.tolist())):
            return tuple(begin.tolist())
    return None


def first_of(order: Order, begin: int, others: Sequence[int]) -> int | None:
    """The first section of the same lock that leads to this one and is open with the others.

    None where this one is not: who started the others had the lock by then.
    """
    rows = order.trace.operations
    taken = np.flatnonzero((rows["range"] == rows["range"][begin]) & _takes(order.trace))
    earlier = taken[taken <= begin]
    leads = order.before(earlier, np.full(len(earlier), begin)) | (earlier == begin)
    for other in others:
        leads &= order.concurrent(earlier, np.full(len(earlier), other))
    return int(earlier[leads][0]) if leads[-1] else None


def _takes(trace: Trace) -> npt.NDArray[np.bool_]:
    rows = trace.operations
    taken: npt.NDArray[np.bool_] = (rows["kind"] == int(OpKind.ACQUIRE)) & (
        rows["flags"] & int(OpFlag.FAILED | OpFlag.BLOCKED) == 0
    )
    return taken


def sections_of(trace: Trace) -> Iterator[SectionsOf]:
    """Of each lock that several take."""
    rows = trace.operations
    takes, gives = (
        np.flatnonzero(_takes(trace)),
        np.flatnonzero(rows["kind"] == int(OpKind.RELEASE)),
    )
    for touched in np.unique(rows["range"][takes]).tolist():
        taken, given = (of[rows["range"][of] == touched] for of in (takes, gives))
        if len(np.unique(rows["actor"][taken])) > 1:
            yield SectionsOf(taken, given)
