# SPDX-License-Identifier: Apache-2.0
"""Where a program's standard input comes from, and what stands there in a replay.

A file of ordinary size is given to every run as it was, also when it is another one by then; a
large one is left where it is, and is taken to be as it was, as all files are. From what is no file
a program reads when it wants to, and somebody may answer what it says: so it has the pipe, terminal
or device itself, what it reads is recorded like all that comes from outside, and a replay has
something of that kind which is never read.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from eitherway.errors import BadInput
from eitherway.worlds.threads.shared import memory

_ORDINARY = 1 << 24  # bytes
_PART = 1 << 20
# Devices that always read the same, which the runtime knows too; any other is never read again.
_CONSTANT = {(1, 3): "/dev/null", (1, 5): "/dev/zero", (1, 7): "/dev/full"}
_NEVER_READ = "/dev/urandom"


class Source(StrEnum):
    """Of standard input."""

    GIVEN = "given"  # all of it is known
    FILE = "file"  # a large one; known is where it is, and where in it we are
    PIPE = "pipe"  # or a socket
    TERMINAL = "terminal"
    DEVICE = "device"  # known is one of its kind


def source_of(descriptor: int) -> Source:
    """What a descriptor is as a source; one that is not open is an empty file."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return Source.GIVEN
    if os.isatty(descriptor):
        return Source.TERMINAL
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        return Source.PIPE
    if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
        return Source.DEVICE
    large = stat.S_ISREG(status.st_mode) and status.st_size > _ORDINARY
    return Source.FILE if large and status.st_nlink else Source.GIVEN


def known_of(source: Source, descriptor: int) -> bytes:
    """What is known of it before the program starts."""
    if source is Source.FILE:
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        return b"%d " % start + os.fsencode(os.readlink(f"/proc/self/fd/{descriptor}"))
    if source is Source.DEVICE:
        return os.fsencode(_device(os.fstat(descriptor).st_rdev))
    return all_of(descriptor) if source is Source.GIVEN else b""


def _device(number: int) -> str:
    return _CONSTANT.get((os.major(number), os.minor(number)), _NEVER_READ)


def all_of(descriptor: int) -> bytes:
    """To its end; nothing of one that is not open, or of a directory."""
    parts = []
    try:
        while part := os.read(descriptor, _PART):
            parts.append(part)
    except (OSError, ValueError):
        return b""
    return b"".join(parts)


@contextmanager
def standard_input(source: Source, known: bytes, *, live: bool) -> Iterator[int]:
    """A descriptor for a program; `live` is our own where there is anything to come from it."""
    if source is Source.GIVEN:
        with memory("stdin", known) as descriptor:
            yield descriptor
    elif live:
        yield 0
    else:
        with _stand_in(source, known) as descriptor:
            yield descriptor


def begin_again(source: Source, known: bytes, descriptor: int) -> None:
    """For the next run that reads the same from its beginning."""
    if source in (Source.GIVEN, Source.FILE):
        start = int(known.partition(b" ")[0]) if source is Source.FILE else 0
        os.lseek(descriptor, start, os.SEEK_SET)


@contextmanager
def _stand_in(source: Source, known: bytes) -> Iterator[int]:
    if source is Source.TERMINAL:
        descriptor, *others = reversed(os.openpty())
    elif source is Source.PIPE:
        descriptor, other = os.pipe()
        os.close(other)
        others = []
    else:
        path = known.partition(b" ")[2] if source is Source.FILE else known
        descriptor, others = _opened(path), []
        begin_again(source, known, descriptor)
    try:
        yield descriptor
    finally:
        for each in (descriptor, *others):
            os.close(each)


def _opened(path: bytes) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        name = os.fsdecode(path)
        raise BadInput(
            f"standard input was {name}, which cannot be read: {error.strerror}"
        ) from None
