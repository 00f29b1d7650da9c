# SPDX-License-Identifier: Apache-2.0
"""The ways a command can end without an answer, each with its exit code.

A message says what is, and what is needed; `fix` is the command that mends it, `instead` the weaker
thing that works without. What is not one of these is our own bug and ends with 70.
"""

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes; 64 and above after sysexits.h."""

    OK = 0
    FOUND = 1
    INCONCLUSIVE = 2
    USAGE = 64
    BAD_INPUT = 65
    FOUND_BARE = 66  # of a program: its own runtime found something
    UNAVAILABLE = 69
    OUR_BUG = 70


class Problem(Exception):  # noqa: N818  what a user meets is a problem, not our error
    """Ends the command with one message, without a traceback."""

    exit_code: Exit = Exit.OUR_BUG

    def __init__(self, message: str, *, fix: str = "", instead: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.instead = instead


class UsageError(Problem):
    """The command line asks for something that does not exist or does not fit together."""

    exit_code = Exit.USAGE


class BadInput(Problem):
    """A file is not what it should be: recording, findings, baseline, suppressions."""

    exit_code = Exit.BAD_INPUT


class Unavailable(Problem):
    """This machine cannot do it as it is set up now."""

    exit_code = Exit.UNAVAILABLE
