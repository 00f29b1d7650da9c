# SPDX-License-Identifier: Apache-2.0
"""Made-up traces of any size and several shapes, column by column, the same for the same seed.

Code is made of procedures of four places each; an actor runs one after the other, each on one
object. What a place does is fixed, as in a program. `scattered` alone has places at random.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eitherway.model.trace import (
    ACTOR,
    EDGE,
    NO_OPERATION,
    OBJECT,
    OPERATION,
    PLACE,
    RANGE,
    STACK,
    Table,
    Trace,
)
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World

STEPS = 4  # of a procedure

Column = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    operations: int = 1_000_000
    actors: int = 64
    objects: int = 100_000
    places: int = 1_000


def locked(size: Size) -> Trace:
    """No race: each object has its lock; acquire, load, store, release, one section at a time."""
    calls = _Calls(size, seed=1)
    thing = calls.rng.integers(0, size.objects // 2, calls.count)
    kinds = [OpKind.ACQUIRE, OpKind.LOAD, OpKind.STORE, OpKind.RELEASE]
    data = 1 + np.repeat(thing, STEPS)
    is_lock = np.tile([True, False, False, True], calls.count)
    return _trace(
        size,
        actor=calls.actor,
        kind=np.tile(kinds, calls.count),
        touches=np.where(is_lock, data + size.objects // 2, data),
        stack=calls.stack,
        edges=_handed_on(thing),
    )


def nested(size: Size) -> Trace:
    """Two locks of all, taken in the order of their numbers but for one time in a hundred."""
    calls = _Calls(size, seed=3)
    pair = calls.rng.integers(0, size.objects, (calls.count, 2))
    pair[:, 1] += pair[:, 0] == pair[:, 1]
    pair %= size.objects
    pair.sort(axis=1)
    odd = calls.rng.random(calls.count) < 0.01
    pair[odd] = pair[odd, ::-1]
    kinds = [OpKind.ACQUIRE, OpKind.ACQUIRE, OpKind.RELEASE, OpKind.RELEASE]
    return _trace(
        size,
        actor=calls.actor,
        kind=np.tile(kinds, calls.count),
        touches=1 + pair[:, [0, 1, 1, 0]].ravel(),
        stack=calls.stack,
        edges=np.zeros(0, dtype=EDGE),
    )


def transfers(size: Size) -> Trace:
    """Any two of a thousand locks, in any order, from one place: many rings, all alike."""
    calls = _Calls(size, seed=7)
    locks = min(size.objects, 1_000)
    first = calls.rng.integers(0, locks, calls.count)
    second = (first + calls.rng.integers(1, locks, calls.count)) % locks
    kinds = [OpKind.ACQUIRE, OpKind.ACQUIRE, OpKind.RELEASE, OpKind.RELEASE]
    return _trace(
        size,
        actor=calls.actor,
        kind=np.tile(kinds, calls.count),
        touches=1 + np.stack([first, second, second, first], axis=1).ravel(),
        stack=np.tile(1 + np.arange(STEPS), calls.count),
        edges=np.zeros(0, dtype=EDGE),
    )


def holding(size: Size) -> Trace:
    """Each actor takes thousands of locks, all in one order, and gives them back at the end."""
    locks = min(size.operations // (2 * size.actors), size.objects)
    turn = np.arange(2 * locks)
    taking = turn < locks
    return _trace(
        size,
        actor=np.repeat(np.arange(size.actors), len(turn)),
        kind=np.tile(np.where(taking, int(OpKind.ACQUIRE), int(OpKind.RELEASE)), size.actors),
        touches=np.tile(1 + turn % locks, size.actors),
        stack=np.tile(np.where(taking, 1, 2), size.actors),
        edges=np.zeros(0, dtype=EDGE),
    )


def unordered(size: Size) -> Trace:
    """Loads and stores anywhere by anybody, with nothing between them."""
    return _accesses(size, stores=0.3, edges=0)


def meeting(size: Size) -> Trace:
    """Loads and stores anywhere, and a random edge at every tenth operation."""
    return _accesses(size, stores=0.3, edges=size.operations // 10)


def read_mostly(size: Size) -> Trace:
    """One place in a hundred stores, and there is a random edge at every tenth operation."""
    return _accesses(size, stores=0.01, edges=size.operations // 10)


def hot(size: Size) -> Trace:
    """All actors on one object, and a random edge at every other operation."""
    return _accesses(replace(size, objects=1), stores=0.3, edges=size.operations // 2)


def overlapping(size: Size) -> Trace:
    """As `meeting`, on parts of a thousandth of the objects that overlap one another."""
    trace = meeting(size)
    rng = np.random.default_rng(4)
    ranges = trace.ranges.copy()
    ranges["object"][1:] = 1 + np.arange(size.objects) // 1_000
    ranges["lo"][1:] = rng.integers(0, 8_000, size.objects)
    ranges["hi"][1:] = ranges["lo"][1:] + rng.integers(1, 64, size.objects)
    return replace(trace, ranges=ranges)


def scattered(size: Size) -> Trace:
    """As `unordered`, with every access at any place: as many pairs of places as there can be."""
    trace = unordered(size)
    rng = np.random.default_rng(5)
    operations = trace.operations.copy()
    operations["stack"] = 1 + rng.integers(0, size.places, len(operations))
    return replace(trace, operations=operations)


def streams(size: Size) -> Trace:
    """Pipes: two writers WAKE, a reader WAITs; it is up to 16 writes behind."""
    rng = np.random.default_rng(6)
    count, pipes = size.operations // 2, max(size.objects // 100, 1)
    pipe = rng.integers(0, pipes, count)
    which = rng.integers(0, 2, count)
    writer = (2 * pipe + which) % size.actors
    reader = (2 * pipe + 2) % size.actors
    ahead = min(16, count)
    kind = np.r_[np.full(count, int(OpKind.WAKE)), np.full(count, int(OpKind.WAIT))]
    seen = np.argsort(np.r_[np.arange(count), np.arange(count) + ahead], kind="stable")
    position = np.empty(2 * count, dtype=np.int64)
    position[seen] = np.arange(2 * count)
    edges = np.zeros(count, dtype=EDGE)
    edges["source"], edges["target"] = position[:count], position[count:]
    edges["kind"] = EdgeKind.INHERENT
    flags = np.r_[np.full(count, int(OpFlag.CUMULATIVE)), np.full(count, int(OpFlag.WILDCARD))]
    trace = _trace(
        size,
        actor=np.r_[writer, reader][seen],
        kind=kind[seen],
        touches=1 + np.r_[pipe, pipe][seen],
        stack=1 + np.r_[STEPS * pipe + which, STEPS * pipe + 2][seen] % size.places,
        edges=edges,
    )
    trace.operations["flags"] = flags[seen]
    return replace(trace, world=World.PROCESSES)


class _Calls:
    """Calls of procedures, and their columns of operations."""

    def __init__(self, size: Size, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.count = size.operations // STEPS
        self.actor = np.repeat(self.rng.integers(0, size.actors, self.count), STEPS)
        procedure = np.repeat(self.rng.integers(0, size.places // STEPS, self.count), STEPS)
        self.stack = 1 + procedure * STEPS + np.tile(np.arange(STEPS), self.count)


def _accesses(size: Size, stores: float, edges: int) -> Trace:
    calls = _Calls(size, seed=2)
    touches = 1 + calls.rng.integers(0, size.objects, calls.count)
    stored = calls.rng.random(size.places + 1) < stores
    return _trace(
        size,
        actor=calls.actor,
        kind=np.where(stored[calls.stack], int(OpKind.STORE), int(OpKind.LOAD)),
        touches=np.repeat(touches, STEPS),
        stack=calls.stack,
        edges=_random_edges(calls.rng, calls.count * STEPS, edges),
    )


def _handed_on(thing: Column) -> Table:
    """From the release of each section to the next acquire of the same lock."""
    order = np.argsort(thing, kind="stable")
    follows = thing[order][1:] == thing[order][:-1]
    edges = np.zeros(int(follows.sum()), dtype=EDGE)
    edges["source"] = STEPS * order[:-1][follows] + STEPS - 1
    edges["target"] = STEPS * order[1:][follows]
    edges["kind"] = EdgeKind.CHANCE
    return edges


def _random_edges(rng: np.random.Generator, operations: int, count: int) -> Table:
    """Edges over short distances, as wake-ups and lock hand-overs have."""
    edges = np.zeros(count if operations > 1 else 0, dtype=EDGE)
    edges["source"] = rng.integers(0, max(operations - 1, 1), len(edges))
    distance = rng.integers(1, 1_000, len(edges))
    edges["target"] = np.minimum(edges["source"] + distance, operations - 1)
    edges["kind"] = EdgeKind.INHERENT
    return edges


def _trace(
    size: Size, *, actor: Column, kind: Column, touches: Column, stack: Column, edges: Table
) -> Trace:
    operations = np.zeros(len(actor), dtype=OPERATION)
    operations["actor"], operations["kind"] = actor, kind
    operations["range"], operations["stack"] = touches, stack
    place = np.arange(size.places + 1)
    return Trace(
        world=World.THREADS,
        strings=("", "memory", *(f"f{i}" for i in range(size.places // STEPS + 1))),
        actors=_table(ACTOR, size.actors, parent=0, started_by=NO_OPERATION),
        objects=_table(OBJECT, size.objects + 1, kind=1),
        ranges=_table(RANGE, size.objects + 1, object=np.arange(size.objects + 1), hi=8),
        places=_table(
            PLACE, len(place), line=place, function=2 + np.maximum(place - 1, 0) // STEPS
        ),
        stacks=_table(STACK, len(place), place=place),
        operations=operations,
        edges=edges,
    )


def _table(dtype: np.dtype[np.void], count: int, **columns: int | Column) -> Table:
    table = np.zeros(count, dtype=dtype)
    for name, column in columns.items():
        table[name] = column
    return table


SHAPES: dict[str, Callable[[Size], Trace]] = {
    "locked": locked,
    "nested": nested,
    "transfers": transfers,
    "holding": holding,
    "unordered": unordered,
    "meeting": meeting,
    "read-mostly": read_mostly,
    "hot": hot,
    "overlapping": overlapping,
    "scattered": scattered,
    "streams": streams,
}
