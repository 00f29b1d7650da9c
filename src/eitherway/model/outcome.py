# SPDX-License-Identifier: Apache-2.0
"""What one run or branch did, as far as it can be compared with another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Ending(StrEnum):
    """How a run ended."""

    EXIT = "exit"
    SIGNAL = "signal"
    DEADLOCK = "deadlock"
    HANG = "hang"
    BUDGET = "budget"  # we stopped it; says nothing about the program


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is the exit status or the signal number; `output` maps each writer to a digest."""

    ending: Ending
    code: int = 0
    output: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)  # live-out: variable or file -> digest
    steps: int = 0
    complaints: tuple[str, ...] = ()  # words of checkers, assertions and the runtime
