# SPDX-License-Identifier: Apache-2.0
"""A schedule: which thread went on when, in memory that a target fills or follows."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.layout import SCHEDULE_HEAD, SCHEDULE_SWITCH
from eitherway.worlds.threads.shared import content, memory

SWITCH = np.dtype([("steps", "<u8"), ("choice", "<u4"), ("kind", "<u4")])
ROOM = 1 << 26  # switches


@dataclass(frozen=True, slots=True)
class Schedule:
    """The switches of a run; `hash` is equal for equal schedules."""

    steps: int
    hash: int
    switches: Table
    diverged_at: int = 0
    reached: int = 0  # the last decision point, whether anything was decided there or not


_EMPTY = SCHEDULE_HEAD.pack(0, 0, 0, ROOM, 0, 0, 0)


def empty() -> AbstractContextManager[int]:
    """A descriptor of memory for a target to note its schedule in."""
    return memory("schedule", _EMPTY, len(_EMPTY) + ROOM * SCHEDULE_SWITCH.size)


def clear(descriptor: int) -> None:
    """Empty again; what is behind the head is not looked at."""
    os.pwrite(descriptor, _EMPTY, 0)


def filled(schedule: Schedule) -> AbstractContextManager[int]:
    """A descriptor of memory with a schedule for a target to follow."""
    count = len(schedule.switches)
    head = SCHEDULE_HEAD.pack(schedule.steps, schedule.hash, count, count, 0, 0, 0)
    return memory("schedule", head + schedule.switches.tobytes())


def read(descriptor: int) -> Schedule:
    """What a target has noted, finished or not."""
    head = content(descriptor, 0, SCHEDULE_HEAD.size)
    steps, digest, count, _, diverged, reached, _ = SCHEDULE_HEAD.unpack(head)
    rows = content(descriptor, SCHEDULE_HEAD.size, count * SWITCH.itemsize)
    return Schedule(steps, digest, np.frombuffer(rows, dtype=SWITCH), diverged, reached)


def waits(descriptor: int) -> int:
    """How often a target that runs had nothing to do but to wait for the outside."""
    return int(SCHEDULE_HEAD.unpack(content(descriptor, 0, SCHEDULE_HEAD.size))[-1])
