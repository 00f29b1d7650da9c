# SPDX-License-Identifier: Apache-2.0
"""Whether a process of a run was ended by another of it: what it would have done is not known."""

import os

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.traced import Traced

_SENDS = {number for number, call in CALLS.items() if "store signals of other" in call.does}


def is_killed(trace: Traced) -> bool:
    """By a signal that one of them sent: to itself means nothing."""
    ended = {
        life.process
        for life in trace.tree.lives.values()
        if life.is_process and os.WIFSIGNALED(life.status or 0)
    }
    if not ended:
        return False
    rows = trace.log.calls
    for number in _SENDS:
        senders = rows["thread"][rows["number"] == number].tolist()
        if any(ended - {trace.process(thread)} for thread in senders):
            return True
    return False
