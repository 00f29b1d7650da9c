# SPDX-License-Identifier: Apache-2.0
"""What a run got from outside, in memory that a target fills or is given."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from enum import IntEnum

from eitherway.recording.layout import INPUTS_HEAD, INPUTS_ITEM
from eitherway.worlds.threads.shared import content, memory

ROOM = 1 << 32  # bytes

Item = tuple[int, int, bytes]  # kind, thread, data


class Said(IntEnum):
    """Kinds that are no input but what the program says of itself; as native/runtime/input.h."""

    SUPPRESSIONS = 5
    OPTIONS = 6


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


def items(packed: bytes) -> Iterator[Item]:
    """What a target has noted, one after the other."""
    at = 0
    while at < len(packed):
        kind, thread, length = INPUTS_ITEM.unpack_from(packed, at)
        at += INPUTS_ITEM.size
        yield kind, thread, packed[at : at + length]
        at += _padded(length)


def packed(items: Iterable[Item]) -> bytes:
    """The same the other way."""
    parts = []
    for kind, thread, data in items:
        parts.append(INPUTS_ITEM.pack(kind, thread, len(data)))
        parts.append(data.ljust(_padded(len(data)), b"\0"))
    return b"".join(parts)


def default_suppressions(packed: bytes) -> str:
    """What the program's `__tsan_default_suppressions` gave, in TSan's syntax; or nothing."""
    return _said(packed, Said.SUPPRESSIONS)


def default_options(packed: bytes) -> str:
    """What the program's `__tsan_default_options` gave."""
    return _said(packed, Said.OPTIONS)


def _said(packed: bytes, kind: Said) -> str:
    texts = (data for each, _, data in items(packed) if each == kind)
    return next(texts, b"").decode(errors="replace")


def _padded(size: int) -> int:
    return (size + 7) & ~7
