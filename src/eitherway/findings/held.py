# SPDX-License-Identifier: Apache-2.0
"""Which locks an actor holds at an operation, from the lock operations of the trace."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from eitherway.model.trace import Trace
from eitherway.model.words import OpFlag, OpKind

_DID_NOTHING = int(OpFlag.FAILED | OpFlag.BLOCKED)


@dataclass(frozen=True, slots=True)
class Held:
    """A lock, and the operation that took it."""

    object: int
    shared: bool
    taken_by: int


def locks_held(trace: Trace, operations: Iterable[int]) -> dict[int, tuple[Held, ...]]:
    """For each of these operations, the locks its actor holds just before it, oldest first."""
    asked = sorted(set(operations))
    kinds = trace.operations["kind"]
    locking = np.isin(kinds, [int(OpKind.ACQUIRE), int(OpKind.RELEASE)])
    steps = np.flatnonzero(locking & (trace.operations["flags"] & _DID_NOTHING == 0))
    held: dict[int, list[Held]] = {}
    answers: dict[int, tuple[Held, ...]] = {}
    done = 0
    for operation in asked:
        upto = int(np.searchsorted(steps, operation))
        for step in steps[done:upto].tolist():
            _take_or_give(trace, step, held)
        done = upto
        answers[operation] = tuple(held.get(int(trace.operations["actor"][operation]), ()))
    return answers


def _take_or_give(trace: Trace, step: int, held: dict[int, list[Held]]) -> None:
    """A recursive lock is held until it was given back as often as it was taken."""
    row = trace.operations[step]
    lock = int(trace.ranges[row["range"]]["object"])
    mine = held.setdefault(int(row["actor"]), [])
    if row["kind"] == OpKind.ACQUIRE:
        mine.append(Held(lock, bool(row["flags"] & OpFlag.SHARED), step))
        return
    for index in range(len(mine) - 1, -1, -1):
        if mine[index].object == lock:
            del mine[index]
            return
