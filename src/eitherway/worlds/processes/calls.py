# SPDX-License-Identifier: Apache-2.0
"""One system call of a log, with what it took and found by name."""

import os
from dataclasses import dataclass

from eitherway.worlds.processes.call_table import CALLS, Shape
from eitherway.worlds.processes.log import CallFlag, Log

_UNKNOWN = Shape("call", (), "nothing", "never", ())
LOOKUP_LAST, LOOKUP_IN_ROOT = 1, 2


@dataclass(frozen=True, slots=True)
class Found:
    """A name in a directory, as a call found it."""

    directory: int  # object
    name: str
    object: int  # 0: there was none
    path: int  # of the call's paths
    last: bool
    in_root: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A row of the log."""

    number: int  # in the log
    thread: int
    index: int
    shape: Shape
    arguments: tuple[int, ...]
    result: int
    position: int
    when: int  # it was let through
    object: int
    second: int
    value: int
    flags: CallFlag
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
    def waits_for_any(self) -> bool:
        """Whether a wait is for whichever child ends next."""
        if self.name == "wait4":
            return _signed(self.arguments[0], 32) <= 0
        return self.name == "waitid" and self.arguments[0] != os.P_PID

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


def call_of(log: Log, number: int) -> Call:
    """The call of this number."""
    row = log.calls[number]
    found = tuple(
        Found(
            directory=int(each["directory"]),
            name=log.text(int(each["name"])),
            object=int(each["found"]),
            path=int(each["path"]),
            last=bool(each["flags"] & LOOKUP_LAST),
            in_root=bool(each["flags"] & LOOKUP_IN_ROOT),
        )
        for each in log.lookups_of(number)
    )
    return Call(
        number=number,
        thread=int(row["thread"]),
        index=int(row["index"]),
        shape=CALLS.get(int(row["number"]), _UNKNOWN),
        arguments=tuple(int(row[f"a{i}"]) for i in range(6)),
        result=_signed(int(row["result"]), 64),
        position=int(row["position"]),
        when=int(row["entered"]),
        object=int(row["object"]),
        second=int(row["second"]),
        value=int(row["value"]),
        flags=CallFlag(int(row["flags"])),
        found=found,
    )


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
