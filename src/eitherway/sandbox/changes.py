# SPDX-License-Identifier: Apache-2.0
"""What a sandbox changed, as the difference between its layers and the files outside.

An upper directory holds what was written. A character device 0/0 in it hides what lies below, an
attribute hides all that lies below a directory, another says that something else shows through: the
directory that was renamed to it.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from eitherway.sandbox.blocks import written_blocks
from eitherway.sandbox.layers import Layer, Layers, What

OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
REDIRECT = ("trusted.overlay.redirect", "user.overlay.redirect")


class How(StrEnum):
    """What happened to a path."""

    CREATED = "created"
    MODIFIED = "modified"  # content, kind, owner, permissions or, but for directories, its time
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One path, as it is outside.

    Of a deleted directory only the directory itself is named; of a created one all that is in it.
    """

    path: str
    how: How


@dataclass(frozen=True, slots=True)
class _Seen:
    """An entry as it is inside: in an upper directory, or shown from elsewhere outside."""

    directory: int | None  # None: `name` is a path outside
    name: str

    def stat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)

    @contextmanager
    def open(self, flags: int = 0) -> Iterator[int]:
        descriptor = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | flags, dir_fd=self.directory)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def target(self) -> str:
        return os.readlink(self.name, dir_fd=self.directory)


def changes(layers: Layers) -> list[Change]:
    """All changes, by path. Of a directory that the caller may not read only itself is named."""
    placed = {layer.path for layer in layers.list}
    found: set[Change] = set()
    for layer, descriptor in layers.written:
        try:
            with _Seen(descriptor, ".").open(os.O_DIRECTORY) as readable:
                found.update(_of_layer(layer, readable, placed))
        except PermissionError:
            if layers.is_changed(layer):
                found.add(Change(layer.path, How.MODIFIED))
    return sorted(found)


def _of_layer(layer: Layer, descriptor: int, placed: set[str]) -> Iterator[Change]:
    if layer.what is What.MIRROR:
        yield from _of_mirror(descriptor, layer.path, placed)
        return
    for name in os.listdir(descriptor):
        path = os.path.join(layer.path, name)
        yield from _of_upper(_Seen(descriptor, name), path, path, layer.path)


def _of_mirror(descriptor: int, top: str, placed: set[str]) -> Iterator[Change]:
    """Links can go and anything can come; the rest are places of mounts, and those stay."""
    names = set(os.listdir(descriptor))
    for name in _names(top) - names:
        if os.path.islink(os.path.join(top, name)):
            yield Change(os.path.join(top, name), How.DELETED)
    for name in names:
        path, seen = os.path.join(top, name), _Seen(descriptor, name)
        if path in placed:
            continue
        if not os.path.lexists(path):
            yield from _of_upper(seen, path, None, top)
        elif os.path.islink(path) and not _is_link_to(seen, os.readlink(path)):
            yield Change(path, How.MODIFIED)


def _is_link_to(seen: _Seen, target: str) -> bool:
    return stat.S_ISLNK(seen.stat().st_mode) and seen.target() == target


def _of_upper(seen: _Seen, path: str, below: str | None, top: str) -> Iterator[Change]:
    """`below` is what would show through from outside, `top` the path of the layer."""
    inside, outside = seen.stat(), _outside(path)
    if _is_whiteout(inside):
        if outside:
            yield Change(path, How.DELETED)
    elif stat.S_ISDIR(inside.st_mode):
        yield from _of_itself(seen, path, inside, outside)
        try:
            with seen.open(os.O_DIRECTORY) as descriptor:
                yield from _of_entries(descriptor, path, _origin(descriptor, below, top), top)
        except PermissionError:
            if outside:
                yield Change(path, How.MODIFIED)
    else:
        yield from _of_itself(seen, path, inside, outside)


def _of_entries(descriptor: int, path: str, origin: str | None, top: str) -> Iterator[Change]:
    names = set(os.listdir(descriptor))
    for name in names:
        below = os.path.join(origin, name) if origin else None
        yield from _of_upper(_Seen(descriptor, name), os.path.join(path, name), below, top)
    if origin == path:
        return  # what shows through is in its own place
    shown = _names(origin) - names
    for name in shown:
        yield from _of_shown(os.path.join(origin or "", name), os.path.join(path, name))
    for name in _names(path) - names - shown:
        yield Change(os.path.join(path, name), How.DELETED)


def _of_shown(origin: str, path: str) -> Iterator[Change]:
    """What is in a directory that was renamed, and was not changed itself."""
    seen = _Seen(None, origin)
    inside = seen.stat()
    yield from _of_itself(seen, path, inside, _outside(path))
    if stat.S_ISDIR(inside.st_mode):
        for name in _names(origin):
            yield from _of_shown(os.path.join(origin, name), os.path.join(path, name))
        for name in _names(path) - _names(origin):
            yield Change(os.path.join(path, name), How.DELETED)


def _of_itself(
    seen: _Seen, path: str, inside: os.stat_result, outside: os.stat_result | None
) -> Iterator[Change]:
    if not outside:
        yield Change(path, How.CREATED)
    elif _differs(seen, path, inside, outside):
        yield Change(path, How.MODIFIED)


def _outside(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _names(path: str | None) -> set[str]:
    """Entries of a directory; none when there is no such directory."""
    try:
        return set(os.listdir(path)) if path and not os.path.islink(path) else set()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return set()


def _is_whiteout(info: os.stat_result) -> bool:
    return stat.S_ISCHR(info.st_mode) and info.st_rdev == 0


def _origin(descriptor: int, below: str | None, top: str) -> str | None:
    """The directory outside that shows through one in an upper layer."""
    if not below or _attribute(descriptor, OPAQUE) == b"y":
        return None
    redirect = _attribute(descriptor, REDIRECT)
    if redirect is None:
        return below
    moved = os.fsdecode(redirect)
    if moved.startswith("/"):
        return os.path.join(top, moved.lstrip("/"))
    return os.path.join(os.path.dirname(below), moved)


def _attribute(descriptor: int, names: tuple[str, ...]) -> bytes | None:
    for name in names:
        try:
            return os.getxattr(descriptor, name)
        except OSError:
            continue  # not there, or of the other kind of overlay
    return None


def _differs(seen: _Seen, path: str, inside: os.stat_result, outside: os.stat_result) -> bool:
    for field in ("st_mode", "st_uid", "st_gid"):
        if getattr(inside, field) != getattr(outside, field):
            return True
    if stat.S_ISDIR(inside.st_mode):
        return False  # its time tells of its entries, and they tell it themselves
    if inside.st_mtime_ns != outside.st_mtime_ns or inside.st_rdev != outside.st_rdev:
        return True
    if stat.S_ISLNK(inside.st_mode):
        return seen.target() != os.readlink(path)
    # Opened for writing and not written, or written with its time put back.
    return stat.S_ISREG(inside.st_mode) and not _same_content(seen, path, inside, outside)


def _same_content(seen: _Seen, path: str, inside: os.stat_result, outside: os.stat_result) -> bool:
    if inside.st_size != outside.st_size:
        return False
    try:
        with seen.open() as descriptor, open(path, "rb") as other:
            pairs = zip_longest(written_blocks(descriptor), written_blocks(other.fileno()))
            return all(one == another for one, another in pairs)
    except PermissionError:
        return False  # one we may not read: rather too much than too little
