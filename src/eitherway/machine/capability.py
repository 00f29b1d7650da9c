# SPDX-License-Identifier: Apache-2.0
"""The values of a survey: what a probe saw, what is missing, what mends it."""

from dataclasses import dataclass
from enum import StrEnum

from eitherway.model.words import World


class State(StrEnum):
    """What a probe found."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNKNOWN = "unknown"  # the probe hung, crashed or gave no answer we understand


@dataclass(frozen=True, slots=True)
class Seen:
    """The answer of one probe; `error` is the errno name of a refusal, or SIGSYS."""

    state: State
    detail: str
    error: str = ""

    @property
    def usable(self) -> bool:
        """Whether a mechanism can stand on it."""
        return self.state in (State.YES, State.PARTLY)


class Way(StrEnum):
    """How a lack is mended; lacks mended the same way are mended by one command."""

    NOTHING = "nothing"
    PACKAGES = "packages"  # items: package names of this distribution
    FLAGS = "flags"  # items: flags to start the container with
    COMMAND = "command"  # items: commands to run
    WORDS = "words"  # items: what would be needed; no command does it


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends one lack."""

    way: Way = Way.NOTHING
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Capability:
    """One row of the table. `missing`, `fix` and `command` are empty when it is there."""

    name: str
    worlds: tuple[World, ...]
    purpose: str
    seen: Seen
    missing: str
    fix: Fix
    command: str
    lost: str
