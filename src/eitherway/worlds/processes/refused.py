# SPDX-License-Identifier: Apache-2.0
"""What the sandbox of an ordinary user refuses, and nobody else would.

A file whose owner or group is another one cannot be changed there, nor can what lies in such a
directory: the overlay would have to make a copy that is theirs.
"""

import errno

import numpy as np

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.traced import Traced

_PATHS = {"path", "link", "new path"}
_BY_PATH = [number for number, call in CALLS.items() if _PATHS & set(call.takes)]


def refused(log: Log) -> list[int]:
    """The calls."""
    rows = log.calls
    failed = rows["result"].astype(np.int64) == -errno.EOVERFLOW
    found: list[int] = np.flatnonzero(failed & np.isin(rows["number"], _BY_PATH)).tolist()
    return found


def refused_at(trace: Traced) -> tuple[str, ...]:
    """The names that these were about, in the order seen."""
    operations = np.flatnonzero(np.isin(trace.call, refused(trace.log))).tolist()
    names = {number: trace.describe(number).variable for number in operations}
    last = {int(trace.call[number]): name for number, name in names.items() if name}
    return tuple(dict.fromkeys(last.values()))
