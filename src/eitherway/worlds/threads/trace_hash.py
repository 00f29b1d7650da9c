# SPDX-License-Identifier: Apache-2.0
"""One number for all that a traced run did, which addresses do not change.

Of each event: step, thread, operation, flags, memory order, size, the wake that it followed, its
call site, and where its object lies as `memory.py` has it. Values are left out: a pointer is one.
"""

import hashlib
import os

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events, Names, is_life, parts
from eitherway.worlds.threads.memory import Memory

_LIFE = -1  # the space of an address that is a thread's number

_ROW = np.dtype(
    [
        ("step", "<u8"),
        ("offset", "<u8"),
        ("space", "<i4"),
        ("thread", "<u4"),
        ("site", "<u4"),
        ("size", "<u4"),
        ("follows", "<u4"),
        ("op", "u1"),
        ("flags", "u1"),
        ("order", "u1"),
    ]
)
_AS_THEY_ARE = ("step", "thread", "site", "size", "follows", "op", "flags", "order")


def trace_hash(path: str | os.PathLike[str]) -> str:
    """The hash (SHA-256, hex) of the trace that is kept there."""
    digest = hashlib.sha256()
    with Recording.open(path) as recording:
        names = Names.read(recording)
        memory = Memory(names.modules, names.regions)
        for part in parts(recording, names):
            digest.update(comparable(part, memory).tobytes())
        digest.update(_sites(names, memory).tobytes())
        digest.update(repr([(space.kind, space.name) for space in memory.spaces]).encode())
    return digest.hexdigest()


def comparable(part: Events, memory: Memory) -> Table:
    """The events without what addresses change."""
    rows = np.zeros(len(part.events), dtype=_ROW)
    for name in _AS_THEY_ARE:
        rows[name] = part.events[name]
    numbers = np.arange(part.first, part.first + len(rows))
    lives = is_life(part.events)
    rows["space"][lives] = _LIFE
    rows["offset"][lives] = part.events["address"][lives]
    placed = ~lives
    found = memory.locate(part.events["address"][placed], numbers[placed])
    rows["space"][placed], rows["offset"][placed] = found
    return rows


def _sites(names: Names, memory: Memory) -> Table:
    """Code does not move while a program runs."""
    pcs = names.sites["pc"]
    rows = np.zeros(len(pcs), dtype=[("space", "<i4"), ("offset", "<u8"), ("caller", "<u4")])
    rows["space"], rows["offset"] = memory.locate(pcs, np.zeros(len(pcs), dtype=np.int64))
    rows["caller"] = names.sites["caller"]
    return rows
