# SPDX-License-Identifier: Apache-2.0
"""From a log to a trace: calls become operations on objects, and what orders them edges."""

import signal
import stat
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from eitherway.model.described import Described
from eitherway.model.outcome import signal_name
from eitherway.model.trace import Place, Table, Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World
from eitherway.worlds.processes.calls import Call, call_of, calls_of
from eitherway.worlds.processes.descriptors import Descriptors, Handle
from eitherway.worlds.processes.log import EventKind, Log, effect
from eitherway.worlds.processes.meaning import BYTES, PART_WORDS, Micro, is_anonymous, micros
from eitherway.worlds.processes.paths import Paths
from eitherway.worlds.processes.pipes import Pipes
from eitherway.worlds.processes.sockets import Sockets
from eitherway.worlds.processes.tree import Event, Tree, events_of

NO_CALL = -1
_OF_PROCESSES = {
    "process": "process",
    "disposition": "what is done with signals by",
    "signals": "signals to",
    "parent": "the parent of",
}
_REMOVES = {"unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2"}
_NOTHING, _CHILDREN = Described(), Described("children")


@dataclass(frozen=True, slots=True)
class Traced:
    """A trace, and how its operations and the calls of the log belong together."""

    log: Log
    tree: Tree
    trace: Trace
    call: Table  # of each operation; NO_CALL of what is no call
    first: Table  # operation of each call
    about: tuple[Described, ...]

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
    for when, call in zip(effect(log.calls).tolist(), calls_of(log), strict=True):
        while event is not None and event.when < when:
            maker.event(event)
            event = next(events, None)
        maker.call(call)
    while event is not None:
        maker.event(event)
        event = next(events, None)
    return maker.made()


class _Maker:
    """Takes calls and events in the order in which they took effect."""

    def __init__(self, log: Log, directory: str) -> None:
        self._log = log
        self._tree = Tree(log)
        self._paths = Paths(log, directory)
        self._descriptors = Descriptors()
        self._builder = TraceBuilder(World.PROCESSES)
        self._modes = log.objects["mode"].tolist()
        self._actors: dict[int, int] = {}
        self._last: dict[int, int] = {}  # operation of each thread
        self._last_of: dict[int, tuple[int, int]] = {}  # of each process: thread, operation
        self._objects: dict[tuple[object, ...], int] = {}
        self._names: dict[tuple[str, int, str], int] = {}  # places of entries in their directories
        self._stacks: dict[tuple[str, str], int] = {}
        self._pipes = Pipes()
        self._sockets = Sockets(log)
        self._came: dict[Hashable, deque[int]] = defaultdict(deque)
        self._locked: dict[tuple[object, ...], set[object]] = defaultdict(set)
        self._released: dict[tuple[object, ...], int] = {}
        self._removed: dict[tuple[int, str], int] = {}
        self._exits: dict[int, int] = {}  # operation by which a process ended
        self._call_of: list[int] = []
        self._about: list[Described] = []
        self._first = np.zeros(len(log.calls), dtype=np.int64)
        self._outside = {log.ending.standard_output, log.ending.standard_error}

    # ---- calls

    def call(self, call: Call) -> None:
        """The next call."""
        self._actor(call.thread)
        self._paths.take(call)
        self._first[call.number] = len(self._call_of)
        for micro in micros(call, self._mode):
            self._do(call, micro)
        self._also(call)
        if self._first[call.number] == len(self._call_of):
            self._operation(call.thread, OpKind.OTHER, 0, call=call)
        self._sockets.follow(call)
        for handle in self._descriptors.follow(call):
            self._let_go(call.thread, handle)

    def _mode(self, object_: int) -> int:
        return int(self._modes[object_])

    def _do(self, call: Call, micro: Micro) -> None:
        if micro.sort == "stream":
            self._stream(call, micro)
        elif micro.sort == "listener":
            self._listener(call, micro)
        elif micro.sort == "lock":
            self._lock(call, micro)
        elif micro.object not in self._outside or micro.sort in _OF_PROCESSES:
            for each in self._placed(call, micro):
                operation = self._access(call, each)
                self._entry_edges(call, each, operation)

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
        owner = self._object(*self._key(call, micro))
        touched = self._builder.range(owner, lo, hi)
        described = self._described(micro)
        return self._operation(
            call.thread, micro.kind, touched, call=call, flags=micro.flags, about=described
        )

    def _key(self, call: Call, micro: Micro) -> tuple[object, ...]:
        if micro.sort in _OF_PROCESSES:
            life = self._tree.lives.get(micro.object)
            return micro.sort, life.process if life else micro.object
        if micro.sort == "position":
            handle = self._descriptors.handle(call.thread, call.descriptor(), call.object)
            return "position", handle.number
        return micro.sort, micro.object, self._paths.life(micro.object)

    def _described(self, micro: Micro) -> Described:
        if micro.sort == "directory":
            if not micro.name:
                return Described("directory", self._paths.of(micro.object), "all entries")
            return Described("entry", self._paths.entry(micro.object, micro.name))
        if micro.sort == "process":
            return Described("process", f"/proc/{micro.object}/{micro.name}".rstrip("/"))
        if micro.sort in _OF_PROCESSES:
            part = _signal_words(micro) if micro.sort != "parent" else ""
            return Described(f"{_OF_PROCESSES[micro.sort]} process {micro.object}", part=part)
        path = self._paths.of(micro.object)
        if micro.sort == "position":
            return Described("position in", path)
        return Described("file", path, PART_WORDS.get((micro.lo, micro.hi)) or _bytes(micro))

    def _entry_edges(self, call: Call, micro: Micro, operation: int) -> None:
        """Who may make an entry that must not be there comes after the one who took it away."""
        if micro.sort != "directory" or micro.kind is not OpKind.STORE or not call.worked:
            return
        place = micro.object, micro.name
        if call.name in _REMOVES:
            self._removed[place] = operation
        elif place in self._removed:
            self._edge(self._removed.pop(place), operation, EdgeKind.CHANCE)

    # ---- pipes

    def _stream(self, call: Call, micro: Micro) -> None:
        if micro.object in self._outside:
            return
        wakes = micro.kind is OpKind.WAKE
        key = self._stream_key(call, micro.object, wakes=wakes)
        if key is None:
            return
        sort = "pipe" if stat.S_ISFIFO(self._mode(micro.object)) else "socket"
        operation = self._operation(
            call.thread,
            micro.kind,
            self._builder.range(self._object(sort, *key)),
            call=call,
            flags=micro.flags,
            about=Described(sort, self._paths.of(micro.object)),
        )
        if wakes:
            self._pipes.write(key, call.result, operation)
        elif call.worked:
            every = is_anonymous(self._mode(micro.object))
            for source in self._pipes.read(key, call.result, every=every):
                self._edge(source, operation)

    def _stream_key(self, call: Call, object_: int, *, wakes: bool) -> tuple[int, int] | None:
        """What goes into a socket comes out of the one at its other end."""
        mode = self._mode(object_)
        if is_anonymous(mode):
            handle = self._descriptors.handle(call.thread, call.descriptor(), object_)
            return -1 - handle.number, 0
        if stat.S_ISSOCK(mode) and wakes:
            object_ = self._sockets.other_end(object_)
        return self._alive(object_) if object_ else None

    def _listener(self, call: Call, micro: Micro) -> None:
        """Connections are taken in the order in which they come."""
        place = self._sockets.listener(call)
        operation = self._operation(
            call.thread,
            micro.kind,
            self._builder.range(self._object("listener", place)),
            call=call,
            flags=micro.flags,
            about=Described("listening socket"),
        )
        came = self._came[place]
        if micro.kind is OpKind.WAKE:
            came.append(operation)
        elif came:
            self._edge(came.popleft(), operation)

    def _alive(self, object_: int) -> tuple[int, int]:
        return object_, self._paths.life(object_)

    # ---- locks

    def _lock(self, call: Call, micro: Micro) -> None:
        key = "lock", micro.object, self._paths.life(micro.object)
        owner: object = call.thread
        if call.name == "flock":
            owner = self._descriptors.handle(call.thread, call.descriptor(), call.object)
        about = Described("file lock", self._paths.of(micro.object))
        operation = self._operation(
            call.thread,
            micro.kind,
            self._builder.range(self._object(*key)),
            call=call,
            flags=micro.flags,
            about=about,
        )
        if micro.kind is OpKind.RELEASE:
            self._released[key] = operation
            self._locked[key].discard(owner)
        elif call.worked:
            self._locked[key].add(owner)
            if key in self._released:
                self._edge(self._released[key], operation, EdgeKind.CHANCE)

    def _let_go(self, thread: int, handle: Handle) -> None:
        """Nobody has this open file any more."""
        key = "lock", handle.object, self._paths.life(handle.object)
        if handle in self._locked.get(key, ()):
            touched = self._builder.range(self._object(*key))
            about = Described("file lock", self._paths.of(handle.object))
            released = self._operation(thread, OpKind.RELEASE, touched, about=about)
            self._released[key] = released
            self._locked[key].discard(handle)
        mode = self._mode(handle.object)
        if handle.writes and stat.S_ISFIFO(mode):
            self._pipes.let_go(self._alive(handle.object), self._last[thread])
        elif stat.S_ISSOCK(mode) and (other := self._sockets.other_end(handle.object)):
            self._pipes.let_go(self._alive(other), self._last[thread])

    # ---- lives

    def _also(self, call: Call) -> None:
        """Ends of processes, and waiting for them."""
        if call.name == "exit_group":
            self._ends(call.thread, call)
        elif call.name in ("wait4", "waitid") and call.worked:
            self._waits(call)

    def _ends(self, thread: int, call: Call | None = None) -> None:
        life = self._tree.lives[thread]
        parent = self._tree.lives.get(life.process, life).parent
        if life.process in self._exits or parent is None:
            return
        for child in self._tree.children(life.process):
            if child not in self._exits and child in self._actors:
                touched = self._builder.range(self._object("parent", child))
                about = Described(f"the parent of process {child}")
                self._operation(thread, OpKind.STORE, touched, call=call, about=about)
        self._exits[life.process] = self._operation(
            thread, OpKind.WAKE, self._children(parent), call=call, about=_CHILDREN
        )

    def _children(self, thread: int) -> int:
        process = self._tree.lives[thread].process
        return self._builder.range(self._object("children", process))

    def _waits(self, call: Call) -> None:
        child = call.child
        flags = OpFlag.WILDCARD if call.waits_for_any else OpFlag.NONE
        if child not in self._exits:
            return
        touched = self._children(call.thread)
        operation = self._operation(
            call.thread, OpKind.WAIT, touched, call=call, flags=flags, about=_CHILDREN
        )
        self._edge(self._exits[child], operation)
        if self._paths.proc:
            micro = Micro(OpKind.STORE, "directory", self._paths.proc, name=str(child))
            self._access(call, micro)

    def event(self, event: Event) -> None:
        """The next thing that happened to a process."""
        self._actor(event.thread)
        if event.kind == EventKind.MADE:
            self._made(event)
        elif event.kind == EventKind.RUNS:
            for handle in self._descriptors.executed(event.thread):
                self._let_go(event.thread, handle)
        elif event.kind == EventKind.ENDED:
            self._ended(event.thread)
        elif event.kind == EventKind.SIGNALLED:
            self._signalled(event)

    def _made(self, event: Event) -> None:
        starter = self._last.get(event.thread)
        self._actor(event.other, parent=self._actors[event.thread], started_by=starter)
        shared = event.process != event.other
        self._descriptors.forked(event.thread, event.other, shared=shared)
        begin = self._operation(event.other, OpKind.BEGIN, 0)
        if starter is not None:
            self._edge(starter, begin)

    def _ended(self, thread: int) -> None:
        if self._tree.lives[thread].is_process:
            self._ends(thread)
        if thread not in self._last:
            self._operation(thread, OpKind.END, 0)
        for handle in self._descriptors.ended(thread):
            self._let_go(thread, handle)

    def _signalled(self, event: Event) -> None:
        sender = self._exits.get(event.value, self._last.get(event.value))
        got = self._operation(event.thread, OpKind.OTHER, 0)
        # Who is told that a child has ended would have gone on without; who needs it waits for it.
        if sender is not None and event.value != event.thread and event.other != signal.SIGCHLD:
            self._edge(sender, got)

    # ---- building

    def _actor(
        self, thread: int, *, parent: int | None = None, started_by: int | None = None
    ) -> int:
        if thread not in self._actors:
            name = self._tree.title(thread)
            self._actors[thread] = self._builder.actor(
                name, parent=parent, started_by=started_by, native_id=thread
            )
        return self._actors[thread]

    def _object(self, *key: object) -> int:
        if key not in self._objects:
            self._objects[key] = self._builder.object(str(key[0]))
        return self._objects[key]

    def _operation(
        self,
        thread: int,
        kind: OpKind,
        touched: int,
        *,
        call: Call | None = None,
        flags: OpFlag = OpFlag.NONE,
        about: Described = _NOTHING,
    ) -> int:
        stack = 0 if call is None else self._stack(thread, call)
        self._call_of.append(NO_CALL if call is None else call.number)
        self._about.append(about)
        number = self._builder.operation(
            self._actors[thread], kind, touched, stack=stack, flags=flags
        )
        self._last[thread] = number
        self._after_sibling(thread, number)
        return number

    def _stack(self, thread: int, call: Call) -> int:
        """The call, by the program that made it."""
        words = self._tree.command(thread, call.when)
        key = call.name, words[0] if words else ""
        if key not in self._stacks:
            self._stacks[key] = self._builder.stack([Place(function=key[0], module=key[1])])
        return self._stacks[key]

    def _after_sibling(self, thread: int, operation: int) -> None:
        """What threads of one process do in its memory is not seen: their order stands as it is."""
        process = self._tree.lives[thread].process
        before = self._last_of.get(process, (thread, operation))
        self._last_of[process] = thread, operation
        if before[0] != thread:
            self._edge(before[1], operation)

    def _edge(self, source: int, target: int, kind: EdgeKind = EdgeKind.INHERENT) -> None:
        if source < target:
            self._builder.edge(source, target, kind)

    def made(self) -> Traced:
        """The trace of all that was taken."""
        return Traced(
            log=self._log,
            tree=self._tree,
            trace=self._builder.build(),
            call=np.array(self._call_of, dtype=np.int64),
            first=self._first,
            about=tuple(self._about),
        )


def _signal_words(micro: Micro) -> str:
    return signal_name(micro.lo) if micro.hi == micro.lo + 1 else ""


def _bytes(micro: Micro) -> str:
    if micro.hi - micro.lo > 1 << 40:
        return ""
    return f"bytes {micro.lo - BYTES} to {micro.hi - BYTES - 1}"
