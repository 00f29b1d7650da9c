# SPDX-License-Identifier: Apache-2.0
"""Memory that a target fills while it runs and that is there however it ends."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from eitherway.errors import Unavailable

_PART = 1 << 22


@contextmanager
def memory(name: str, beginning: bytes, size: int = 0) -> Iterator[int]:
    """A descriptor of memory with something in it; it is used up only as it is filled."""
    try:
        descriptor = os.memfd_create(f"eitherway-{name}")
    except PermissionError as error:
        raise refused("memfd_create", error) from None
    try:
        view = memoryview(beginning)
        while view:
            view = view[os.write(descriptor, view) :]
        _extend(descriptor, max(size, len(beginning)))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _extend(descriptor: int, size: int) -> None:
    try:
        os.ftruncate(descriptor, size)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise Unavailable(
            "a run is kept in memory that counts as a large file, and files are limited here",
            fix="ulimit -f unlimited",
        ) from None


def refused(call: str, error: OSError) -> Unavailable:
    """A system call that this machine does not let us make."""
    return Unavailable(
        f"{call} is refused here: {error.strerror}",
        fix="in a container, a seccomp profile that lets it through",
    )


def parts(descriptor: int, start: int, size: int) -> Iterator[bytes]:
    """A part of it, piece by piece; what was never written is zero."""
    while size > 0:
        part = os.pread(descriptor, min(size, _PART), start)
        if not part:
            break
        yield part
        start += len(part)
        size -= len(part)


def content(descriptor: int, start: int, size: int) -> bytes:
    """A part of it."""
    return b"".join(parts(descriptor, start, size))
