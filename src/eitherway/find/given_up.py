# SPDX-License-Identifier: Apache-2.0
"""Runs that the runtime ended because it cannot go on: they say nothing of the program."""

import numpy as np

from eitherway.errors import Exit, Problem, Unavailable
from eitherway.worlds.threads.run import Ran

_WHO = b"eitherway: "


def seeds_of(rows: np.ndarray) -> frozenset[int]:
    """Of those whose first process was ended."""
    return frozenset(rows["seed"][rows["slot"] == 0].tolist())


def refuse(row: np.void, ran: Ran) -> None:
    """The program cannot be checked, and why."""
    if int(row["size"]) == Exit.OUR_BUG:
        raise Problem(_reason(ran))
    raise Unavailable(_reason(ran))


def words_of(row: np.void, ran: Ran) -> str:
    """Where other runs came to their end."""
    what = "a process that the program starts" if int(row["slot"]) else "some schedules"
    return f"{what} could not be run to the end: {_reason(ran)}"


def _reason(ran: Ran) -> str:
    """What the runtime said last."""
    said = [line for line in ran.err.beginning.splitlines() if line.startswith(_WHO)]
    if not said:
        return "the reason stands on its standard error: eitherway record shows it"
    return said[-1].removeprefix(_WHO).decode(errors="backslashreplace")
