# SPDX-License-Identifier: Apache-2.0
"""Accesses that reach over the end of a block of the heap, or lie between blocks.

Such touch what is the allocator's, or several objects at once: a trace, in which an access is to
one object, does not show all that they meet.
"""

import numpy as np

from eitherway.model.trace import Table
from eitherway.model.words import OpKind
from eitherway.worlds.threads.blocks import Blocks
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.memory import PAGE, Memory

_ACCESSES = [int(kind) for kind in (OpKind.LOAD, OpKind.STORE, OpKind.UPDATE)]


def strays(run: Events) -> Table:
    """Which of the events are such.

    Who gives a block back touches all that the allocator has there: up to a page more than was
    asked for, unless its head was overwritten.
    """
    events, numbers = run.events, np.arange(len(run.events))
    memory, blocks = Memory(run.names.modules, run.names.regions), Blocks(run.names.memory)
    first = blocks.find(events["address"], numbers)
    last = blocks.find(events["address"] + np.maximum(events["size"], 1) - 1, numbers)
    space, _ = memory.locate(events["address"], numbers)
    in_heap = np.array([each.kind == "heap" for each in memory.spaces], dtype=bool)[space]
    accesses = np.isin(events["op"], _ACCESSES) & ((first != last) | (in_heap & (first < 0)))
    frees = (events["op"] == int(OpKind.FREE)) & (events["size"] > blocks.sizes(first) + PAGE)
    result: Table = accesses | frees
    return result
