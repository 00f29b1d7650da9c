# SPDX-License-Identifier: Apache-2.0
"""The operations of a trace as calls become them: actors, objects, places, and what orders them."""

from collections.abc import Iterable

import numpy as np

from eitherway.model.described import Described
from eitherway.model.place import Place
from eitherway.model.trace import Table, Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.tree import Tree

NO_CALL = -1
_NOTHING = Described()


class Operations:
    """Of one run."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._builder = TraceBuilder(World.PROCESSES)
        self._actors: dict[int, int] = {}
        self._objects: dict[tuple[object, ...], int] = {}
        self._stacks: dict[tuple[str, str], int] = {}
        self._last_of: dict[int, tuple[int, int]] = {}  # of each process: thread, operation
        self._call_of: list[int] = []
        self._edges = 0
        self._between_threads: list[int] = []  # edges
        self._at_futexes: list[int] = []  # the same
        self.about: list[Described] = []
        self.last: dict[int, int] = {}  # of each thread

    def __len__(self) -> int:
        """How many there are."""
        return len(self._call_of)

    def actor(
        self, thread: int, *, parent: int | None = None, started_by: int | None = None
    ) -> int:
        """The actor that a thread is."""
        if thread not in self._actors:
            self._actors[thread] = self._builder.actor(
                self._tree.title(thread), parent=parent, started_by=started_by, native_id=thread
            )
        return self._actors[thread]

    def knows(self, thread: int) -> bool:
        """Whether it has done anything."""
        return thread in self._actors

    def range(self, *key: object, lo: int = 0, hi: int = 1) -> int:
        """A part of the object that this names; its first word says what it is."""
        if key not in self._objects:
            self._objects[key] = self._builder.object(str(key[0]))
        return self._builder.range(self._objects[key], lo, hi)

    def add(
        self,
        thread: int,
        kind: OpKind,
        touched: int,
        *,
        call: Call | None = None,
        flags: OpFlag = OpFlag.NONE,
        about: Described = _NOTHING,
    ) -> int:
        """The next one, of a call or of none."""
        stack = 0 if call is None else self._stack(thread, call)
        self._call_of.append(NO_CALL if call is None else call.number)
        self.about.append(about)
        number = self._builder.operation(
            self._actors[thread], kind, touched, stack=stack, flags=flags
        )
        self.last[thread] = number
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
            self._between_threads.append(self._edges)
            self.edge(before[1], operation)

    def edges(self, sources: Iterable[int], target: int) -> None:
        """All of these came before it, and had to."""
        for source in sources:
            self.edge(source, target)

    def edge(self, source: int, target: int, kind: EdgeKind = EdgeKind.INHERENT) -> None:
        """The one came before the other."""
        if source < target:
            self._builder.edge(source, target, kind)
            self._edges += 1

    def woken(self, source: int, target: int, kind: EdgeKind = EdgeKind.INHERENT) -> None:
        """The one came before the other by what memory says that they share."""
        if source < target:
            self._at_futexes.append(self._edges)
        self.edge(source, target, kind)

    def built(self) -> tuple[Trace, Table]:
        """The trace, and the call of each operation."""
        return self._builder.build(), np.array(self._call_of, dtype=np.int64)

    def taken_as_seen(self) -> Table:
        """Which edges are the order of threads of one process, which may be no order at all."""
        return self._mask(self._between_threads)

    def taken_from_memory(self) -> Table:
        """Which edges are of who was woken at a futex; it may be a lock that any can have first."""
        return self._mask(self._at_futexes)

    def _mask(self, edges: list[int]) -> Table:
        mask = np.zeros(self._edges, dtype=bool)
        mask[edges] = True
        return mask
