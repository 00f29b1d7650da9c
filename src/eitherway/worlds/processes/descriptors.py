# SPDX-License-Identifier: Apache-2.0
"""Which open file each descriptor of each process leads to, call after call.

An open file has a position that all share who got it by dup and fork; a lock can belong to it; and
when the last descriptor of the writing end of a pipe is gone, readers come to its end.
"""

import fcntl
import os
from dataclasses import dataclass, field
from itertools import count

from eitherway.worlds.processes.calls import Call


@dataclass(slots=True, eq=False)
class Handle:
    """An open file."""

    object: int
    flags: int = 0  # as open has them
    writes: bool = True  # of a pipe: whether it is the writing end
    users: int = 0  # descriptors
    number: int = field(default_factory=count().__next__)


@dataclass(slots=True)
class _Slot:
    handle: Handle
    cloexec: bool = False


@dataclass(slots=True)
class _Table:
    slots: dict[int, _Slot] = field(default_factory=dict)
    users: int = 1  # threads or processes


class Descriptors:
    """The tables of all processes. What changes one tells the open files that nobody has then."""

    def __init__(self) -> None:
        self._tables: dict[int, _Table] = {}
        self._closed: list[Handle] = []

    def follow(self, call: Call) -> list[Handle]:
        """What a call does to the table of its process."""
        if call.name == "close":
            return self.closed(call.thread, call.descriptor())
        if not call.worked:
            return []
        if call.name in _CHANGES:
            return _CHANGES[call.name](self, call)
        if call.shape.gives == "descriptor":
            writes = bool(call.opens & os.O_ACCMODE)
            return self.opened(call.thread, call.result, call.second, call.opens, writes=writes)
        return []

    def handle(self, thread: int, descriptor: int, object_: int = 0) -> Handle:
        """The open file; one that was there before the run begins with this object."""
        slots = self._table(thread).slots
        if descriptor not in slots:
            self._put(thread, descriptor, Handle(object_), cloexec=False)
        return slots[descriptor].handle

    def opened(
        self, thread: int, descriptor: int, object_: int, flags: int, *, writes: bool = True
    ) -> list[Handle]:
        """A new open file; what was under that number before, if nobody else has it."""
        handle = Handle(object_, flags, writes)
        return self._put(thread, descriptor, handle, cloexec=bool(flags & os.O_CLOEXEC))

    def copied(self, thread: int, source: int, target: int, *, cloexec: bool) -> list[Handle]:
        """Another descriptor of the same open file."""
        return self._put(thread, target, self.handle(thread, source), cloexec=cloexec)

    def closed(self, thread: int, descriptor: int) -> list[Handle]:
        """The open file, if that was its last descriptor."""
        slot = self._table(thread).slots.pop(descriptor, None)
        if slot is None:
            return []
        self._closed.append(slot.handle)
        return _dropped(slot.handle)

    def just_closed(self) -> list[Handle]:
        """Those of which a descriptor was closed since this was asked, whoever has others."""
        closed, self._closed = self._closed, []
        return closed

    def close_range(self, thread: int, first: int, last: int) -> list[Handle]:
        """The same for many."""
        numbers = [n for n in self._table(thread).slots if first <= n <= last]
        return [handle for number in numbers for handle in self.closed(thread, number)]

    def set_cloexec(self, thread: int, descriptor: int, *, cloexec: bool) -> None:
        """Whether a new program has it."""
        if slot := self._table(thread).slots.get(descriptor):
            slot.cloexec = cloexec

    def forked(self, parent: int, child: int, *, shared: bool) -> None:
        """A child has copies of all, or the very table."""
        table = self._table(parent)
        if shared:
            table.users += 1
            self._tables[child] = table
            return
        copy = _Table({number: _Slot(s.handle, s.cloexec) for number, s in table.slots.items()})
        for slot in copy.slots.values():
            slot.handle.users += 1
        self._tables[child] = copy

    def executed(self, thread: int) -> list[Handle]:
        """A new program: some are closed."""
        numbers = [n for n, slot in self._table(thread).slots.items() if slot.cloexec]
        return [handle for number in numbers for handle in self.closed(thread, number)]

    def ended(self, thread: int) -> list[Handle]:
        """What only this thread had."""
        table = self._tables.pop(thread, None)
        if table is None:
            return []
        table.users -= 1
        if table.users:
            return []
        return [handle for slot in table.slots.values() for handle in _dropped(slot.handle)]

    def _table(self, thread: int) -> _Table:
        return self._tables.setdefault(thread, _Table())

    def _put(self, thread: int, descriptor: int, handle: Handle, *, cloexec: bool) -> list[Handle]:
        handle.users += 1
        before = self.closed(thread, descriptor)
        self._table(thread).slots[descriptor] = _Slot(handle, cloexec)
        return before


def _dropped(handle: Handle) -> list[Handle]:
    handle.users -= 1
    return [] if handle.users else [handle]


def _pipe(table: Descriptors, call: Call) -> list[Handle]:
    flags = call.arguments[1] if call.name == "pipe2" else 0
    reading, writing = call.value & 0xFFFFFFFF, call.value >> 32
    gone = table.opened(call.thread, reading, call.second, flags, writes=False)
    return gone + table.opened(call.thread, writing, call.second, flags)


def _socketpair(table: Descriptors, call: Call) -> list[Handle]:
    first, second = call.value & 0xFFFFFFFF, call.value >> 32
    gone = table.opened(call.thread, first, call.second, 0)
    return gone + table.opened(call.thread, second, call.object, 0)


def _dup(table: Descriptors, call: Call) -> list[Handle]:
    if call.descriptor() == call.result:
        return []  # dup2 to itself does nothing
    cloexec = call.name == "dup3" and bool(call.arguments[2])
    return table.copied(call.thread, call.descriptor(), call.result, cloexec=cloexec)


def _fcntl(table: Descriptors, call: Call) -> list[Handle]:
    command, value = call.arguments[1], call.arguments[2]
    if command == fcntl.F_SETFD:
        cloexec = bool(value & fcntl.FD_CLOEXEC)
        table.set_cloexec(call.thread, call.descriptor(), cloexec=cloexec)
    if command not in (fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC):
        return []
    cloexec = command == fcntl.F_DUPFD_CLOEXEC
    return table.copied(call.thread, call.descriptor(), call.result, cloexec=cloexec)


def _close_range(table: Descriptors, call: Call) -> list[Handle]:
    return table.close_range(call.thread, *call.arguments[:2])


_CHANGES = {
    "socketpair": _socketpair,
    "pipe": _pipe,
    "pipe2": _pipe,
    "dup": _dup,
    "dup2": _dup,
    "dup3": _dup,
    "fcntl": _fcntl,
    "close_range": _close_range,
}
