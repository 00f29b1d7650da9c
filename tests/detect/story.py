# SPDX-License-Identifier: Apache-2.0
"""Traces told by hand: who did what to which thing, where in the code."""

from eitherway.model.place import Place
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World

WHOLE = (0, 1 << 32)


class Story:
    """Actors and things come into being when first named. A place is "function:line"."""

    def __init__(self, world: World = World.THREADS) -> None:
        self._builder = TraceBuilder(world)
        self._actors: dict[str, int] = {}
        self._things: dict[str, int] = {}
        self._released: dict[str, int] = {}
        self._lines = 0

    def does(
        self,
        actor: str,
        kind: OpKind,
        thing: str,
        *,
        at: str = "",
        part: tuple[int, int] = (0, 1),
        flags: OpFlag = OpFlag.NONE,
    ) -> int:
        if actor not in self._actors:
            self._actors[actor] = self._builder.actor(actor)
        if thing not in self._things:
            self._things[thing] = self._builder.object("thing", thing)
        return self._builder.operation(
            self._actors[actor],
            kind,
            self._builder.range(self._things[thing], *part),
            stack=self._builder.stack([self._place(at)]),
            flags=flags,
        )

    def _place(self, at: str) -> Place:
        self._lines += 1
        function, _, line = (at or f"main:{self._lines}").partition(":")
        return Place(function=function, file="story.c", line=int(line))

    def reads(self, actor: str, thing: str, *, at: str = "") -> int:
        return self.does(actor, OpKind.LOAD, thing, at=at)

    def writes(self, actor: str, thing: str, *, at: str = "") -> int:
        return self.does(actor, OpKind.STORE, thing, at=at)

    def takes(self, actor: str, lock: str, *, at: str = "", flags: OpFlag = OpFlag.NONE) -> int:
        taken = self.does(actor, OpKind.ACQUIRE, lock, at=at, flags=flags)
        if lock in self._released and not flags & (OpFlag.FAILED | OpFlag.BLOCKED):
            self._builder.edge(self._released[lock], taken, EdgeKind.CHANCE)
        return taken

    def gives(self, actor: str, lock: str, *, at: str = "") -> int:
        self._released[lock] = self.does(actor, OpKind.RELEASE, lock, at=at)
        return self._released[lock]

    def wakes(self, actor: str, queue: str, *, at: str = "", flags: OpFlag = OpFlag.NONE) -> int:
        return self.does(actor, OpKind.WAKE, queue, at=at, flags=flags)

    def waits(
        self, actor: str, queue: str, *by: int, at: str = "", flags: OpFlag = OpFlag.NONE
    ) -> int:
        """A WAIT that these WAKEs ended."""
        wait = self.does(actor, OpKind.WAIT, queue, at=at, flags=flags)
        for wake in by:
            self.orders(wake, wait)
        return wait

    def orders(self, source: int, target: int) -> None:
        self._builder.edge(source, target, EdgeKind.INHERENT)

    def trace(self) -> Trace:
        return self._builder.build()
