# SPDX-License-Identifier: Apache-2.0
"""How runs ended, and which of those ways is a failure of the program."""

import os
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from eitherway.find.ways import Way
from eitherway.model.outcome import signal_name


class How(StrEnum):
    """What an end is, whatever the program's own words for it are."""

    EXIT = "exit"
    SIGNAL = "signal"
    DEADLOCK = "deadlock"
    CIRCLE = "circle"  # it came to a state in which it had been before
    HANG = "hang"  # it was stopped: out of time, or of room for its output
    FELLED = "felled"  # it ended who ran it


@dataclass(frozen=True, slots=True, order=True)
class Ending:
    """One way to end."""

    how: How
    code: int = 0  # exit status or number of the signal

    @classmethod
    def of(cls, status: int, *, known: How | None = None, stopped: bool = False) -> "Ending":
        """From what wait4 tells of a run, and the runtime that ended it because it `known` why."""
        if known is not None:
            return cls(known)
        if stopped:
            return cls(How.HANG)
        if os.WIFSIGNALED(status):
            return cls(How.SIGNAL, os.WTERMSIG(status))
        return cls(How.EXIT, os.waitstatus_to_exitcode(status))

    def __str__(self) -> str:
        """In words."""
        if self.how is How.EXIT:
            return f"exit status {self.code}"
        if self.how is How.SIGNAL:
            return f"killed by {signal_name(self.code)}"
        return _WORDS[self.how]


_WORDS = {
    How.DEADLOCK: "deadlock",
    How.CIRCLE: "hang: it goes round in circles",
    How.HANG: "stopped: it did not end",
    How.FELLED: "ended with the process that ran it",
}


@dataclass(slots=True)
class Endings:
    """The ends of all runs so far, with the first way to each."""

    count: Counter[Ending] = field(default_factory=Counter)
    first: dict[Ending, Way] = field(default_factory=dict)

    def add(self, ending: Ending, way: Way) -> bool:
        """Whether it is the first of its sort."""
        self.count[ending] += 1
        return self.first.setdefault(ending, way) is way

    def failures(self) -> list[Ending]:
        """Crashes, deadlocks and hangs; and exit codes, when there are several.

        One exit code for every order is the program's answer, whatever it is. Of several, the one
        with 0, or else the most frequent, is what was meant.
        """
        codes = [ending for ending in self.count if ending.how is How.EXIT]
        meant = min(codes, key=lambda e: (e.code != 0, -self.count[e], e.code), default=None)
        return sorted(ending for ending in self.count if ending != meant)

    @property
    def all_fail(self) -> bool:
        """Whether no run so far ended as one may."""
        return len(self.failures()) == len(self.count)

    def told(self) -> str:
        """All of them with their counts, the most frequent first."""
        return ", ".join(
            f"{ending} ({count:,})" if len(self.count) > 1 else str(ending)
            for ending, count in self.count.most_common()
        )
