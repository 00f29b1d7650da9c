# SPDX-License-Identifier: Apache-2.0
"""Opens what may be hostile, and creates what is nobody else's business.

Readers never follow a link out of the recording, never block on a FIFO and never open a device.
Writers make 0700 directories and 0600 files whatever the umask is.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eitherway.errors import Unavailable
from eitherway.recording import refusals

DRAFT = ".new"  # behind the name of a file that `put` is not done with

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def open_directory(path: Path) -> int:
    """A descriptor of the directory of a recording."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, ValueError) as error:  # ValueError: a NUL in the name
        raise refusals.missing(path) from error
    except NotADirectoryError as error:
        raise _not_a_directory(path) from error
    except OSError as error:
        raise refusals.unreadable(path, error) from error


def _not_a_directory(path: Path) -> Exception:
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            return refusals.not_regular(path, refusals.kind_of_file(mode))
        descriptor = os.open(path, _READ & ~os.O_NOFOLLOW)
    except NotADirectoryError:  # a file in the middle of the path
        return refusals.missing(path)
    except OSError as error:
        return refusals.unreadable(path, error)
    with os.fdopen(descriptor, "rb") as file:
        return refusals.a_file(path, file.read(8))


def stat_in(directory: int, name: str, path: Path) -> os.stat_result | None:
    """The status of a file of a recording, not following links; None when it is not there."""
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusals.unreadable(path / name, error) from error


@contextmanager
def opened(directory: int, name: str, path: Path) -> Iterator[tuple[int, int]]:
    """The descriptor and the size of a regular file of a recording."""
    status = stat_in(directory, name, path)
    if status is None:
        raise refusals.vanished(path / name)
    if not stat.S_ISREG(status.st_mode):
        raise refusals.not_regular(path / name, refusals.kind_of_file(status.st_mode))
    try:
        descriptor = os.open(name, _READ, dir_fd=directory)
    except FileNotFoundError as error:
        raise refusals.vanished(path / name) from error
    except OSError as error:
        raise refusals.unreadable(path / name, error) from error
    try:
        now = os.fstat(descriptor)
        if not stat.S_ISREG(now.st_mode):  # swapped since the look above
            raise refusals.not_regular(path / name, refusals.kind_of_file(now.st_mode))
        yield descriptor, now.st_size
    finally:
        os.close(descriptor)


def read_at(descriptor: int, length: int, offset: int, path: Path) -> bytes:
    """Up to `length` bytes; fewer only at the end of the file."""
    try:
        data = os.pread(descriptor, length, offset)
        while 0 < len(data) < length:
            more = os.pread(descriptor, length - len(data), offset + len(data))
            if not more:
                break
            data += more
    except OSError as error:
        raise refusals.unreadable(path, error) from error
    return data


def make_directory(path: Path) -> None:
    """A new 0700 directory; FileExistsError when there is one."""
    os.mkdir(path, 0o700)
    os.chmod(path, 0o700)


def create(directory: int, name: str, path: Path) -> int:
    """A descriptor of a new 0600 file."""
    with writing(path / name):
        descriptor = os.open(name, _CREATE, 0o600, dir_fd=directory)
        os.fchmod(descriptor, 0o600)
        return descriptor


def write_all(descriptor: int, *parts: bytes | bytearray, path: Path) -> None:
    """Every byte of the parts."""
    with writing(path):
        for part in parts:
            rest = memoryview(part).cast("B")
            while rest:
                rest = rest[os.write(descriptor, rest) :]


def put(directory: int, name: str, data: bytes, path: Path) -> None:
    """A file that is there with all its bytes or not at all, also after a power cut."""
    draft = name + DRAFT
    descriptor = create(directory, draft, path)
    try:
        write_all(descriptor, data, path=path / draft)
        with writing(path / draft):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    with writing(path / name):
        os.rename(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)


@contextmanager
def writing(path: Path, *, fix: str = "") -> Iterator[None]:
    """A failure to write is told as what this machine cannot do: no space, no permission."""
    try:
        yield
    except OSError as error:
        message = f"cannot write {refusals.shown_path(path)}: {error.strerror}"
        raise Unavailable(message, fix=fix) from error


def lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Whether the lock was free. It goes with the last descriptor, so with a killed process too."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except OSError:  # taken, or a file system without locks: not ours either way
        return False
    return True


def unlock(descriptor: int) -> None:
    """Gives the lock back before the descriptor is closed, for all who inherited it."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
