# SPDX-License-Identifier: Apache-2.0
"""Where a program's standard input comes from, and what stands there in a replay.

What is all there before the run is given to every run as a file. From a pipe or a terminal a
program reads when it wants to, and somebody may answer what it says: so it has the pipe or terminal
itself, what it reads is recorded like all that comes from outside, and a replay has something of
that kind which is never read.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from eitherway.worlds.threads.shared import memory


class Source(StrEnum):
    """Of standard input."""

    GIVEN = "given"  # all of it is known
    PIPE = "pipe"  # or a socket
    TERMINAL = "terminal"


def source_of(descriptor: int) -> Source:
    """What a descriptor is as a source; one that is not open is an empty file."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return Source.GIVEN
    if os.isatty(descriptor):
        return Source.TERMINAL
    return Source.PIPE if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else Source.GIVEN


@contextmanager
def standard_input(source: Source, given: bytes, *, live: bool) -> Iterator[int]:
    """A descriptor for a program; `live` is our own where there is anything to come from it."""
    if source is Source.GIVEN:
        with memory("stdin", given) as descriptor:
            yield descriptor
    elif live:
        yield 0
    else:
        with _terminal() if source is Source.TERMINAL else _pipe() as descriptor:
            yield descriptor


@contextmanager
def _pipe() -> Iterator[int]:
    reader, writer = os.pipe()
    os.close(writer)
    try:
        yield reader
    finally:
        os.close(reader)


@contextmanager
def _terminal() -> Iterator[int]:
    ours, theirs = os.openpty()
    try:
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)
