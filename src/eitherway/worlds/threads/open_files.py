# SPDX-License-Identifier: Apache-2.0
"""Files that a process can write without opening them anew."""

import os
import stat
from collections.abc import Iterator

_GONE = " (deleted)"


def open_to_write(process: int) -> Iterator[str]:
    """Their paths, as the process sees them; of those that have one."""
    for path in (*_through_descriptors(process), *_mapped(process, "ws")):
        if path.startswith("/") and not path.endswith(_GONE):
            yield path


def mapped_privately(process: int) -> Iterator[str]:
    """Files of which it sees what it has not written itself."""
    return _mapped(process, "p")


def _through_descriptors(process: int) -> Iterator[str]:
    folder = f"/proc/{process}/fd"
    for name in os.listdir(folder):
        place = f"{folder}/{name}"
        writes = os.lstat(place).st_mode & stat.S_IWUSR  # what the link may be used for
        if writes and stat.S_ISREG(os.stat(place).st_mode):
            yield os.readlink(place)


def _mapped(process: int, access: str) -> Iterator[str]:
    """Lines are "FROM-TO rw-s OFFSET DEVICE INODE PATH"."""
    with open(f"/proc/{process}/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            words = line.rstrip("\n").split(maxsplit=5)
            if len(words) == 6 and set(access) <= set(words[1]):
                yield words[5]
