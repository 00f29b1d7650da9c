# SPDX-License-Identifier: Apache-2.0
"""From a log to a trace: calls become operations on objects, and what orders them edges."""

import signal
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eitherway.model.described import Described
from eitherway.model.trace import Table, Trace
from eitherway.model.words import EdgeKind, OpFlag, OpKind
from eitherway.worlds.processes import ipc
from eitherway.worlds.processes.calls import Call, call_of, calls_of
from eitherway.worlds.processes.described import OF_PROCESSES, described
from eitherway.worlds.processes.descriptors import Descriptors, Handle
from eitherway.worlds.processes.file_locks import FileLocks, Owner
from eitherway.worlds.processes.futexes import Futexes
from eitherway.worlds.processes.log import INTERRUPTED, OPEN_FILES_LOCK, EventKind, Log, effect
from eitherway.worlds.processes.meaning import Micro, micros
from eitherway.worlds.processes.messages import Messages
from eitherway.worlds.processes.notices import Notices
from eitherway.worlds.processes.operations import Operations
from eitherway.worlds.processes.paths import Paths
from eitherway.worlds.processes.streams import Streams
from eitherway.worlds.processes.tree import CLONE_FILES, CLONE_VFORK, Event, Tree, events_of

_REMOVES = {"unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2"}
_GOES = {"chdir", "fchdir"}
_CHILDREN = Described("children")


@dataclass(frozen=True, slots=True)
class Traced:
    """A trace, and how its operations and the calls of the log belong together."""

    log: Log
    tree: Tree
    trace: Trace
    call: Table  # of each operation; NO_CALL of what is no call
    first: Table  # operation of each call
    about: tuple[Described, ...]
    as_seen: Table  # which edges are only the order in which threads of one process made calls
    by_futex: Table  # which edges are only who was woken at a futex that processes share

    def name(self, call: int) -> str:
        """Of the system call."""
        return call_of(self.log, call).name

    def waited_for(self, call: int) -> int:
        """The child that a wait ended with."""
        return call_of(self.log, call).child

    def process(self, thread: int) -> int:
        """That a thread belongs to."""
        return self.tree.lives[thread].process

    def describe(self, operation: int) -> Described:
        """What an operation is about, for people."""
        return self.about[operation]


def traced(log: Log, directory: str) -> Traced:
    """The trace of a run that was started in this directory."""
    maker = _Maker(log, directory)
    events = events_of(log)
    event = next(events, None)
    for when, call in zip(effect(log.calls, log.objects).tolist(), calls_of(log), strict=True):
        while event is not None and event.when < when:
            maker.event(event)
            event = next(events, None)
        maker.call(call)
    while event is not None:
        maker.event(event)
        event = next(events, None)
    return maker.made()


_WATCHED = ("file", "directory")


class _Maker:
    """Takes calls and events in the order in which they took effect."""

    def __init__(self, log: Log, directory: str) -> None:
        self._log = log
        self._tree = Tree(log)
        self._paths = Paths(log, directory)
        self._descriptors = Descriptors()
        self._operations = Operations(self._tree)
        self._modes = log.objects["mode"].tolist()
        self._streams = Streams(log, self._operations, self._paths, self._descriptors, self._mode)
        self._messages = Messages(self._operations, self._paths)
        self._futexes = Futexes(self._operations)
        self._notices = Notices(self._operations, self._descriptors)
        self._names: dict[tuple[str, int, str], int] = {}  # places of entries in their directories
        self._locks = FileLocks(log, self._operations, self._paths)
        self._removed: dict[tuple[int, str], int] = {}
        self._interrupted = set(_interrupted(log))
        self._exits: dict[int, int] = {}  # operation by which a process ended
        self._lent: dict[int, int] = {}  # of a child that has its parent's memory: who made it
        self._given_back: dict[int, int] = {}  # to whom: operation
        self._last_call: dict[int, Call] = {}  # that ended a process
        self._first = np.zeros(len(log.calls), dtype=np.int64)
        self._outside = {log.ending.standard_output, log.ending.standard_error}

    # ---- calls

    def call(self, call: Call) -> None:
        """The next call."""
        self._operations.actor(call.thread)
        self._paths.take(call)
        self._first[call.number] = len(self._operations)
        self._directory(call)
        for micro in micros(call, self._mode):
            self._do(call, micro)
        self._also(call)
        if self._first[call.number] == len(self._operations):
            self._operations.add(call.thread, OpKind.OTHER, 0, call=call)
        self._lends(call)
        self._notices.follow(call)
        gone = self._descriptors.follow(call)
        self._closed(call.thread, call)
        for handle in gone:
            self._let_go(call.thread, handle, call)
        self._streams.follow(call)

    def _lends(self, call: Call) -> None:
        """Who made a child by vfork goes on when that runs a program, or ends."""
        if call.thread in self._given_back:
            first = int(self._first[call.number])
            self._operations.edge(self._given_back.pop(call.thread), first)
        if call.name == "vfork" and call.worked:
            self._lent[call.result] = call.thread

    def _gives_back(self, child: int) -> None:
        if child in self._lent and child in self._operations.last:
            self._given_back[self._lent.pop(child)] = self._operations.last[child]

    def _directory(self, call: Call) -> None:
        """Processes that have one working directory together: who changes it does so for all."""
        directory = self._tree.lives[call.thread].directory
        changes = call.name in _GOES and call.worked
        if directory in self._tree.shared_directories and (changes or call.from_working_directory):
            kind = OpKind.STORE if changes else OpKind.LOAD
            touched = self._operations.range("working directory", directory)
            about = Described(f"the working directory of process {directory}")
            self._operations.add(call.thread, kind, touched, call=call, about=about)

    def _mode(self, object_: int) -> int:
        return int(self._modes[object_])

    def _do(self, call: Call, micro: Micro) -> None:
        if micro.sort == "stream":
            self._streams.stream(call, micro)
        elif micro.sort[:3] in ipc.WORDS:
            self._access(call, micro)
        elif micro.sort == "listener":
            self._streams.listener(call, micro)
        elif micro.sort == "address":
            self._streams.address(call, micro)
        elif micro.sort == "queue name":
            self._streams.queue_name(call, micro)
        elif micro.sort in ("lock", "flock"):
            self._lock(call, micro)
        elif micro.object not in self._outside or micro.sort in OF_PROCESSES:
            for each in self._placed(call, micro):
                operation = self._access(call, each)
                self._entry_edges(call, each, operation)
                if each.kind is OpKind.STORE and each.sort in _WATCHED and call.worked:
                    self._notices.changed(each.object, operation)

    def _placed(self, call: Call, micro: Micro) -> Iterator[Micro]:
        """What lies in /proc is about processes."""
        if micro.sort == "file" and (process := self._paths.process(micro.object)) is not None:
            name = self._paths.of(micro.object).rpartition("/")[2]
            micro = Micro(micro.kind, "process", process, name=name)
        if (
            micro.sort == "directory"
            and micro.object == self._paths.proc
            and micro.name.isdecimal()
        ):
            micro = Micro(micro.kind, "process", int(micro.name))
        yield micro
        made = micro.sort == "process" and micro.kind is OpKind.STORE and call.result > 0
        if made and self._paths.proc and call.shape.gives == "process":
            yield Micro(OpKind.STORE, "directory", self._paths.proc, name=str(call.result))

    def _access(self, call: Call, micro: Micro) -> int:
        lo, hi = micro.lo, micro.hi
        if micro.name:
            place = micro.sort, micro.object, micro.name
            lo = self._names.setdefault(place, len(self._names))
            hi = lo + 1
        touched = self._operations.range(*self._key(call, micro), lo=lo, hi=hi)
        about = described(micro, self._paths)
        return self._operations.add(
            call.thread, micro.kind, touched, call=call, flags=micro.flags, about=about
        )

    def _key(self, call: Call, micro: Micro) -> tuple[object, ...]:
        if micro.sort[:3] in ipc.WORDS:
            return micro.sort, micro.object
        if micro.sort in OF_PROCESSES:
            life = self._tree.lives.get(micro.object)
            return micro.sort, life.process if life else micro.object
        if micro.sort == "position":
            handle = self._descriptors.handle(call.thread, call.descriptor(), call.object)
            return "position", handle.number
        return micro.sort, micro.object, self._paths.life(micro.object)

    def _entry_edges(self, call: Call, micro: Micro, operation: int) -> None:
        """Who may make an entry that must not be there comes after the one who took it away."""
        if micro.sort != "directory" or micro.kind is not OpKind.STORE or not call.worked:
            return
        place, source = (micro.object, micro.name), call.entry()
        if call.name in _REMOVES and source and place == (source.directory, source.name):
            self._removed[place] = operation
        elif call.needs_absence and place in self._removed:
            self._operations.edge(self._removed.pop(place), operation, EdgeKind.CHANCE)

    # ---- locks

    def _lock(self, call: Call, micro: Micro) -> None:
        """A lock of fcntl is its process's, another one the open file's."""
        owner: Owner = self._tree.lives[call.thread].process
        if call.name == "flock" or call.arguments[1] in OPEN_FILES_LOCK:
            owner = self._descriptors.handle(call.thread, call.descriptor(), call.object)
        if micro.kind is OpKind.RELEASE:
            self._locks.give(call, micro, owner)
        else:
            self._locks.take(call, micro, owner)

    def _closed(self, thread: int, call: Call | None) -> None:
        """Who closes any descriptor of a file gives back its process's locks there."""
        process = self._tree.lives[thread].process
        closed = {handle.object for handle in self._descriptors.just_closed()}
        if call is not None and call.name == "close":
            closed.add(call.object)
        for object_ in sorted(closed):
            self._locks.drop(thread, call, process, object_)

    def _let_go(self, thread: int, handle: Handle, call: Call | None) -> None:
        """Nobody has this open file any more."""
        self._locks.drop(thread, call, handle, handle.object)
        self._streams.let_go(thread, handle, call)

    # ---- lives

    def _also(self, call: Call) -> None:
        """Ends of processes, waiting for them, and waiting for one of several."""
        self._streams.poll(call)
        self._streams.tokens(call)
        self._messages.follow(call)
        self._futexes.follow(call)
        if call.name == "exit_group":
            self._ends(call.thread, call)
        elif call.name in ("wait4", "waitid") and call.worked:
            self._waits(call)
        elif call.name in ("wait4", "waitid") and call.number in self._interrupted:
            flags = OpFlag.WILDCARD | OpFlag.FAILED
            touched = self._children(call.thread)
            self._operations.add(
                call.thread, OpKind.WAIT, touched, call=call, flags=flags, about=_CHILDREN
            )

    def _ends(self, thread: int, call: Call | None = None) -> None:
        life = self._tree.lives[thread]
        if call is not None:
            self._last_call[thread] = call
        parent = self._tree.lives.get(life.process, life).parent
        if life.process in self._exits or parent is None:
            return
        for child in self._tree.children(life.process):
            if child not in self._exits and self._operations.knows(child):
                touched = self._operations.range("parent", child)
                about = Described(f"the parent of process {child}")
                self._operations.add(thread, OpKind.STORE, touched, call=call, about=about)
        operation = self._operations.add(
            thread, OpKind.WAKE, self._children(parent), call=call, about=_CHILDREN
        )
        self._exits[life.process] = operation
        self._streams.ended(life.process, operation, call)

    def _children(self, thread: int) -> int:
        process = self._tree.lives[thread].process
        return self._operations.range("children", process)

    def _waits(self, call: Call) -> None:
        child = call.child
        flags = OpFlag.WILDCARD if call.waits_for_any else OpFlag.NONE
        if child not in self._exits:
            return
        touched = self._children(call.thread)
        operation = self._operations.add(
            call.thread, OpKind.WAIT, touched, call=call, flags=flags, about=_CHILDREN
        )
        self._operations.edge(self._exits[child], operation)
        if self._paths.proc:
            micro = Micro(OpKind.STORE, "directory", self._paths.proc, name=str(child))
            self._access(call, micro)

    def event(self, event: Event) -> None:
        """The next thing that happened to a process."""
        self._operations.actor(event.thread)
        if event.kind == EventKind.MADE:
            self._made(event)
        elif event.kind == EventKind.RUNS:
            self._gives_back(event.thread)
            gone = self._descriptors.executed(event.thread)
            self._closed(event.thread, None)
            for handle in gone:
                self._let_go(event.thread, handle, None)
        elif event.kind == EventKind.ENDED:
            self._gives_back(event.thread)
            self._ended(event.thread)
        elif event.kind == EventKind.SIGNALLED:
            self._signalled(event)

    def _made(self, event: Event) -> None:
        starter = self._operations.last.get(event.thread)
        self._operations.actor(
            event.other, parent=self._operations.actor(event.thread), started_by=starter
        )
        if event.value & CLONE_VFORK:
            self._lent[event.other] = event.thread
        shared = event.process != event.other or bool(event.value & CLONE_FILES)
        self._descriptors.forked(event.thread, event.other, shared=shared)
        begin = self._operations.add(event.other, OpKind.BEGIN, 0)
        if starter is not None:
            self._operations.edge(starter, begin)

    def _ended(self, thread: int) -> None:
        if self._tree.lives[thread].is_process:
            self._ends(thread)
            self._locks.drop_all(thread, self._last_call.get(thread), thread)
        if thread not in self._operations.last:
            self._operations.add(thread, OpKind.END, 0)
        for handle in self._descriptors.ended(thread):
            self._let_go(thread, handle, self._last_call.get(thread))

    def _signalled(self, event: Event) -> None:
        sender = self._exits.get(event.value, self._operations.last.get(event.value))
        got = self._operations.add(event.thread, OpKind.OTHER, 0)
        # Who is told that a child has ended would have gone on without; who needs it waits for it.
        if sender is not None and event.value != event.thread and event.other != signal.SIGCHLD:
            self._operations.edge(sender, got)

    def made(self) -> Traced:
        """The trace of all that was taken."""
        trace, call = self._operations.built()
        return Traced(
            log=self._log,
            tree=self._tree,
            trace=trace,
            call=call,
            first=self._first,
            about=tuple(self._operations.about),
            as_seen=self._operations.taken_as_seen(),
            by_futex=self._operations.taken_from_memory(),
        )


def _interrupted(log: Log) -> Iterator[int]:
    """Calls that a signal ended; that a child has ended only tells what the wait is for."""
    calls = log.calls
    for event in events_of(log):
        if event.kind != EventKind.SIGNALLED or event.other == signal.SIGCHLD:
            continue
        before = np.flatnonzero((calls["thread"] == event.thread) & (calls["left"] < event.when))
        if len(before):
            last = int(before[np.argmax(calls["left"][before])])
            if int(calls["result"][last].astype(np.int64)) in INTERRUPTED:
                yield last
