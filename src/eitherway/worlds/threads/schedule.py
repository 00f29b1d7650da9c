# SPDX-License-Identifier: Apache-2.0
"""A schedule: which thread went on when, in memory that a target fills or follows."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.layout import SCHEDULE_HEAD, SCHEDULE_SWITCH

SWITCH = np.dtype([("steps", "<u8"), ("choice", "<u4"), ("kind", "<u4")])
ROOM = 1 << 26  # switches; memory is used as it is filled


@dataclass(frozen=True, slots=True)
class Schedule:
    """The switches of a run; `hash` is equal for equal schedules."""

    steps: int
    hash: int
    switches: Table
    diverged_at: int = 0


@contextmanager
def empty() -> Iterator[int]:
    """A descriptor of memory for a target to note its schedule in."""
    descriptor = os.memfd_create("eitherway-schedule")
    try:
        os.ftruncate(descriptor, SCHEDULE_HEAD.size + ROOM * SCHEDULE_SWITCH.size)
        os.pwrite(descriptor, SCHEDULE_HEAD.pack(0, 0, 0, ROOM, 0), 0)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def filled(schedule: Schedule) -> Iterator[int]:
    """A descriptor of memory with a schedule for a target to follow."""
    descriptor = os.memfd_create("eitherway-schedule")
    count = len(schedule.switches)
    try:
        os.write(descriptor, SCHEDULE_HEAD.pack(schedule.steps, schedule.hash, count, count, 0))
        os.write(descriptor, schedule.switches.tobytes())
        yield descriptor
    finally:
        os.close(descriptor)


def read(descriptor: int) -> Schedule:
    """What a target has noted, finished or not."""
    steps, digest, count, _, diverged = SCHEDULE_HEAD.unpack(
        os.pread(descriptor, SCHEDULE_HEAD.size, 0)
    )
    size = SCHEDULE_HEAD.size + count * SWITCH.itemsize
    with mmap.mmap(descriptor, size, prot=mmap.PROT_READ) as memory:
        switches = np.frombuffer(memory[SCHEDULE_HEAD.size : size], dtype=SWITCH)
    return Schedule(steps, digest, switches, diverged)
