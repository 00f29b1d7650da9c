# SPDX-License-Identifier: Apache-2.0
"""What one run or branch did, as far as it can be compared with another."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Ending(StrEnum):
    """How a run ended."""

    EXIT = "exit"
    SIGNAL = "signal"
    DEADLOCK = "deadlock"
    HANG = "hang"
    SERVES = "serves"  # it waits for who comes from outside, and nobody does; we ended it
    BUDGET = "budget"  # we stopped it; says nothing about the program
    BEYOND = "beyond"  # it asked the outside for what no recording knows; nor does this


def signal_name(number: int) -> str:
    """As the manual has it."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class Forced(StrEnum):
    """What became of the order that a branch was to have."""

    AS_ASKED = "as asked"
    BLOCKED = "blocked"  # the second actor cannot go on before the first operation has happened
    ENDED = "ended"  # without the first operation the second actor comes to its end without its own
    WAITS = "waits"  # the second actor looks again and again for what the first has yet to do
    CUT_SHORT = "cut short"  # the program ends while the first actor is held; no second came
    UNKNOWN = "unknown"  # what it waits for may come only when the outside has heard more
    NOT_REACHED = "not reached"  # the branch never came to the two


@dataclass(frozen=True, slots=True)
class Outcome:
    """`code` is the exit status or the signal number, of a hang that by which the program stopped
    itself; `output` maps each writer to a digest.
    """

    ending: Ending
    code: int = 0
    output: Mapping[str, str] = field(default_factory=dict)
    # Digests of the same without the order between those who wrote, and without that of lines.
    writers: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    state: Mapping[str, str] = field(default_factory=dict)  # live-out: variable or file -> digest
    steps: int = 0
    complaints: tuple[str, ...] = ()  # words of checkers, assertions and the runtime
    errors: tuple[str, ...] = ()  # lines that speak of errors, by their words; some are meant
    said: tuple[str, ...] = ()  # lines on standard error, and errors in logs, each with who says it
    forced: Forced = Forced.AS_ASKED
    refused: bool = False  # something, by the sandbox alone: elsewhere it would have been done
    unseen: bool = False  # it left something that nobody can look at
    # As it was written, where in `output` it is in an order of its own.
    shown: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def fails(self) -> bool:
        """Whether no specification would have it so."""
        unsuccessful = self.ending is Ending.EXIT and self.code != 0
        return self.breaks or unsuccessful or bool(self.errors)

    @property
    def breaks(self) -> bool:
        """The same without an exit status, which may be the program's answer."""
        return self.ending in _BROKEN or bool(self.complaints)


_BROKEN = (Ending.SIGNAL, Ending.DEADLOCK, Ending.HANG)
