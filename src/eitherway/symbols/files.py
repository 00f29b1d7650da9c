# SPDX-License-Identifier: Apache-2.0
"""Which file a name means now: what was read of it holds until it is another one."""

import os
from typing import NamedTuple


class File(NamedTuple):
    """A file as it is; written anew it is another one."""

    path: str
    device: int
    inode: int
    changed: int  # nanoseconds
    size: int


def file_at(path: str) -> File:
    """What is there; what is not there is a file too, of which nothing can be read."""
    try:
        found = os.stat(path)
    except OSError:
        return File(path, 0, 0, 0, -1)
    return File(path, found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
