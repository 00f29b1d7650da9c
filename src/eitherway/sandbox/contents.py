# SPDX-License-Identifier: Apache-2.0
"""What changed files hold now, so that two runs can be compared: a short text is told as it is."""

import hashlib
import os
import stat
from collections.abc import Callable
from functools import partial

from eitherway.sandbox.blocks import written_blocks
from eitherway.sandbox.changes import Change, How, is_named, nobody_asked
from eitherway.sandbox.layers import Layer, Layers

GONE = "gone"
UNREADABLE = "unreadable"  # of what cannot be compared, though it may not be the same
SHORT = 200  # bytes that a person can take in


def contents(
    layers: Layers,
    changes: list[Change],
    short: int = SHORT,
    between: Callable[[], object] = nobody_asked,
) -> dict[str, str]:
    """By path: type, permissions and content; times and owners are left out."""
    content_of = partial(_content, short=short, between=between)
    return {
        change.path: GONE if change.how is How.DELETED else _told(layers, change.path, content_of)
        for change in changes
    }


def _told(layers: Layers, path: str, content_of: Callable[[int, str], str]) -> str:
    layer, descriptor = _layer_of(layers, path)
    name = os.path.relpath(path, layer.path)
    try:
        status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        mode = f"{status.st_mode:o}"
        if stat.S_ISLNK(status.st_mode):
            return f"{mode} {os.readlink(name, dir_fd=descriptor)}"
        if stat.S_ISDIR(status.st_mode):
            return mode if _is_named_whole(descriptor, name, path) else UNREADABLE
        if not stat.S_ISREG(status.st_mode):
            return mode
        return f"{mode} {content_of(descriptor, name) if status.st_size else told(b'')}"
    except FileNotFoundError:
        return ""  # it shows through from elsewhere: renamed with its directory
    except OSError:
        return UNREADABLE


def _is_named_whole(descriptor: int, name: str, path: str) -> bool:
    """Whether all that is in a directory can have been named as a change."""
    directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
    try:
        return all(is_named(os.path.join(path, inner)) for inner in os.listdir(directory))
    finally:
        os.close(directory)


def _layer_of(layers: Layers, path: str) -> tuple[Layer, int]:
    """The innermost one that the path lies in."""
    holding = [pair for pair in layers.written if _lies_in(path, pair[0].path)]
    return max(holding, key=lambda pair: len(pair[0].path))


def _lies_in(path: str, directory: str) -> bool:
    return directory in ("/", path) or path.startswith(directory + "/")


def _content(descriptor: int, name: str, *, short: int, between: Callable[[], object]) -> str:
    between()
    file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=descriptor)
    try:
        size = os.fstat(file).st_size
        if size <= short:
            return told(os.pread(file, short, 0), short)
        return _digest(file, size, between)
    finally:
        os.close(file)


def _digest(file: int, size: int, between: Callable[[], object]) -> str:
    """A hole is as good as zeros."""
    digest = hashlib.sha256(b"%d" % size)
    for place, data in written_blocks(file):
        between()
        digest.update(b"%d,%d:" % (place, len(data)))
        digest.update(data)
    return digest.hexdigest()


def told(data: bytes, short: int = SHORT) -> str:
    """The text when it is short and one, else a digest; equal only when the bytes are."""
    if len(data) <= short and data.isascii():
        return repr(data.decode("ascii"))
    return hashlib.sha256(data).hexdigest()
