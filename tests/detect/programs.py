# SPDX-License-Identifier: Apache-2.0
"""Random traces: bytes say who does what next, locks are respected, edges are thrown in.

Bytes instead of many small choices: a thousand examples a second, and they still shrink.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from eitherway.model.place import Place
from eitherway.model.trace import Trace, TraceBuilder
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World


@dataclass
class Choices:
    """Small numbers out of bytes; zeros when they are used up."""

    data: bytes
    at: int = 0

    def below(self, count: int) -> int:
        value = self.data[self.at] if self.at < len(self.data) else 0
        self.at += 1
        return value % count

    def chance(self, of: int) -> bool:
        return self.below(of) == 1

    @property
    def left(self) -> bool:
        return self.at < len(self.data)


@dataclass(frozen=True)
class Recipe:
    """How often each thing is done, and which things there are."""

    world: World = World.THREADS
    actors: int = 3
    places: int = 3
    access: int = 0
    lock: int = 0
    wake: int = 0
    cond: int = 0  # whole waits on a condition with a mutex
    edges: int = 6  # one operation in so many gets an edge from an earlier one
    atomics: bool = True
    ranges: int = 12
    locks: int = 4

    def kinds(self) -> list[str]:
        names = ("access", "lock", "wake", "cond")
        return [name for name in names for _ in range(getattr(self, name))]


@dataclass
class Lock:
    range: int
    holders: list[tuple[int, bool]] = field(default_factory=list)  # actor, shared
    released: list[int] = field(default_factory=list)

    def free_for(self, actor: int, shared: bool) -> bool:
        return all(a == actor or (s and shared) for a, s in self.holders)


class Maker:
    """Makes one trace."""

    def __init__(self, recipe: Recipe, choices: Choices) -> None:
        self.recipe, self.choices = recipe, choices
        self.builder = TraceBuilder(recipe.world)
        self.count = 0
        self.live = [self.builder.actor(f"actor {i}") for i in range(recipe.actors)]
        self.todo: dict[int, list[tuple[str, Lock]]] = {actor: [] for actor in self.live}
        data = [self.builder.object("memory", f"x{i}") for i in range(2)]
        spans = ((0, 4), (0, 2), (2, 4), (1, 3), (3, 5), (6, 8))
        every = [self.builder.range(o, lo, hi) for o in data for lo, hi in spans]
        self.ranges = every[: recipe.ranges]
        locks = (self.builder.object("mutex") for _ in range(recipe.locks))
        self.locks = [Lock(self.builder.range(lock)) for lock in locks]
        queues = [self.builder.object("queue") for _ in range(2)]
        parts = ((0, 1), (0, 2), (1, 2))
        self.queues = [self.builder.range(o, lo, hi) for o in queues for lo, hi in parts]
        self.wakes: list[int] = []
        self.stacks = self._stacks()

    def _stacks(self) -> list[int]:
        frames = [
            Place(function="fg"[i % 2], file="a.c", line=i) for i in range(self.recipe.places)
        ]
        callers = ((), (Place(function="main", file="a.c", line=100),))
        return [self.builder.stack((frame, *caller)) for frame in frames for caller in callers]

    def make(self) -> Trace:
        kinds = self.recipe.kinds()
        while self.choices.left and self.live:
            actor = self.live[self.choices.below(len(self.live))]
            if self.todo[actor]:
                name, lock = self.todo[actor].pop(0)
                self._step(actor, name, lock)
            else:
                kind = kinds[self.choices.below(len(kinds))]
                {
                    "access": self._access,
                    "lock": self._lock,
                    "wake": self._wake,
                    "cond": self._cond,
                }[kind](actor)
        return self.builder.build()

    def _do(self, actor: int, kind: OpKind, range_: int, flags: OpFlag = OpFlag.NONE) -> int:
        stack = self.stacks[self.choices.below(len(self.stacks))]
        index = self.builder.operation(actor, kind, range_, stack=stack, flags=flags)
        if index and self.choices.chance(self.recipe.edges):
            kinds = list(EdgeKind)
            source = index - 1 - self.choices.below(min(index, 8))
            self.builder.edge(source, index, kinds[self.choices.below(len(kinds))])
        self.count += 1
        return index

    def _access(self, actor: int) -> None:
        kind = (OpKind.LOAD, OpKind.STORE, OpKind.UPDATE)[self.choices.below(3)]
        atomic = self.recipe.atomics and self.choices.chance(3)
        number = self.choices.below(len(self.ranges) + 1)
        range_ = 0 if number == len(self.ranges) else self.ranges[number]
        self._do(actor, kind, range_, OpFlag.ATOMIC if atomic else OpFlag.NONE)

    def _lock(self, actor: int) -> None:
        lock = self.locks[self.choices.below(len(self.locks))]
        mine = [h for h in lock.holders if h[0] == actor]
        if mine and not self.choices.chance(4):
            self._release(actor, lock)
        else:
            shared = self.choices.chance(4)
            self._acquire(actor, lock, mine[0][1] if mine else shared)

    def _acquire(self, actor: int, lock: Lock, shared: bool) -> None:
        flags = OpFlag.SHARED if shared else OpFlag.NONE
        tries = self.choices.chance(5)
        if tries:
            flags |= OpFlag.TRY
        if not lock.free_for(actor, shared) or (tries and self.choices.chance(3)):
            self._refused(actor, lock, flags)
            return
        if any(a == actor for a, _ in lock.holders) and self.choices.chance(4):
            self._do(actor, OpKind.ACQUIRE, lock.range, (flags & ~OpFlag.TRY) | OpFlag.BLOCKED)
            self.live.remove(actor)
            return
        index = self._do(actor, OpKind.ACQUIRE, lock.range, flags)
        for source in lock.released[-2:]:
            self.builder.edge(source, index, EdgeKind.CHANCE)
        lock.holders.append((actor, shared))

    def _refused(self, actor: int, lock: Lock, flags: OpFlag) -> None:
        if flags & OpFlag.TRY or self.choices.chance(2):
            self._do(actor, OpKind.ACQUIRE, lock.range, flags | OpFlag.FAILED)
        elif self.choices.chance(2):
            self._do(actor, OpKind.ACQUIRE, lock.range, flags | OpFlag.BLOCKED)
            self.live.remove(actor)

    def _release(self, actor: int, lock: Lock) -> None:
        lock.holders.remove(next(h for h in lock.holders if h[0] == actor))
        lock.released.append(self._do(actor, OpKind.RELEASE, lock.range))

    def _wake(self, actor: int) -> None:
        range_ = self.queues[self.choices.below(len(self.queues))]
        if self.choices.chance(2):
            flags = (OpFlag.NONE, OpFlag.CUMULATIVE, OpFlag.FAILED)[self.choices.below(3)]
            self.wakes.append(self._do(actor, OpKind.WAKE, range_, flags))
        else:
            self._wait(actor, range_)

    def _wait(self, actor: int, range_: int) -> None:
        options = (OpFlag.WILDCARD, OpFlag.NONE, OpFlag.TRY, OpFlag.WILDCARD | OpFlag.TRY)
        flags = options[self.choices.below(len(options))]
        if self.choices.chance(6):
            self._do(actor, OpKind.WAIT, range_, flags | OpFlag.BLOCKED)
            self.live.remove(actor)
            return
        index = self._do(actor, OpKind.WAIT, range_, flags)
        for wake in self._some_wakes():
            self.builder.edge(wake, index)

    def _some_wakes(self) -> Iterator[int]:
        for _ in range(min(self.choices.below(3), len(self.wakes))):
            yield self.wakes[-1 - self.choices.below(min(len(self.wakes), 6))]

    def _cond(self, actor: int) -> None:
        """A waiter or a waker, as it should be or with something in the wrong place."""
        number = self.choices.below(len(self.locks))
        lock, next_one = self.locks[number], self.locks[(number + 1) % len(self.locks)]
        steps = _PARTS[self.choices.below(len(_PARTS))]
        if all(a != actor for a, _ in lock.holders):
            self.todo[actor] = [
                (name.rstrip("+"), next_one if name.endswith("+") else lock)
                for name in steps.split()
            ]

    def _step(self, actor: int, name: str, lock: Lock) -> None:
        held = any(a == actor for a, _ in lock.holders)
        if name == "take" and lock.free_for(actor, False) and not held:
            self._acquire(actor, lock, False)
        elif name == "give" and held:
            self._release(actor, lock)
        elif name == "wait":
            self._end(self._do(actor, OpKind.WAIT, self.queues[0]))
        elif name == "wake":
            self.wakes.append(self._do(actor, OpKind.WAKE, self.queues[0]))
        elif name in ("look", "store"):
            kind = OpKind.LOAD if name == "look" else OpKind.STORE
            self._do(actor, kind, self.ranges[self.choices.below(len(self.ranges))])

    def _end(self, wait: int) -> None:
        if self.wakes:
            self.builder.edge(self.wakes[-1], wait)


_PARTS = (  # with +: the next lock
    "take+ look take give+ give wait",
    "take+ store give+ take wake give",
    "take look give wait take give",
    "take store give wake",
    "take store wake give",
    "take wake store give",
    "store take wake give",
    "take give store wake",
    "wake take store give",
    "look take give wait take give",
    "wait",
    "store wake",
)


def traces(recipe: Recipe, size: int) -> st.SearchStrategy[Trace]:
    """Traces made of up to this many bytes, three or more to an operation."""
    smallest = size // 4
    return st.binary(min_size=smallest, max_size=size).map(
        lambda data: Maker(recipe, Choices(data)).make()
    )


def seeded(recipe: Recipe, seed: int, size: int = 120) -> Trace:
    """The trace of a number."""
    return Maker(recipe, Choices(Random(seed).randbytes(size))).make()  # noqa: S311 - no secret


ACCESSES = Recipe(access=5, lock=2)
TWO_ACTORS = Recipe(actors=2, access=1)
PROCESSES = Recipe(world=World.PROCESSES, actors=4, access=1, edges=3)
LOCKED = Recipe(access=3, lock=2, places=4, edges=20, ranges=3, locks=2)
LOCKS = Recipe(actors=4, lock=1, places=2, edges=12)
WAKES = Recipe(world=World.PROCESSES, wake=1, places=2, edges=5)
TWO_LOCKS = Recipe(cond=1, places=8, edges=60, ranges=1, locks=2)
CONDITIONS = Recipe(access=1, lock=1, cond=8, places=2, edges=30, ranges=2, locks=2)
