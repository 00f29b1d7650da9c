# SPDX-License-Identifier: Apache-2.0
"""What a branch was doing when it had to be stopped: whether it looks for what never comes.

Its state is another one all the time, so nothing proves that it is endless. But a loop that reads
the same of what it does not change itself can only be ended by somebody else, or by its own count.
"""

from functools import partial

import numpy as np

from eitherway.find.confirm import Traced, Tracer
from eitherway.judge.trial import Trial
from eitherway.model.identity import own_frame
from eitherway.model.outcome import Ending
from eitherway.model.trace import Table
from eitherway.model.words import ACCESSES, STORES, Arm
from eitherway.worlds.threads.branch import Branches, Pair, Spec
from eitherway.worlds.threads.guide import End
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

_LAST = 4096  # steps that are looked at
_LONGEST = 64  # accesses of a loop
_NAMED = 3


def told_of_stopped(tracer: Tracer, branches: Branches, pair: Pair, trial: Trial) -> str:
    """A sentence on the order that was stopped for its steps; nothing when there is none."""
    arms = ((Arm.FLIP, trial.flip), (Arm.CONTROL, trial.control))
    for arm, outcome in arms:
        if outcome.ending is Ending.BUDGET:
            request = TraceRequest(Depth.VALUES, start=max(0, outcome.steps - _LAST))
            spec = Spec(pair, arm, trial.continuation)
            ran, traced = tracer.traced(partial(branches.traced, spec, request))
            return _told(traced) if ran.shown.end is End.TOO_LONG else ""
    return ""


def _told(traced: Traced) -> str:
    rows, values = traced.events.events, traced.events.values
    chosen = np.flatnonzero(np.isin(rows["op"], [int(kind) for kind in ACCESSES]))
    if not len(chosen) or values is None or len(np.unique(rows["thread"][chosen])) > 1:
        return ""
    stores = np.isin(rows["op"][chosen], [int(kind) for kind in STORES])
    changed = np.unique(rows["address"][chosen[stores]])
    only_read = chosen[~np.isin(rows["address"][chosen], changed)]
    touched = np.unique(rows["address"][chosen], return_counts=True)[1]
    comes_back = touched.min() * _LONGEST > len(chosen)
    if not comes_back or not len(only_read) or not _stay(rows[only_read], values[only_read]):
        return ""
    sides = [traced.side(int(number)) for number in _first_of_each(rows["site"], chosen)]
    lines = [own_frame(side.stack) for side in sides]
    low, high = min(frame.line for frame in lines), max(frame.line for frame in lines)
    where = f"{lines[0].file.rpartition('/')[2]}:{low}" + (f" to {high}" if high > low else "")
    count = f", and changed {_names(traced, chosen[stores])}" if len(changed) else ""
    return (
        f"When it was stopped, {sides[0].actor} alone had done something for {len(chosen):,} "
        f"accesses, at {where}: it read {_names(traced, only_read)} again and again, which stayed "
        f"as it was{count}. If what it counts there does not end that, it never ends."
    )


def _stay(rows: Table, values: Table) -> bool:
    """Whether each place was always read with the same value."""
    places, number = np.unique(rows["address"], return_inverse=True)
    return bool(np.unique(np.stack([number, values]), axis=1).shape[1] == len(places))


def _first_of_each(column: Table, chosen: Table) -> list[int]:
    first: list[int] = chosen[np.unique(column[chosen], return_index=True)[1]].tolist()
    return first


def _names(traced: Traced, chosen: Table) -> str:
    sides = map(traced.side, _first_of_each(traced.events.events["address"], chosen))
    names = list(dict.fromkeys(side.touched or "memory" for side in sides))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
