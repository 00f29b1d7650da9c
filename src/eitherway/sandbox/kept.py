# SPDX-License-Identifier: Apache-2.0
"""What a sandbox has written up to a moment, to be put back after more was written.

Files are put back through the sandbox's own mounts, and each in its place: whoever has one open
or mapped has it as it was. One that is gone or was replaced comes back under its name alone. What
cannot be put back is said: a directory, or a file of outside that was first written since.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eitherway.sandbox.changes import OPAQUE, REDIRECT
from eitherway.sandbox.layers import Layers, What

ROOM = 1 << 24  # bytes of all files: with more, doing a run again is as quick
MANY = 1000  # files and directories
_LINKS = 5  # where in `itself` their number stands
_OVERLAY = ("trusted.overlay.", "user.overlay.")  # its own notes
_TELLING = (*OPAQUE, *REDIRECT)  # those of them that say what is seen


class _Entry(NamedTuple):
    """Of a layer."""

    itself: tuple[object, ...]  # the same as long as it is the same thing
    mode: int
    owners: tuple[int, int]
    changed: int  # nanoseconds
    content: bytes  # of a file

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


_Tree = dict[str, _Entry]  # by path


class Kept:
    """All that was written, at the time it was looked at."""

    def __init__(self, layers: Layers, inside: str) -> None:
        """`inside` leads to the root of the sandbox. Raises OSError when it cannot be kept."""
        self._layers = layers
        self._inside = inside
        self._tree = _tree(layers)
        self._pinned: set[str] = set()

    def has_file(self, path: str) -> bool:
        """Whether a file of that path was written, and can be put back."""
        return path in self._tree and self._tree[path].is_file

    def pin(self, paths: Iterable[str]) -> None:
        """These must stay themselves: another file under their names is of no use."""
        self._pinned |= set(paths)

    def put_back(self) -> bool:
        """False: not all of it can be as it was."""
        try:
            now = _tree(self._layers)
            new = {path: entry for path, entry in now.items() if path not in self._tree}
            left = all(self._can_stay(path, now.get(path)) for path in self._tree)
            if left and all(_can_go(path, entry) for path, entry in new.items()):
                self._remove(new)
                self._write(now)
                return True
        except OSError:
            pass  # not to be read, or not to be written
        return False

    def _can_stay(self, path: str, now: _Entry | None) -> bool:
        before = self._tree[path]
        if now and now.itself == before.itself:
            return True
        is_bound = path in self._pinned or before.itself[_LINKS] != 1 or before.itself[-1]
        is_alike = now is None or now.itself[1:] == before.itself[1:]
        return before.is_file and not is_bound and is_alike

    def _remove(self, new: _Tree) -> None:
        for path in sorted(new, reverse=True):  # what is in a directory before it
            place = self._inside + path
            if (outside := _outside(path)) is not None:
                os.utime(place, ns=(outside.st_atime_ns, outside.st_mtime_ns))
            elif new[path].is_directory:
                os.rmdir(place)
            else:
                os.unlink(place)

    def _write(self, now: _Tree) -> None:
        for path, entry in self._tree.items():
            place = self._inside + path
            if path not in now:
                _make(place, entry)
            elif now[path].content != entry.content:
                _fill(place, entry.content)
            if now.get(path) != entry or entry.is_directory:
                os.utime(place, ns=(entry.changed, entry.changed), follow_symlinks=False)


def _make(place: str, entry: _Entry) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.fchown(descriptor, *entry.owners)
        os.fchmod(descriptor, stat.S_IMODE(entry.mode))
    finally:
        os.close(descriptor)
    _fill(place, entry.content)


def _fill(place: str, content: bytes) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        os.ftruncate(descriptor, len(content))
        done = 0
        while done < len(content):
            done += os.pwrite(descriptor, content[done:], done)
    finally:
        os.close(descriptor)


def _can_go(path: str, entry: _Entry) -> bool:
    """Whether a new one can be taken away, or says nothing: what shows through it is as before."""
    outside = _outside(path)
    if outside is None:
        return True
    owned = (outside.st_mode, outside.st_uid, outside.st_gid)
    return entry.is_directory and entry.itself[1:4] == owned and not entry.itself[-1]


def _outside(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


# --- what is there


def _tree(layers: Layers) -> _Tree:
    tree: _Tree = {}
    room = ROOM
    for layer, descriptor in layers.written:
        if layer.what is What.MIRROR:
            if layers.is_changed(layer):
                raise OSError(errno.ENOTSUP, "changes lie among the rest", layer.path)
            continue
        for place, path in _below(f"/proc/self/fd/{descriptor}", layer.path.rstrip("/")):
            tree[path] = entry = _entry(place, room)
            room -= len(entry.content)
            if len(tree) > MANY:
                raise OSError(errno.EFBIG, "more than are kept", place)
    return tree


def _below(place: str, path: str) -> Iterator[tuple[str, str]]:
    """Each directory before what is in it."""
    left = [(place, path)]
    while left:
        place, path = left.pop()
        for name in os.listdir(place):
            inner = f"{place}/{name}", f"{path}/{name}"
            yield inner
            if stat.S_ISDIR(os.lstat(inner[0]).st_mode):
                left.append(inner)


def _entry(place: str, room: int) -> _Entry:
    info = os.lstat(place)
    is_file, is_link = stat.S_ISREG(info.st_mode), stat.S_ISLNK(info.st_mode)
    if is_file and info.st_size > room:
        raise OSError(errno.EFBIG, "more than is kept", place)
    itself = (
        info.st_ino,
        info.st_mode,
        info.st_uid,
        info.st_gid,
        info.st_rdev,
        None if stat.S_ISDIR(info.st_mode) else info.st_nlink,
        os.readlink(place) if is_link else None,
        _attributes(place),
    )
    owners = (info.st_uid, info.st_gid)
    content = _content(place) if is_file else b""
    return _Entry(itself, info.st_mode, owners, info.st_mtime_ns, content)


def _content(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read()


def _attributes(place: str) -> tuple[tuple[str, bytes], ...]:
    names = sorted(os.listxattr(place, follow_symlinks=False))
    return tuple(
        (name, os.getxattr(place, name, follow_symlinks=False))
        for name in names
        if name in _TELLING or not name.startswith(_OVERLAY)
    )
