# SPDX-License-Identifier: Apache-2.0
"""Memory that a target fills while it runs and that is there however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def memory(name: str, content: bytes, size: int = 0) -> Iterator[int]:
    """A descriptor of memory that begins with `content`; it is used up only as it is filled."""
    descriptor = os.memfd_create(f"eitherway-{name}")
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(descriptor, view) :]
        os.ftruncate(descriptor, max(size, len(content)))
        yield descriptor
    finally:
        os.close(descriptor)


def content(descriptor: int, start: int, size: int) -> bytes:
    """A part of it; what was never written is zero."""
    parts = []
    while size > 0:
        part = os.pread(descriptor, min(size, 1 << 28), start)
        if not part:
            break
        parts.append(part)
        start += len(part)
        size -= len(part)
    return b"".join(parts)
