# SPDX-License-Identifier: Apache-2.0
"""What somebody sees who stands beside: files, mounts, processes.

Nothing that others on this machine may change meanwhile: other tests listen on sockets, too, and a
socket that a branch leaves open is one of a process that it leaves.
"""

import hashlib
import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """Before and after, these are equal when nothing was changed."""

    files: str  # a digest: names, modes, times, contents
    mounts: str


def seen(folder: Path) -> Seen:
    """Of a folder, and of where this process looks from."""
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    return Seen(_digest(folder), mounts)


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        told = (str(path), status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)
        digest.update(repr(told).encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def marked(mark: str) -> set[int]:
    """Processes that were started with this in their environment, or by such a one.

    Of one that has not run yet, the kernel may not know its environment: who expects one to be
    there waits until it has said something.
    """
    return {pid for pid in _processes() if mark.encode() in _environment(pid)}


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def await_end(pids: set[int], seconds: float) -> set[int]:
    """Those that have not ended after so long; others are told of as soon as they have."""
    poll, left = select.poll(), dict[int, int]()
    for pid in pids:
        try:
            left[os.pidfd_open(pid)] = pid
        except ProcessLookupError:
            continue
    for descriptor in left:
        poll.register(descriptor, select.POLLIN)
    while left and (ended := poll.poll(seconds * 1000)):
        for descriptor, _ in ended:
            poll.unregister(descriptor)
            os.close(descriptor)
            del left[descriptor]
    return set(left.values())
