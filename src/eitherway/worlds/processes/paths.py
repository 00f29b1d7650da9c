# SPDX-License-Identifier: Apache-2.0
"""The paths of objects, as calls came upon them; and which of two files with one inode is meant.

An inode number is given again when its file is gone. So an object has *lives*: each call that makes
a file begins a new one.
"""

import posixpath
import re
from collections import Counter

from eitherway.worlds.processes.calls import Call, Found
from eitherway.worlds.processes.log import Log

_PROCESS = re.compile(r"/proc/(\d+)(?:/|$)")
_MAKES_ENTRY = {"mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "bind"}


class Paths:
    """Paths and lives, call after call."""

    def __init__(self, log: Log, directory: str) -> None:
        """`directory`: where the command was started."""
        self._path: dict[int, str] = {}
        self._directory = directory
        self._life = Counter[int]()
        self._new: set[tuple[int, str]] = set()  # entries whose objects were not seen yet
        self.proc = _proc(log)

    def take(self, call: Call) -> None:
        """Learn from a call, before what it does is looked at."""
        for found in call.found:
            self._take(found)
        if call.worked and call.shape.gives == "two descriptors":
            self._life[call.second] += 1
        if call.created:
            self._life[call.second] += 1
            entry = call.entry()
            if entry:
                self._path[call.second] = self.entry(entry.directory, entry.name)
        entry = call.entry()
        if call.worked and call.name in _MAKES_ENTRY and entry:
            self._new.add((entry.directory, entry.name))

    def _take(self, found: Found) -> None:
        if found.in_root:
            self._path[found.directory] = "/"
        if found.object:
            self._path[found.object] = self.entry(found.directory, found.name)
            if (found.directory, found.name) in self._new:
                self._new.remove((found.directory, found.name))
                self._life[found.object] += 1

    def of(self, object_: int) -> str:
        """Where it was last come upon; the empty text for what has no name."""
        return self._path.get(object_, "")

    def entry(self, directory: int, name: str) -> str:
        """A name in a directory; one that is not known is where the command was started."""
        return posixpath.join(self._path.get(directory, self._directory), name)

    def life(self, object_: int) -> int:
        """Which file of that inode it is."""
        return self._life[object_]

    def process(self, object_: int) -> int | None:
        """The process that a file in /proc tells of."""
        found = _PROCESS.match(self.of(object_))
        return int(found[1]) if found else None


def _proc(log: Log) -> int:
    """The object of /proc, if anybody went there."""
    if b"proc" not in log.texts:
        return 0
    name = log.texts.index(b"proc")
    rows = log.lookups[(log.lookups["name"] == name) & (log.lookups["flags"] & 2 != 0)]
    return int(rows["found"][0]) if len(rows) else 0
