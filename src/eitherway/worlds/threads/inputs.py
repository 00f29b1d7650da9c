# SPDX-License-Identifier: Apache-2.0
"""What a run got from outside, in memory that a target fills or is given."""

import os
from contextlib import AbstractContextManager

from eitherway.recording.layout import INPUTS_HEAD
from eitherway.worlds.threads.shared import content, memory

ROOM = 1 << 32  # bytes


_EMPTY = INPUTS_HEAD.pack(0, ROOM)


def empty() -> AbstractContextManager[int]:
    """A descriptor of memory for a target to note its input in."""
    return memory("inputs", _EMPTY, len(_EMPTY) + ROOM)


def clear(descriptor: int) -> None:
    """Empty again; what is behind the head is not looked at."""
    os.pwrite(descriptor, _EMPTY, 0)


def filled(items: bytes) -> AbstractContextManager[int]:
    """A descriptor of memory with input for a target to take."""
    return memory("inputs", INPUTS_HEAD.pack(len(items), len(items)) + items)


def read(descriptor: int) -> bytes:
    """What a target has noted, as native/runtime/input.c lays it out."""
    size, _ = INPUTS_HEAD.unpack(content(descriptor, 0, INPUTS_HEAD.size))
    return content(descriptor, INPUTS_HEAD.size, size)
