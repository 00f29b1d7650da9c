# SPDX-License-Identifier: Apache-2.0
"""A schedule: which thread of a process went on when."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from eitherway.model.trace import Table

SWITCH = np.dtype([("steps", "<u8"), ("choice", "<u4"), ("kind", "<u4")])


class SwitchKind(IntEnum):
    """What a switch is about, as native/runtime/schedule.h has it."""

    THREAD = 0
    WAITER = 1
    OUTSIDE = 2
    WAITED = 3
    SIGNAL = 4
    TIME = 5
    CIRCLE = 6
    STOPPED = 7


@dataclass(frozen=True, slots=True)
class Schedule:
    """The switches of a process; `hash` is equal for equal schedules."""

    steps: int = 0
    hash: int = 0
    switches: Table = field(default_factory=lambda: np.empty(0, dtype=SWITCH))
    diverged_at: int = 0
    reached: int = 0  # the last decision point, whether anything was decided there or not
