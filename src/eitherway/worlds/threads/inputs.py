# SPDX-License-Identifier: Apache-2.0
"""What a run got from outside, in memory that a target fills or is given."""

from contextlib import AbstractContextManager

from eitherway.recording.layout import INPUTS_HEAD
from eitherway.worlds.threads.shared import content, memory

ROOM = 1 << 32  # bytes


def empty() -> AbstractContextManager[int]:
    """A descriptor of memory for a target to note its input in."""
    return memory("inputs", INPUTS_HEAD.pack(0, ROOM), INPUTS_HEAD.size + ROOM)


def filled(items: bytes) -> AbstractContextManager[int]:
    """A descriptor of memory with input for a target to take."""
    return memory("inputs", INPUTS_HEAD.pack(len(items), len(items)) + items)


def read(descriptor: int) -> bytes:
    """What a target has noted, as native/runtime/input.c lays it out."""
    size, _ = INPUTS_HEAD.unpack(content(descriptor, 0, INPUTS_HEAD.size))
    return content(descriptor, INPUTS_HEAD.size, size)
