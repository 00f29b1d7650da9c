# SPDX-License-Identifier: Apache-2.0
"""What a process got from outside, as native/runtime/input.c lays it out."""

import os
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum

from eitherway.recording.layout import INPUTS_ITEM

Item = tuple[int, int, bytes]  # kind, thread, data


class FromOutside(IntEnum):
    """Kinds that the program asked for; not what every program is told at its start."""

    READY = 2
    RESULT = 3
    DATA = 4
    SIGNAL = 11
    TURN = 12
    WENT_ON = 13


class Said(IntEnum):
    """Kinds that are no input but what the program says of itself; as native/runtime/input.h."""

    SUPPRESSIONS = 5
    OPTIONS = 6
    PROGRAM = 7
    LIBRARY = 8


START = 1  # clocks and random numbers
PASSED = 9  # time, beside the outside
WAITED = 10  # until a thread waited for the outside no more
KIND = 0xFFFF  # of the kind of an item; above it is what was asked
_CLOCKS = struct.Struct("<4q")  # real and monotonic, each in seconds and nanoseconds


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


def from_outside(packed: bytes) -> Iterator[Item]:
    """What the program asked for."""
    return (item for item in items(packed) if item[0] & KIND in _FROM_OUTSIDE)


_FROM_OUTSIDE = frozenset(FromOutside)


def default_suppressions(packed: bytes) -> str:
    """What the program's `__tsan_default_suppressions` gave, in TSan's syntax; or nothing."""
    return _said(packed, Said.SUPPRESSIONS).decode(errors="replace")


def default_options(packed: bytes) -> str:
    """What the program's `__tsan_default_options` gave."""
    return _said(packed, Said.OPTIONS).decode(errors="replace")


def program(packed: bytes) -> tuple[str, ...]:
    """The file and the arguments that the process was started with; nothing when it was forked."""
    return tuple(os.fsdecode(word) for word in _said(packed, Said.PROGRAM).split(b"\0")[:-1])


def libraries(packed: bytes) -> tuple[str, ...]:
    """Files of the user's that the process loaded."""
    return tuple(os.fsdecode(data) for kind, _, data in items(packed) if kind == Said.LIBRARY)


def started(packed: bytes) -> int:
    """When the process began, in nanoseconds of the real clock; 0: nobody has said."""
    told = (data for kind, _, data in items(packed) if kind == START and len(data) == _CLOCKS.size)
    seconds, nanoseconds = _CLOCKS.unpack(next(told, bytes(_CLOCKS.size)))[:2]
    return int(seconds * 10**9 + nanoseconds)


def _said(packed: bytes, kind: Said) -> bytes:
    return next((data for each, _, data in items(packed) if each == kind), b"")


def _padded(size: int) -> int:
    return (size + 7) & ~7
