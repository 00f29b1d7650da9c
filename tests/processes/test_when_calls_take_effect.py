# SPDX-License-Identifier: Apache-2.0
"""Who gives comes before who takes of it, in whatever order the ends of the two are noticed."""

import fcntl
import stat
from typing import NamedTuple

import numpy as np
import pytest

from eitherway.recording.layout import TABLES, BlockType
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import CallFlag, effect

NUMBERS = {call.name: number for number, call in CALLS.items()}
FILE, FIFO = 1, 2  # objects


class Made(NamedTuple):
    """A call."""

    name: str
    a1: int = 0
    value: int = 0
    second: int = 0
    flags: int = 0
    result: int = 0


def moments(*calls: tuple[Made, int, int]) -> list[int]:
    """Of calls that entered and left at these moments."""
    table = np.zeros(len(calls), dtype=TABLES[BlockType.PROCESS_CALLS])
    for row, (call, entered, left) in zip(table, calls, strict=True):
        row["number"], row["entered"], row["left"] = NUMBERS[call.name], entered, left
        for field in ("a1", "value", "second", "flags"):
            row[field] = getattr(call, field)
        row["result"] = np.int64(call.result).astype(np.uint64)
    objects = np.zeros(3, dtype=TABLES[BlockType.PROCESS_OBJECTS])
    objects["mode"] = 0, stat.S_IFREG | 0o600, stat.S_IFIFO | 0o600
    return [int(moment) for moment in effect(table, objects)]


@pytest.mark.parametrize(
    ("gives", "takes"),
    [
        (Made("openat", second=FILE), Made("read")),  # who watches the directory
        (Made("open", second=FILE), Made("poll")),
        (Made("write"), Made("read")),
        (Made("flock", fcntl.LOCK_UN), Made("flock", fcntl.LOCK_EX)),
        (Made("fcntl", fcntl.F_SETLK, fcntl.F_UNLCK), Made("fcntl", fcntl.F_SETLKW)),
        (Made("fcntl", fcntl.F_OFD_SETLK, fcntl.F_UNLCK), Made("fcntl", fcntl.F_OFD_SETLKW)),
        (Made("semop", flags=CallFlag.GIVES), Made("semop")),
        (Made("vmsplice", flags=CallFlag.GIVES), Made("vmsplice")),
        (Made("msgsnd"), Made("msgrcv")),
        (Made("connect"), Made("accept4")),
        (Made("exit_group"), Made("wait4")),
    ],
)
def test_the_end_of_who_takes_may_be_noticed_first(gives: Made, takes: Made) -> None:
    given, taken = moments((gives, 2, 4), (takes, 1, 3))
    assert given < taken


@pytest.mark.parametrize("opens", ["open", "openat", "openat2"])
def test_who_opens_a_fifo_waits_for_its_other_end(opens: str) -> None:
    assert moments((Made(opens, second=FIFO), 1, 9), (Made(opens, second=FILE), 2, 8)) == [9, 2]


@pytest.mark.parametrize(
    "call", [Made("read", result=-4), Made("wait4", flags=CallFlag.NEVER_RETURNED)]
)
def test_what_came_to_no_end_of_its_own_counts_from_its_begin(call: Made) -> None:
    assert moments((call, 1, 9)) == [1]
