# SPDX-License-Identifier: Apache-2.0
"""Why an experiment says nothing of a pair, or that it has one order only."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Names:
    """Of the two actors of a pair."""

    first: str = "the first"
    second: str = "the second thread"
    both: str = "the two threads"


THREADS = Names()
PROCESSES = Names(second="the second", both="the two")


class Why(Enum):
    """Told with the names of the two."""

    STOPPED = (
        "a branch had to be stopped: it took too long or too much memory, or killed the process "
        "that ran it"
    )
    BEYOND = "a branch asks the outside for something that the recording does not have"
    NOT_REACHED = "the recorded run could not be followed to the two accesses"
    UNKNOWN = "what {second} waits for may come from outside only when {first} has told it more"
    REFUSED = (
        "a branch is refused to change a file, by the sandbox alone: its owner or group is another "
        "one (EOVERFLOW)"
    )
    UNSEEN = (
        "both orders leave a file or a directory that cannot be looked at: its permissions forbid "
        "it, or no path is long enough"
    )
    CUT_SHORT = (
        "the program ends while one of {both} is held, before the other has come to its access"
    )
    ALIKE = (
        "the program fails in the same way in both orders: it is not the order of these two that "
        "makes it fail"
    )
    OTHERWISE = "what the program does differs with the recorded order of the two as well"
    BLOCKED = "{second} waits until {first} has gone on"
    ENDED = "{second} does not come there unless {first} has been there before"
    WAITS = "{second} looks again and again until {first} has gone on"

    def told(self, names: Names = THREADS) -> str:
        """In words."""
        return self.value.format(first=names.first, second=names.second, both=names.both)
