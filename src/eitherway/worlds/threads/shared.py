# SPDX-License-Identifier: Apache-2.0
"""Memory that a target fills while it runs and that is there however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

_PART = 1 << 22


@contextmanager
def memory(name: str, beginning: bytes, size: int = 0) -> Iterator[int]:
    """A descriptor of memory with something in it; it is used up only as it is filled."""
    descriptor = os.memfd_create(f"eitherway-{name}")
    try:
        view = memoryview(beginning)
        while view:
            view = view[os.write(descriptor, view) :]
        os.ftruncate(descriptor, max(size, len(beginning)))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


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
