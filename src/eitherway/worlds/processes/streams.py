# SPDX-License-Identifier: Apache-2.0
"""What one gives and another takes: bytes, connections, messages; and who polls for which."""

import stat
from collections import Counter, defaultdict, deque
from collections.abc import Hashable

import numpy as np

from eitherway.model.described import Described
from eitherway.model.words import OpFlag, OpKind
from eitherway.worlds.processes import ipc
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.descriptors import Descriptors, Handle
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.meaning import Micro, Mode, is_anonymous
from eitherway.worlds.processes.operations import Operations
from eitherway.worlds.processes.paths import Paths
from eitherway.worlds.processes.pipes import Pipes
from eitherway.worlds.processes.polls import Polls
from eitherway.worlds.processes.sockets import Address, Sockets

_POLLS = [number for number, call in CALLS.items() if "load readiness" in call.does]
_IN_MEMORY = {
    *("load readiness", "wait queue", "wake queue", "take and give semaphores"),
    *("load queue name", "store queue name", "wait and wake shared memory"),
}
_ANSWERED = {
    number: call.name
    for number, call in CALLS.items()
    if _IN_MEMORY & set(call.does) or call.name == "pidfd_send_signal"
}
_READINESS = Described("readiness")


class Streams:
    """Of one run, call after call."""

    def __init__(
        self, log: Log, operations: Operations, paths: Paths, descriptors: Descriptors, mode: Mode
    ) -> None:
        self._log = log
        self._operations = operations
        self._paths = paths
        self._descriptors = descriptors
        self._mode = mode
        self._pipes = Pipes()
        self._sockets = Sockets(log)
        self._named: dict[Address, str] = {}  # those that are names of files
        self._came: dict[Hashable, deque[int]] = defaultdict(deque)
        self._polls = Polls(log, descriptors)
        self._has_polls = bool(np.isin(log.calls["number"], _POLLS).any())
        self._process_of: dict[int, int] = {}  # handles that tell of the end of a process
        self._exits: dict[int, int] = {}
        self._outside = {log.ending.standard_output, log.ending.standard_error}

    def stream(self, call: Call, micro: Micro) -> None:
        """Bytes go in or come out."""
        if micro.object in self._outside:
            return
        micro = self._by_end(call, micro)
        wakes = micro.kind is OpKind.WAKE
        key = self._key(call, micro.object, wakes=wakes)
        if key is None:
            return
        sort = "pipe" if stat.S_ISFIFO(self._mode(micro.object)) else "socket"
        operation = self._operations.add(
            call.thread,
            micro.kind,
            self._operations.range(sort, *key),
            call=call,
            flags=micro.flags,
            about=Described(sort, self._paths.of(micro.object)),
        )
        if wakes:
            if not self._pipes.ready(key):
                self._makes_ready(call, key)
            self._pipes.write(key, self._sockets.amount(call, micro.object), operation)
        elif "look at stream" in call.shape.does:
            self._operations.edges(self._pipes.ready(key), operation)
        elif call.worked:
            every = is_anonymous(self._mode(micro.object))
            amount = self._sockets.amount(call, micro.object)
            self._operations.edges(self._pipes.read(key, amount, every=every), operation)

    def _by_end(self, call: Call, micro: Micro) -> Micro:
        """vmsplice gives to the writing end of a pipe, and takes from the other."""
        if "take or give stream" not in call.shape.does:
            return micro
        handle = self._descriptors.handle(call.thread, call.descriptor(), call.object)
        takes = micro._replace(kind=OpKind.WAIT, flags=OpFlag.WILDCARD)
        return micro if handle.writes else takes

    def _key(self, call: Call, object_: int, *, wakes: bool) -> tuple[int, int] | None:
        """What goes into a socket comes out of the one at its other end."""
        mode = self._mode(object_)
        if is_anonymous(mode):
            handle = self._descriptors.handle(call.thread, call.descriptor(), object_)
            return -1 - handle.number, 0
        if stat.S_ISSOCK(mode) and wakes:
            object_ = self._sockets.other_end(object_) or self._sockets.receiver(call)
        return self._alive(object_) if object_ else None

    def listener(self, call: Call, micro: Micro) -> None:
        """Connections are taken in the order in which they come."""
        place = self._sockets.listener(call)
        operation = self._operations.add(
            call.thread,
            micro.kind,
            self._operations.range("listener", place),
            call=call,
            flags=micro.flags,
            about=Described("listening socket"),
        )
        came = self._came[place]
        if micro.kind is OpKind.WAKE:
            if not came:
                self._makes_ready(call, place)
            came.append(operation)
        elif came:
            self._operations.edge(came.popleft(), operation)

    def address(self, call: Call, micro: Micro) -> None:
        """Who listens at it is found by who connects, and nobody else may have it."""
        if address := self._sockets.address(call):
            self._about_address(call.thread, micro.kind, address, call, micro.flags)

    def _about_address(
        self,
        thread: int,
        kind: OpKind,
        address: Address,
        call: Call | None,
        flags: OpFlag = OpFlag.NONE,
    ) -> None:
        if call and (entry := call.entry()):
            self._named[address] = self._paths.entry(entry.directory, entry.name)
        self._operations.add(
            thread,
            kind,
            self._operations.range("address", address),
            call=call,
            flags=flags,
            about=Described("address", self._named.get(address, str(address))),
        )

    def queue_name(self, call: Call, micro: Micro) -> None:
        """Where those who open a queue of POSIX find it."""
        self._operations.add(
            call.thread,
            micro.kind,
            self._operations.range("queue name", micro.object),
            call=call,
            flags=micro.flags,
            about=Described("message queue", f"/{self._log.text(micro.object)}"),
        )

    def tokens(self, call: Call) -> None:
        """Messages and semaphores."""
        for token in ipc.tokens(call, self._log):
            key, wakes = (ipc.sort_of(call), token.of), token.kind is OpKind.WAKE
            operation = self._operations.add(
                call.thread,
                token.kind,
                self._operations.range("tokens", *key),
                call=call,
                flags=OpFlag.CUMULATIVE if wakes else OpFlag.WILDCARD,
                about=Described(f"{ipc.WORDS[ipc.sort_of(call)]} {token.owner}"),
            )
            if token.afresh:
                self._pipes.afresh(key)
            if wakes:
                self._pipes.write(key, token.amount, operation)
            else:
                self._operations.edges(self._pipes.read(key, token.amount), operation)

    # ---- one of several

    def _makes_ready(self, call: Call, what: Hashable) -> None:
        """There was nothing before: who polls would find another answer from now on."""
        if self._has_polls:
            self._about_readiness(call, OpKind.STORE, what)

    def _about_readiness(self, call: Call, kind: OpKind, what: Hashable) -> int:
        touched = self._operations.range("readiness", what)
        return self._operations.add(call.thread, kind, touched, call=call, about=_READINESS)

    def poll(self, call: Call) -> None:
        """What was ready came before; what was not could have been."""
        for polled in self._polls.of(call):
            handle = self._descriptors.handle(call.thread, polled.descriptor)
            if (found := self._polled(handle)) is not None:
                what, sources = found
                operation = self._about_readiness(call, OpKind.LOAD, what)
                self._operations.edges(sources if polled.ready else [], operation)

    def _polled(self, handle: Handle) -> tuple[Hashable, list[int]] | None:
        """What is polled by a descriptor, and what has made it ready."""
        mode = self._mode(handle.object)
        if (process := self._process_of.get(handle.number)) is not None:
            return ("end", process), [self._exits[process]] if process in self._exits else []
        if stat.S_ISSOCK(mode) and (place := self._sockets.bound(handle.object)) is not None:
            return place, list(self._came[place])[:1]
        if is_anonymous(mode):
            key: Hashable = (-1 - handle.number, 0)
        elif stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            key = self._alive(handle.object)
        else:
            return None
        return key, self._pipes.ready(key)

    # ---- what becomes of descriptors and processes

    def follow(self, call: Call) -> None:
        """Learn from a call that is over, and whose descriptors are known."""
        self._sockets.follow(call)
        if call.name == "pidfd_open" and call.worked:
            handle = self._descriptors.handle(call.thread, call.result)
            self._process_of[handle.number] = call.taken("process")

    def ended(self, process: int, operation: int, call: Call | None) -> None:
        """A process has: who polls for that finds out."""
        self._exits[process] = operation
        if call is not None and process in self._process_of.values():
            self._makes_ready(call, ("end", process))

    def let_go(self, thread: int, handle: Handle, call: Call | None) -> None:
        """Nobody has this open file any more: who reads at its other end comes to an end."""
        mode = self._mode(handle.object)
        if stat.S_ISSOCK(mode) and (address := self._sockets.given_back(handle.object)):
            self._about_address(thread, OpKind.STORE, address, call)
        if handle.writes and stat.S_ISFIFO(mode):
            self._pipes.let_go(self._alive(handle.object), self._operations.last[thread])
        elif stat.S_ISSOCK(mode) and (other := self._sockets.other_end(handle.object)):
            self._pipes.let_go(self._alive(other), self._operations.last[thread])

    def _alive(self, object_: int) -> tuple[int, int]:
        return object_, self._paths.life(object_)


def answered_in_memory(log: Log) -> dict[str, int]:
    """How often each call was made of which only the memory of a process tells what it found."""
    counts = Counter(map(int, log.calls["number"]))
    return {name: counts[number] for number, name in _ANSWERED.items() if counts[number]}
