# SPDX-License-Identifier: Apache-2.0
"""What earlier runs have shown, told to the scheduler of the next; and what that one shows.

It lies in memory that is shared with the runs, as format/recording.toml has it. What a run shows is
about its first process.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar

import numpy as np

from eitherway.errors import UsageError
from eitherway.model.trace import Table
from eitherway.recording.layout import GUIDE_HEAD, GUIDE_THREAD
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.shared import content, memory

PLACES_ROOM = 1 << 12
THREADS_ROOM = 1 << 8
PAIRS_ROOM = 1 << 12
PREFIX_ROOM = 1 << 20  # choices
NOTED_ROOM = 1 << 24  # words

_FOUND = GUIDE_HEAD.size + PLACES_ROOM * 8
_EXPECTED = _FOUND + PLACES_ROOM * 8
_SEEN = _EXPECTED + THREADS_ROOM * GUIDE_THREAD.size
_PAIRS = _SEEN + THREADS_ROOM * GUIDE_THREAD.size
_PREFIX = _PAIRS + PAIRS_ROOM * 8
_NOTED = _PREFIX + PREFIX_ROOM * 4
_SIZE = _NOTED + NOTED_ROOM * 4

THREAD = np.dtype(
    [
        ("sync", "<u4"),
        ("atomic", "<u4"),
        ("place", "<u4"),
        ("creator", "<u4"),
        ("out_size", "<u8"),
        ("out_hash", "<u8"),
        ("err_size", "<u8"),
        ("err_hash", "<u8"),
    ]
)
NOBODY: Table = np.zeros(0, dtype=THREAD)
NO_PAIRS: Table = np.zeros(0, dtype="<u8")


class End(IntEnum):
    """How a run ended that was given choices, or that left a recording half-way."""

    ITSELF = 0
    CUT_OFF = 1  # it came to more decisions than the limit
    REFUSED = 2  # a choice could not be taken
    BEYOND = 3  # it asked the outside for what the recording does not have
    TOO_LONG = 4  # it went on for many times as many steps as the recording has


class PairEnd(IntEnum):
    """What became of the two accesses of a branch, as native/runtime/guide.h has it."""

    NOT_REACHED = 0
    HELD = 1  # the run ended while the first thread was held
    ORDERED = 2  # they came in the order that was asked for
    BLOCKED = 3  # the second thread cannot go on while the first is held
    ENDED = 4  # the second thread ended without its access
    WAITS = 5  # the second thread did not come to its access
    UNKNOWN = 6  # it may wait for what comes from outside only when the first has told it more


_Words = TypeVar("_Words", End, PairEnd)


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a run is told beside its policy and seed."""

    places: Places = NOWHERE
    expected: Table | None = None  # THREAD, as an earlier run had them
    prefix: tuple[int, ...] = ()  # choices to begin with
    limit: int = 0  # decisions after which a run is cut off; 0: it notes none
    tuning: Mapping[str, int] = field(default_factory=dict)  # options of the policy

    def __post_init__(self) -> None:
        """What does not fit is refused, not cut."""
        for what, there, room in (
            ("shared places", len(self.places), PLACES_ROOM),
            ("choices", len(self.prefix), PREFIX_ROOM),
        ):
            if there > room:
                raise UsageError(f"{there} {what} are more than the {room} that a run can be told")


UNGUIDED = Guidance()


@dataclass(frozen=True, slots=True)
class Shown:
    """What a run showed."""

    places: Places = NOWHERE  # that it found beyond those that were given
    asked: int = 0  # decision points at which more than one thread could go on
    threads: Table | None = None  # THREAD, by number
    uncovered: int = 0  # accesses that were no decision point, and perhaps should have been
    end: End = End.ITSELF
    noted: bytes = b""  # decisions, as `decisions.py` reads them
    looks: int = 0  # of the program at a clock
    tired: int = 0  # places that were decision points too often
    # Operations that met, as format/recording.toml has them: of all runs of this memory so far, or
    # none when this one showed no new.
    pairs: Table = field(default_factory=lambda: NO_PAIRS)
    pair_end: PairEnd = PairEnd.NOT_REACHED  # of a branch
    rests: int = 0  # times that nobody could go on until something was due


SHOWN_NOTHING = Shown()


def empty() -> AbstractContextManager[int]:
    """A descriptor of memory to guide runs with."""
    return memory("guide", _head(UNGUIDED), _SIZE)


def tell(descriptor: int, guidance: Guidance) -> None:
    """Guide the runs that come next; what earlier ones showed is forgotten."""
    os.pwrite(descriptor, _head(guidance), 0)
    places = np.array(sorted(guidance.places.numbers), dtype="<u8")
    os.pwrite(descriptor, places.tobytes(), GUIDE_HEAD.size)
    if guidance.expected is not None:
        os.pwrite(descriptor, guidance.expected[:THREADS_ROOM].tobytes(), _EXPECTED)
    os.pwrite(descriptor, np.array(guidance.prefix, dtype="<u4").tobytes(), _PREFIX)


def kept(descriptor: int) -> tuple[bytes, bytes]:
    """What a run that stands still has shown so far, for `put_back`."""
    return content(descriptor, 0, GUIDE_HEAD.size), content(descriptor, _SEEN, _PAIRS - _SEEN)


def put_back(descriptor: int, was: tuple[bytes, bytes]) -> None:
    """As it was when that was kept; places that were found only grow."""
    head, seen = was
    os.pwrite(descriptor, head, 0)
    os.pwrite(descriptor, seen, _SEEN)


def shown(descriptor: int) -> Shown:
    """What the last run showed; of a survey, the places are those of all its runs."""
    head = GUIDE_HEAD.unpack(content(descriptor, 0, GUIDE_HEAD.size))
    noted, found, seen, end, asked, uncovered, looks, _, pairs, tired, pair, rests = head[8:]
    places = np.frombuffer(
        content(descriptor, _FOUND, min(found, PLACES_ROOM) * 8), dtype="<u8"
    ).tolist()
    threads = content(descriptor, _SEEN, min(seen, THREADS_ROOM) * GUIDE_THREAD.size)
    return Shown(
        Places.of(places),
        int(asked),
        np.frombuffer(threads, dtype=THREAD),
        int(uncovered),
        _known(End, end, End.TOO_LONG),
        content(descriptor, _NOTED, noted * 4),
        int(looks),
        int(tired),
        _pairs(descriptor) if pairs else NO_PAIRS,
        _known(PairEnd, pair, PairEnd.NOT_REACHED),
        int(rests),
    )


def _known(kind: type[_Words], value: int, otherwise: _Words) -> _Words:
    """A program may write to all that is shared with it: then nothing can be said of its run."""
    return kind(value) if value in set(kind) else otherwise


def _pairs(descriptor: int) -> Table:
    table = np.frombuffer(content(descriptor, _PAIRS, PAIRS_ROOM * 8), dtype="<u8")
    found: Table = table[table != 0]
    return found


def _head(guidance: Guidance) -> bytes:
    expected = 0 if guidance.expected is None else min(len(guidance.expected), THREADS_ROOM)
    given = (PLACES_ROOM, len(guidance.places), THREADS_ROOM, expected)
    choices = (PREFIX_ROOM, len(guidance.prefix), NOTED_ROOM, guidance.limit)
    return GUIDE_HEAD.pack(*given, *choices, *[0] * 7, PAIRS_ROOM, *[0] * 4)
