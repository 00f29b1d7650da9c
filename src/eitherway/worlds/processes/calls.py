# SPDX-License-Identifier: Apache-2.0
"""One system call of a log, with what it took and found by name."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from eitherway.worlds.processes.call_table import CALLS, Shape
from eitherway.worlds.processes.log import Log

_UNKNOWN = Shape("call", (), "nothing", "never", ())
LOOKUP_LAST, LOOKUP_IN_ROOT = 1, 2
_NEW_ENTRY = {
    *("mkdir", "mkdirat", "mknod", "mknodat", "bind"),
    *("link", "linkat", "symlink", "symlinkat"),
}
_TWO_NAMES = {"link", "linkat", "rename", "renameat", "renameat2"}
_NEW_FILE = os.O_CREAT | os.O_EXCL
_PATHS = ("path", "link", "new path")
_HERE = -100  # AT_FDCWD
_NO_REPLACE = 1  # of renameat2


class Found(NamedTuple):
    """A name in a directory, as a call found it."""

    directory: int  # object
    name: str
    object: int  # 0: there was none
    path: int  # of the call's paths
    last: bool
    in_root: bool


class Call(NamedTuple):
    """A row of the log."""

    number: int  # in the log
    thread: int
    shape: Shape
    arguments: tuple[int, ...]
    result: int
    position: int
    when: int  # it was let through
    object: int
    second: int
    value: int
    flags: int  # CallFlag
    found: tuple[Found, ...]

    @property
    def name(self) -> str:
        """Of the system call."""
        return self.shape.name

    @property
    def worked(self) -> bool:
        """Whether it did what it was asked for."""
        return self.result >= 0

    def taken(self, what: str, default: int = 0) -> int:
        """The argument that is this."""
        try:
            return self.arguments[self.shape.takes.index(what)]
        except ValueError:
            return default

    def descriptor(self) -> int:
        """The descriptor that it was given."""
        return _signed(self.taken("descriptor", -1), 32)

    def entry(self, path: int = 0) -> Found | None:
        """Where one of its paths ends, links on the way followed."""
        return next((f for f in reversed(self.found) if f.path == path and f.last), None)

    @property
    def from_working_directory(self) -> bool:
        """Whether one of its paths begins there."""
        takes = self.shape.takes
        paths = [at for at, taken in enumerate(takes) if taken in _PATHS]
        for number, at in enumerate(paths):
            first = next((found for found in self.found if found.path == number), None)
            beside = at > 0 and takes[at - 1] == "directory"
            here = not beside or _signed(self.arguments[at - 1], 32) == _HERE
            if first is not None and not first.in_root and here:
                return True
        return False

    @property
    def opens(self) -> int:
        """The flags of an open."""
        if self.name == "creat":
            return os.O_CREAT | os.O_WRONLY | os.O_TRUNC
        return self.taken("open flags")

    @property
    def created(self) -> bool:
        """Whether an open made the file."""
        entry = self.entry()
        makes = bool(self.opens & os.O_CREAT)
        return self.worked and makes and entry is not None and entry.object == 0

    @property
    def needs_absence(self) -> bool:
        """Whether it makes an entry, and gives up where one is there."""
        if self.name == "renameat2":
            return bool(self.arguments[4] & _NO_REPLACE)
        return self.name in _NEW_ENTRY or self.opens & _NEW_FILE == _NEW_FILE

    @property
    def makes(self) -> int:
        """Which of its paths names what it makes: of a link and a rename the other one."""
        return 1 if self.name in _TWO_NAMES else 0

    @property
    def waits_for_any(self) -> bool:
        """Whether a wait is for whichever child ends next."""
        if self.name == "wait4":
            return _signed(self.arguments[0], 32) <= 0
        return self.name == "waitid" and self.arguments[0] not in (os.P_PID, os.P_PIDFD)

    @property
    def process(self) -> int:
        """The one that it is about, by its number or a descriptor of it; 0: none alone is known."""
        return self.taken("process", self.value)

    @property
    def child(self) -> int:
        """The child that a wait ended with; 0 when it ended with none."""
        if not self.worked:
            return 0
        return self.result if self.name == "wait4" else self.value

    @property
    def file(self) -> int:
        """The object that it is about: of a descriptor, or where its first path leads."""
        if "descriptor" in self.shape.takes:
            return self.object
        if self.shape.gives == "descriptor" and self.second:
            return self.second
        entry = self.entry()
        return entry.object if entry else self.object

    @property
    def watched(self) -> int:
        """By the tracer's own look, or where the path ends; 0: that is not known."""
        if not self.worked:
            return 0
        return self.second or (self.found[-1].object if self.found else 0)


def call_of(log: Log, number: int) -> Call:
    """The call of this number."""
    return next(_some(log, number, number + 1))


def calls_of(log: Log) -> Iterator[Call]:
    """All of them, in the order in which they took effect."""
    for first in range(0, len(log.calls), _AT_A_TIME):
        yield from _some(log, first, min(first + _AT_A_TIME, len(log.calls)))


_AT_A_TIME = 4096  # rows that are turned into numbers of Python together
_COLUMNS = (
    *("thread", "number", "result", "position", "entered", "object", "second"),
    *("value", "flags", "a0", "a1", "a2", "a3", "a4", "a5"),
)
_LOOKUP_COLUMNS = ("directory", "name", "found", "path", "flags")


def _some(log: Log, first: int, last: int) -> Iterator[Call]:
    begins, ends = (column[first:last].tolist() for column in log.lookup_ranges)
    found = _found(log, begins[0], ends[-1]) if begins else []
    rows = zip(*(log.calls[name][first:last].tolist() for name in _COLUMNS), strict=True)
    for at, row in enumerate(rows):
        thread, number, result, position, entered, object_, second, value, flags, *rest = row
        yield Call(
            number=first + at,
            thread=thread,
            shape=CALLS.get(number, _UNKNOWN),
            arguments=tuple(rest),
            result=_signed(result, 64),
            position=position,
            when=entered,
            object=object_,
            second=second,
            value=value,
            flags=flags,
            found=tuple(found[begins[at] - begins[0] : ends[at] - begins[0]]),
        )


def _found(log: Log, first: int, last: int) -> list[Found]:
    rows = zip(*(log.lookups[name][first:last].tolist() for name in _LOOKUP_COLUMNS), strict=True)
    return [
        Found(
            directory=directory,
            name=log.text(name),
            object=found,
            path=path,
            last=bool(flags & LOOKUP_LAST),
            in_root=bool(flags & LOOKUP_IN_ROOT),
        )
        for directory, name, found, path, flags in rows
    ]


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
