# SPDX-License-Identifier: Apache-2.0
"""Which acquisitions follow which releases, of locks that one thread has at a time.

What `edges` says of all that synchronises, for this most frequent part of it without a step in
Python for each event: there may be a million locks.
"""

import numpy as np

from eitherway.model.distinct import distinct
from eitherway.model.trace import EDGE, Table
from eitherway.model.words import EdgeKind, OpFlag, OpKind

_ACQUIRE, _RELEASE = int(OpKind.ACQUIRE), int(OpKind.RELEASE)
_ON_LOCKS = (_ACQUIRE, _RELEASE)
_NOT_DONE = int(OpFlag.FAILED | OpFlag.BLOCKED)
_MOST = 8  # locks in memory that is given back, for each event: else there is nothing to be gained
_CUT = 0  # no kind of event: the memory that the lock was in has come to its end


def exclusive_locks(events: Table) -> Table:
    """Which events take or give back a lock that is never shared."""
    on_locks: Table = np.isin(events["op"], _ON_LOCKS)
    shared = on_locks & ((events["flags"] & int(OpFlag.SHARED)) != 0)
    if shared.any():
        on_locks &= ~np.isin(events["address"], distinct(events["address"][shared]))
    _, low, high = _frees(events, distinct(events["address"][on_locks]))
    few = int((high - low).sum()) <= _MOST * (len(events) + 1)
    return on_locks if few else np.zeros_like(on_locks)


def edges_of_locks(events: Table, chosen: Table) -> Table:
    """From each release to the next acquisition of the same lock, among these events."""
    chosen = chosen[(events["flags"][chosen] & _NOT_DONE) == 0]
    cut, cut_by = _cuts(events, distinct(events["address"][chosen]))
    address = np.r_[events["address"][chosen], cut]
    index = np.r_[chosen, cut_by]
    op = np.r_[events["op"][chosen].astype(np.int64), np.full(len(cut), _CUT)]
    order = np.lexsort((index, address))
    address, index, op = address[order], index[order], op[order]
    place = np.arange(len(order))
    begins = op == _CUT
    begins[:1] = True
    begins[1:] |= address[1:] != address[:-1]
    since = np.maximum.accumulate(np.where(begins, place, 0))
    released = np.maximum.accumulate(np.where(op == _RELEASE, place, -1))
    follows = np.flatnonzero((op == _ACQUIRE) & (released >= since))
    edges = np.zeros(len(follows), dtype=EDGE)
    edges["source"], edges["target"] = index[released[follows]], index[follows]
    edges["kind"] = int(EdgeKind.CHANCE)
    return edges


def _cuts(events: Table, locks: Table) -> tuple[Table, Table]:
    """(lock, event): where memory with locks in it is given back."""
    rows, low, high = _frees(events, locks)
    count = high - low
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return locks[np.repeat(low, count) + within], np.repeat(rows, count)


def _frees(events: Table, locks: Table) -> tuple[Table, Table, Table]:
    """Events that give back memory, and which of the locks lie in there: from, to."""
    fences = (events["flags"] & int(OpFlag.ATOMIC)) != 0
    frees = (events["op"] == int(OpKind.FREE)) | ((events["op"] == int(OpKind.OTHER)) & ~fences)
    rows = np.flatnonzero(frees)
    low = np.searchsorted(locks, events["address"][rows])
    high = np.searchsorted(locks, events["address"][rows] + events["size"][rows])
    return rows, low, high
