# SPDX-License-Identifier: Apache-2.0
"""Whether a run that came to no end went round in circles: asked the same, and was told the same.

Nobody changed anything meanwhile, all who could go had their turns, and no answer was about time or
chance: so the next round is as the last one, unless the program counts them.
"""

import numpy as np

from eitherway.model.trace import Table
from eitherway.worlds.processes.call_table import CALLS, Shape
from eitherway.worlds.processes.log import CallFlag, Log

_LAST = 1 << 13  # calls that are looked at
_LONGEST = 256  # calls of a round
_CHANGES = ("store ", "wake ", "acquire ", "release ", "take ", "give ")
_OF_CHANCE = {"clock_gettime", "gettimeofday", "time", "getrandom", "nanosleep", "clock_nanosleep"}


def goes_round(log: Log) -> bool:
    """Whether the last calls of it are rounds that change nothing."""
    returned = log.calls["flags"] & CallFlag.NEVER_RETURNED == 0
    last = log.calls[returned][-_LAST:]
    if len(last) < _LAST or _changes(last):
        return False
    keys = np.stack([last[name] for name in ("thread", "number", "result", "value")]).astype("u8")
    periods = range(1, _LONGEST + 1)
    return any(bool((keys[:, period:] == keys[:, :-period]).all()) for period in periods)


def _changes(calls: Table) -> bool:
    """What failed changed nothing."""
    worked = calls["number"][calls["result"].astype(np.int64) >= 0]
    return any(_does(CALLS.get(int(number))) for number in np.unique(worked))


def _does(call: Shape | None) -> bool:
    if call is None or call.gives == "process" or call.name in _OF_CHANCE:
        return True
    return any(phrase.startswith(_CHANGES) for phrase in call.does)
