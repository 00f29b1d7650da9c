# SPDX-License-Identifier: Apache-2.0
"""Saved findings documents, read from files and standard input.

What a user names may be anything: a device that never ends, a pipe that nobody writes to. Pipes are
read, as a shell's `<(command)` is one.
"""

import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO
from typing import Any

from eitherway.errors import BadInput, Unavailable
from eitherway.model.document import NewerFormatError, read_document
from eitherway.model.finding import Document
from eitherway.model.shape import ShapeError

LARGEST = 1 << 30  # bytes: half a million findings of 2 KB
_AT_ONCE = 1 << 20
_STDIN = 0
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY  # a pipe must not block here


def load(source: str) -> Document:
    """The document in this file; `-` is standard input."""
    with opened(source) as stream:
        return load_from(stream, source)


def load_from(stream: "BufferedReader[Any]", source: str) -> Document:
    """The document in what was opened; `source` is its name."""
    try:
        with _without_collecting():
            return read_document(_read(stream, source))
    except ShapeError as error:
        upgrade = isinstance(error, NewerFormatError)
        raise BadInput(
            f"{name_of(source)} is not a findings document"
            f"{' that this version knows' if upgrade else ''}: {error}",
            fix="pip install --upgrade eitherway" if upgrade else _WRITES_ONE,
        ) from None
    except MemoryError:
        what = f"{name_of(source)} does not fit into the memory of this machine"
        raise Unavailable(what) from None


_WRITES_ONE = "eitherway races --json FILE writes one"


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A document has no cycles; to look for some among millions of new values doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def opened(source: str) -> Iterator["BufferedReader[Any]"]:
    """What the user named, `-` for standard input, if it has an end."""
    try:
        descriptor = os.dup(_STDIN) if source == "-" else os.open(source, _OPEN)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _unreadable(source, error) from None
    try:
        _refuse_endless(os.fstat(descriptor), descriptor, source)
        if source != "-":
            os.set_blocking(descriptor, True)
        with BufferedReader(FileIO(descriptor, closefd=False), _AT_ONCE) as stream:
            yield stream
    except OSError as error:
        raise _unreadable(source, error) from None
    finally:
        os.close(descriptor)


def read_bytes(source: str) -> bytes:
    """The content of a file that the user named, `-` for standard input."""
    with opened(source) as stream:
        return _read(stream, source)


def read_text(source: str) -> str:
    """The text of a file that the user named."""
    try:
        return read_bytes(source).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{source}:{line}: is not UTF-8 text") from None


def _refuse_endless(status: os.stat_result, descriptor: int, source: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise _unreadable(source, "Is a directory")
    empty = os.stat(os.devnull).st_rdev
    ordinary = status.st_rdev == empty or os.isatty(descriptor)
    if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not ordinary):
        raise _unreadable(source, "Is a device")


def _read(stream: "BufferedReader[Any]", source: str) -> bytes:
    """All of it, up to the largest that there may be."""
    if os.fstat(stream.fileno()).st_size > LARGEST:
        raise _too_large(source)
    parts: list[bytes] = []
    length = 0
    while part := stream.read1(_AT_ONCE):
        parts.append(part)
        length += len(part)
        if length > LARGEST:
            raise _too_large(source)
    return b"".join(parts)


def _too_large(source: str) -> BadInput:
    return _unreadable(source, f"it has more than {LARGEST >> 20} MiB")


def _unreadable(source: str, why: str | Exception) -> BadInput:
    what = why.strerror if isinstance(why, OSError) else why
    return BadInput(f"{name_of(source)} cannot be read: {what}")


def name_of(source: str) -> str:
    """For people."""
    return "standard input" if source == "-" else source
