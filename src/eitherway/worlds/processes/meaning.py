# SPDX-License-Identifier: Apache-2.0
"""What a call does to which objects: the phrases of system_calls.toml, worked out for one call.

An object of the file system is the inode with places for its attributes, and behind them its bytes.
A directory has a place for each name besides; to list it is to look at all of them.
"""

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from eitherway.model.words import FILE_BYTES, OpFlag, OpKind
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.ipc import (
    IPC_CREAT,
    IPC_RMID,
    IPC_SET,
    command_of,
    sets_values,
    sort_of,
)
from eitherway.worlds.processes.log import (
    LOCK_OF_BYTES,
    LOCK_TYPE,
    NO_POSITION,
    SETS_LOCK,
    CallFlag,
)

Places = tuple[int, int]
PERMISSIONS: Places = (0, 1)  # and the owner
EXTENT: Places = (1, 2)  # size and times
LINKS: Places = (2, 3)
ATTRIBUTES: Places = (0, 3)  # all that stat tells
EXTENDED: Places = (3, 4)
PART_WORDS = {
    PERMISSIONS: "the permissions",
    EXTENT: "the size and times",
    LINKS: "the number of links",
    ATTRIBUTES: "the attributes",
    EXTENDED: "the extended attributes",
}
BYTES = FILE_BYTES
ALL = 2**63
_GIVES_UP = {fcntl.F_SETLK, fcntl.F_OFD_SETLK}
_MAP_SHARED, _PROT_WRITE, _MAP_SHARED_VALIDATE = 1, 2, 3


Mode = Callable[[int], int]  # of an object: type and permissions


class Micro(NamedTuple):
    """One micro-operation."""

    kind: OpKind
    sort: str  # of object: file, directory, position, process, lock
    object: int  # number in the log; of a process its own
    lo: int = 0
    hi: int = 1
    name: str = ""  # of an entry
    flags: OpFlag = OpFlag.NONE


def micros(call: Call, mode: Mode) -> Iterator[Micro]:
    """All of them, in the order in which the call does them; `mode` of an object."""
    yield from _walk(call)
    for phrase in call.shape.does:
        action, _, condition = phrase.partition(" if ")
        if _CONDITIONS[condition](call):
            yield from _ACTIONS[action](call, mode)


def _walk(call: Call) -> Iterator[Micro]:
    """Every part of a path is looked at; what the call does with the last one is its own matter."""
    flags = _looks(call)
    for found in call.found:
        if found is not call.entry(found.path):
            yield Micro(OpKind.LOAD, "directory", found.directory, name=found.name, flags=flags)


def _kind(call: Call, wanted: OpKind) -> OpKind:
    """What was not done was looked at all the same."""
    return wanted if call.worked else OpKind.LOAD


def _looks(call: Call, *, changes: bool = False, path: int = 0) -> OpFlag:
    """Whether it does more with a name than to look at it; one that could not, only tried."""
    if "check entry" in call.shape.does:
        return OpFlag.CHECK
    if call.worked:
        tries = changes and call.needs_absence and path == call.makes
        return OpFlag.TRY if tries else OpFlag.NONE
    return OpFlag.FAILED | OpFlag.TRY if changes else OpFlag.FAILED


# ---- what is done


def _load_entry(call: Call, _: Mode) -> Iterator[Micro]:
    entry = call.entry()
    if entry and not (call.shape.gives == "descriptor" and call.created):
        flags = _looks(call, changes=bool(call.opens & os.O_CREAT))
        yield Micro(OpKind.LOAD, "directory", entry.directory, name=entry.name, flags=flags)


def _store_entry(path: int) -> "Action":
    def act(call: Call, _: Mode) -> Iterator[Micro]:
        if entry := call.entry(path):
            kind, flags = _kind(call, OpKind.STORE), _looks(call, changes=True, path=path)
            yield Micro(kind, "directory", entry.directory, name=entry.name, flags=flags)

    return act


def _attributes(kind: OpKind, places: Places, *, second: bool = False) -> "Action":
    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        file = call.second if second else call.file
        if file and _is_kept(mode(file)) and (call.worked or kind is OpKind.LOAD):
            yield Micro(kind, "file", file, *places)

    return act


def _load_permissions(call: Call, mode: Mode) -> Iterator[Micro]:
    """Of a file that was there; one that the call makes has none before."""
    if not call.created:
        yield from _attributes(OpKind.LOAD, PERMISSIONS)(call, mode)


def _data(kind: OpKind) -> "Action":
    """As much as was asked for of a read: it would have seen more if there had been more."""

    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        if not call.worked or not stat.S_ISREG(mode(call.object)):
            return
        start = call.taken("position", call.position)
        if start == NO_POSITION:
            start = 0
        length = max(call.result, call.taken("size") if kind is OpKind.LOAD else 0, 1)
        if call.flags & CallFlag.APPENDS and kind is OpKind.STORE:
            yield Micro(kind, "file", call.object, BYTES, ALL)  # behind whatever is there
        else:
            yield Micro(kind, "file", call.object, BYTES + start, min(BYTES + start + length, ALL))

    return act


def _whole(kind: OpKind, *, second: bool = False) -> "Action":
    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        file = call.second if second else call.file
        if call.worked and file and stat.S_ISREG(mode(file)):
            yield Micro(kind, "file", file, BYTES, ALL)

    return act


def _listing(call: Call, _: Mode) -> Iterator[Micro]:
    if call.object:
        yield Micro(OpKind.LOAD, "directory", call.object, 0, ALL)


def _look_at_watched(call: Call, mode: Mode) -> Iterator[Micro]:
    """What was done to it before is not told."""
    watched = call.watched
    if watched and _is_kept(mode(watched)):
        yield Micro(OpKind.LOAD, "file", watched, *ATTRIBUTES)
        if stat.S_ISDIR(mode(watched)):
            yield Micro(OpKind.LOAD, "directory", watched, 0, ALL)


def _position(kind: OpKind) -> "Action":
    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        if call.worked and _is_kept(mode(call.object)):
            yield Micro(kind, "position", call.object)

    return act


def _own_process(call: Call, _: Mode) -> Iterator[Micro]:
    if call.worked:
        yield Micro(OpKind.STORE, "process", call.thread, 0, ALL)


def _process_of_child(call: Call, _: Mode) -> Iterator[Micro]:
    if call.result > 0:
        yield Micro(OpKind.STORE, "process", call.result, 0, ALL)


def _process_of_other(call: Call, _: Mode) -> Iterator[Micro]:
    if call.process or "process" in call.shape.takes:
        yield Micro(OpKind.LOAD, "process", call.process)


def _of_signal(kind: OpKind, sort: str, *, other: bool = False) -> "Action":
    """What a process does with each signal is a place of its own."""

    def act(call: Call, _: Mode) -> Iterator[Micro]:
        number = call.taken("signal")
        process = call.process if other else call.thread
        known = process or "descriptor" not in call.shape.takes
        if call.worked and (number or not other) and known and not process >> 31:
            yield Micro(kind, sort, process, number, number + 1)

    return act


def _load_signals(call: Call, _: Mode) -> Iterator[Micro]:
    yield Micro(OpKind.LOAD, "signals", call.thread, 0, ALL)


def _load_parent(call: Call, _: Mode) -> Iterator[Micro]:
    yield Micro(OpKind.LOAD, "parent", call.thread)


def _listener(kind: OpKind) -> "Action":
    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        if call.object and stat.S_ISSOCK(mode(call.object)) and call.worked:
            flags = OpFlag.WILDCARD if kind is OpKind.WAIT else OpFlag.NONE
            yield Micro(kind, "listener", call.object, flags=flags)

    return act


def _address(kind: OpKind) -> "Action":
    def act(call: Call, _: Mode) -> Iterator[Micro]:
        flags = OpFlag.NONE if call.worked else OpFlag.FAILED
        yield Micro(_kind(call, kind), "address", call.object, flags=flags)

    return act


def _wait_stream(call: Call, mode: Mode) -> Iterator[Micro]:
    if call.object and _is_stream(mode(call.object)):
        flags = OpFlag.WILDCARD | (OpFlag.NONE if call.worked else OpFlag.FAILED)
        yield Micro(OpKind.WAIT, "stream", call.object, flags=flags)


def _wake_stream(*, second: bool = False) -> "Action":
    def act(call: Call, mode: Mode) -> Iterator[Micro]:
        stream = call.second if second else call.object
        if stream and _is_stream(mode(stream)) and call.result > 0:
            yield Micro(OpKind.WAKE, "stream", stream, flags=OpFlag.CUMULATIVE)

    return act


def _ipc_key(kind: OpKind) -> "Action":
    """IPC_PRIVATE, which is 0, is nobody else's."""

    def act(call: Call, _: Mode) -> Iterator[Micro]:
        if key := call.arguments[0] & 0xFFFFFFFF:
            yield Micro(_kind(call, kind), f"{sort_of(call)} key", 0, key, key + 1)

    return act


def _ipc_object(kind: OpKind, places: Places) -> "Action":
    def act(call: Call, _: Mode) -> Iterator[Micro]:
        yield Micro(_kind(call, kind), f"{sort_of(call)} object", call.arguments[0], *places)

    return act


def _queue_name(kind: OpKind) -> "Action":
    def act(call: Call, _: Mode) -> Iterator[Micro]:
        if call.value:
            flags = OpFlag.NONE if call.worked else OpFlag.FAILED
            yield Micro(_kind(call, kind), "queue name", call.value, flags=flags)

    return act


def _notification(kind: OpKind) -> "Action":
    """Who asks too late to be told of a message is not; one alone can ask."""

    def act(call: Call, _: Mode) -> Iterator[Micro]:
        flags = OpFlag.NONE if call.worked else OpFlag.FAILED
        yield Micro(_kind(call, kind), "notification", call.object, flags=flags)

    return act


def _lock(kind: OpKind) -> "Action":
    def act(call: Call, _: Mode) -> Iterator[Micro]:
        if kind is OpKind.ACQUIRE or call.worked:
            sort = "flock" if call.name == "flock" else "lock"
            yield Micro(kind, sort, call.object, *locked_bytes(call), flags=_how_locked(call))

    return act


def locked_bytes(call: Call) -> Places:
    """Of a lock of fcntl; one of flock is of all of a file, and has nothing to do with those."""
    if call.name == "flock" or not call.value & LOCK_OF_BYTES:
        return 0, ALL
    first, behind = call.arguments[3:5]
    return min(first, ALL - 1), min(behind + (behind == ALL - 1), ALL)


def _how_locked(call: Call) -> OpFlag:
    """Whether it gives up where it would have to wait, whether readers share it."""
    if call.name == "flock":
        gives_up, shared = call.arguments[1] & fcntl.LOCK_NB, call.arguments[1] & fcntl.LOCK_SH
    else:
        gives_up, shared = call.arguments[1] in _GIVES_UP, call.value & LOCK_TYPE == fcntl.F_RDLCK
    flags = OpFlag.TRY if gives_up else OpFlag.NONE
    flags |= OpFlag.SHARED if shared else OpFlag.NONE
    return flags if call.worked else flags | OpFlag.FAILED


def _nothing(_: Call, __: Mode) -> Iterator[Micro]:
    """What the trace works out itself: who waits for whom, for which of several, a last close."""
    yield from ()


Action = Callable[[Call, Mode], Iterator[Micro]]

_ACTIONS: dict[str, Action] = {
    "load entry": _load_entry,
    "check entry": _load_entry,
    "store entry": _store_entry(0),
    "store second entry": _store_entry(1),
    "load attributes": _attributes(OpKind.LOAD, ATTRIBUTES),
    "load permissions": _load_permissions,
    "store permissions": _attributes(OpKind.STORE, PERMISSIONS),
    "load extent": _attributes(OpKind.LOAD, EXTENT),
    "store extent": _attributes(OpKind.STORE, EXTENT),
    "store extent of second": _attributes(OpKind.STORE, EXTENT, second=True),
    "store links": _attributes(OpKind.STORE, LINKS),
    "load extended attributes": _attributes(OpKind.LOAD, EXTENDED),
    "store extended attributes": _attributes(OpKind.STORE, EXTENDED),
    "load data": _data(OpKind.LOAD),
    "store data": _data(OpKind.STORE),
    "load whole data": _whole(OpKind.LOAD),
    "store whole data": _whole(OpKind.STORE),
    "store whole data of second": _whole(OpKind.STORE, second=True),
    "load listing": _listing,
    "load position": _position(OpKind.LOAD),
    "store position": _position(OpKind.STORE),
    "store process": _own_process,
    "store process of child": _process_of_child,
    "load process of other": _process_of_other,
    "wait stream": _wait_stream,
    "look at stream": _wait_stream,
    "look at what is watched": _look_at_watched,
    "wake stream": _wake_stream(),
    "take or give stream": _wake_stream(),
    "wake stream of second": _wake_stream(second=True),
    "load ipc key": _ipc_key(OpKind.LOAD),
    "store ipc key": _ipc_key(OpKind.STORE),
    "load ipc object": _ipc_object(OpKind.LOAD, (0, 2)),
    "store ipc object": _ipc_object(OpKind.STORE, (0, 1)),
    "store semaphores": _ipc_object(OpKind.STORE, (1, 2)),
    "take and give semaphores": _nothing,
    "load queue name": _queue_name(OpKind.LOAD),
    "store queue name": _queue_name(OpKind.STORE),
    "load notification": _notification(OpKind.LOAD),
    "store notification": _notification(OpKind.STORE),
    "give message": _nothing,
    "take message": _nothing,
    "wait and wake shared memory": _nothing,
    "wait queue": _nothing,
    "wake queue": _nothing,
    "load readiness": _nothing,
    "load address": _address(OpKind.LOAD),
    "load address of datagram": _address(OpKind.LOAD),
    "store address": _address(OpKind.STORE),
    "wait listener": _listener(OpKind.WAIT),
    "wake listener": _listener(OpKind.WAKE),
    "store disposition": _of_signal(OpKind.STORE, "disposition"),
    "load disposition of other": _of_signal(OpKind.LOAD, "disposition", other=True),
    "store signals of other": _of_signal(OpKind.STORE, "signals", other=True),
    "load signals": _load_signals,
    "load parent": _load_parent,
    "store process of reaped": _nothing,
    "wait child": _nothing,
    "wake parent": _nothing,
    "acquire file lock": _lock(OpKind.ACQUIRE),
    "release file lock": _lock(OpKind.RELEASE),
}


def _is_kept(mode: int) -> bool:
    """Whether it lies in a file system."""
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _is_stream(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or is_anonymous(mode)


def is_anonymous(mode: int) -> bool:
    """An eventfd and its like: all of them have one inode, which has no type."""
    return mode != 0 and stat.S_IFMT(mode) == 0


# ---- when


def _truncates(call: Call) -> bool:
    return bool(call.opens & os.O_TRUNC) and not call.created


def _maps_shared(call: Call) -> bool:
    shared = call.arguments[3] & 3 in (_MAP_SHARED, _MAP_SHARED_VALIDATE)
    return shared and bool(call.arguments[2] & _PROT_WRITE)


def _seeks_by_size(call: Call) -> bool:
    return call.arguments[2] in (os.SEEK_END, os.SEEK_DATA, os.SEEK_HOLE)


def _asks_where(call: Call) -> bool:
    return call.arguments[2] == os.SEEK_CUR and call.arguments[1] == 0


def _locks(call: Call) -> bool:
    return call.arguments[1] in SETS_LOCK and call.value & LOCK_TYPE != fcntl.F_UNLCK


def _unlocks(call: Call) -> bool:
    return call.arguments[1] in SETS_LOCK and call.value & LOCK_TYPE == fcntl.F_UNLCK


_CONDITIONS: dict[str, Callable[[Call], bool]] = {
    "": lambda _: True,
    "created": lambda call: call.created,
    "O_TRUNC": _truncates,
    "O_CREAT": lambda call: bool(call.opens & os.O_CREAT),
    "shared and writable": _maps_shared,
    "SEEK_END": _seeks_by_size,
    "only asked": _asks_where,
    "set": lambda call: not _asks_where(call),
    "locking": lambda call: not call.arguments[1] & fcntl.LOCK_UN,
    "LOCK_UN": lambda call: bool(call.arguments[1] & fcntl.LOCK_UN),
    "F_SETLK": _locks,
    "F_UNLCK": _unlocks,
    "IPC_CREAT": lambda call: bool(call.arguments[1 if call.name == "msgget" else 2] & IPC_CREAT),
    "IPC_RMID": lambda call: command_of(call) in (IPC_RMID, IPC_SET),
    "SETVAL": sets_values,
    "last": lambda _: False,  # the trace knows who else has it
}
