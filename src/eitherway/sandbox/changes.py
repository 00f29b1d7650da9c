# SPDX-License-Identifier: Apache-2.0
"""What a sandbox changed, as the difference between its layers and the files outside.

An upper directory holds what was written. A character device 0/0 in it hides what lies below, an
attribute hides all that lies below a directory, another says that something else shows through: the
directory that was renamed to it.

Directories may be thousands deep: no function goes from one to the next, and none stays open.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from eitherway.sandbox.blocks import written_blocks
from eitherway.sandbox.layers import Layer, Layers, What

OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
REDIRECT = ("trusted.overlay.redirect", "user.overlay.redirect")
_LONGEST = 4095  # bytes of a path: PATH_MAX, without the end


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

    directory: int | None  # that of a layer; None: `name` is a path outside
    name: str

    def below(self, name: str) -> "_Seen":
        return _Seen(self.directory, os.path.join(self.name, name))

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


Steps = Iterator["Change | Steps"]  # changes, and what leads to more of them


def nobody_asked() -> None:
    """There may be a million files: what is called between them may raise, to have no more done."""


def changes(layers: Layers, between: Callable[[], object] = nobody_asked) -> list[Change]:
    """All changes, by path.

    Of a directory that the caller may not read only itself is named, and of one that is too deep
    only those entries that a path can name.
    """
    placed = {layer.path for layer in layers.list}
    found: set[Change] = set()
    for layer, descriptor in layers.written:
        try:
            with _Seen(descriptor, ".").open(os.O_DIRECTORY) as readable:
                names = set(os.listdir(readable))
            found.update(_walked(_of_layer(layer, descriptor, names, placed), between))
        except PermissionError:
            if layers.is_changed(layer):
                found.add(Change(layer.path, How.MODIFIED))
    return sorted(found)


def is_named(path: str) -> bool:
    """Whether it is short enough for a system call."""
    return len(os.fsencode(path)) <= _LONGEST


def _walked(steps: Steps, between: Callable[[], object]) -> Iterator[Change]:
    left = [steps]
    while left:
        between()
        for step in left.pop():
            if isinstance(step, Change):
                yield step
            else:
                left.append(step)


def _of_layer(layer: Layer, descriptor: int, names: set[str], placed: set[str]) -> Steps:
    if layer.what is What.MIRROR:
        yield _of_mirror(descriptor, names, layer.path, placed)
        return
    for name in names:
        path = os.path.join(layer.path, name)
        yield _of_upper(_Seen(descriptor, name), path, path, layer.path)


def _of_mirror(descriptor: int, names: set[str], top: str, placed: set[str]) -> Steps:
    """Links can go and anything can come; the rest are places of mounts, and those stay."""
    for name in _names(top) - names:
        if os.path.islink(os.path.join(top, name)):
            yield Change(os.path.join(top, name), How.DELETED)
    for name in names:
        path, seen = os.path.join(top, name), _Seen(descriptor, name)
        if path in placed:
            continue
        if not os.path.lexists(path):
            yield _of_upper(seen, path, None, top)
        elif os.path.islink(path) and not _is_link_to(seen, os.readlink(path)):
            yield Change(path, How.MODIFIED)


def _is_link_to(seen: _Seen, target: str) -> bool:
    return stat.S_ISLNK(seen.stat().st_mode) and seen.target() == target


def _of_upper(seen: _Seen, path: str, below: str | None, top: str) -> Steps:
    """`below` is what would show through from outside, `top` the path of the layer."""
    inside, outside = seen.stat(), _outside(path)
    if _is_whiteout(inside):
        if outside:
            yield Change(path, How.DELETED)
    elif stat.S_ISDIR(inside.st_mode):
        yield from _of_itself(seen, path, inside, outside)
        try:
            with seen.open(os.O_DIRECTORY) as descriptor:
                names, origin = set(os.listdir(descriptor)), _origin(descriptor, below, top)
        except PermissionError:
            if outside:
                yield Change(path, How.MODIFIED)
        else:
            yield _of_entries(seen, names, path, origin, top)
    else:
        yield from _of_itself(seen, path, inside, outside)


def _of_entries(seen: _Seen, names: set[str], path: str, origin: str | None, top: str) -> Steps:
    for name in names:
        if is_named(inner := os.path.join(path, name)):
            below = os.path.join(origin, name) if origin else None
            yield _of_upper(seen.below(name), inner, below, top)
    if origin == path:
        return  # what shows through is in its own place
    shown = _names(origin) - names
    for name in shown:
        yield _of_shown(os.path.join(origin or "", name), os.path.join(path, name))
    for name in _names(path) - names - shown:
        yield Change(os.path.join(path, name), How.DELETED)


def _of_shown(origin: str, path: str) -> Steps:
    """What is in a directory that was renamed, and was not changed itself."""
    if not is_named(origin) or not is_named(path):
        return
    seen = _Seen(None, origin)
    inside = seen.stat()
    yield from _of_itself(seen, path, inside, _outside(path))
    if stat.S_ISDIR(inside.st_mode):
        for name in _names(origin):
            yield _of_shown(os.path.join(origin, name), os.path.join(path, name))
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
    """Entries of a directory; none when there is no such directory, or none that a path names."""
    if not path or not is_named(path):
        return set()
    try:
        return set() if os.path.islink(path) else set(os.listdir(path))
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
