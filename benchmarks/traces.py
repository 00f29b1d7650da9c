# SPDX-License-Identifier: Apache-2.0
"""Made-up traces of any size and several shapes, column by column, the same for the same seed."""

from collections.abc import Callable
from dataclasses import dataclass

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
from eitherway.model.words import EdgeKind, OpKind, World

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
    rng = np.random.default_rng(1)
    sections = size.operations // 4
    actor = rng.integers(0, size.actors, sections)
    thing = rng.integers(0, size.objects // 2, sections)
    kinds = np.array([OpKind.ACQUIRE, OpKind.LOAD, OpKind.STORE, OpKind.RELEASE])
    data = 1 + np.repeat(thing, 4)
    lock = data + size.objects // 2
    is_lock = np.tile([True, False, False, True], sections)
    return _trace(
        size,
        actor=np.repeat(actor, 4),
        kind=np.tile(kinds, sections),
        range_=np.where(is_lock, lock, data),
        stack=1 + rng.integers(0, size.places, 4 * sections),
        edges=_handed_on(thing, kind=EdgeKind.CHANCE),
    )


def _handed_on(thing: Column, kind: EdgeKind) -> Table:
    """From the release of each section to the next acquire of the same lock."""
    order = np.argsort(thing, kind="stable")
    follows = thing[order][1:] == thing[order][:-1]
    edges = np.zeros(int(follows.sum()), dtype=EDGE)
    edges["source"] = 4 * order[:-1][follows] + 3
    edges["target"] = 4 * order[1:][follows]
    edges["kind"] = kind
    return edges


def unordered(size: Size) -> Trace:
    """Loads and stores anywhere by anybody, with nothing between them."""
    return _accesses(size, stores=0.3, edges=0)


def meeting(size: Size) -> Trace:
    """Loads and stores anywhere, and a random edge at every tenth operation."""
    return _accesses(size, stores=0.3, edges=size.operations // 10)


def read_mostly(size: Size) -> Trace:
    """One store in a hundred accesses, and a random edge at every tenth operation."""
    return _accesses(size, stores=0.01, edges=size.operations // 10)


def hot(size: Size) -> Trace:
    """All actors on one object, and a random edge at every other operation."""
    return _accesses(
        Size(size.operations, size.actors, 1, size.places), stores=0.3, edges=size.operations // 2
    )


def _accesses(size: Size, stores: float, edges: int) -> Trace:
    rng = np.random.default_rng(2)
    count = size.operations
    return _trace(
        size,
        actor=rng.integers(0, size.actors, count),
        kind=np.where(rng.random(count) < stores, int(OpKind.STORE), int(OpKind.LOAD)),
        range_=1 + rng.integers(0, size.objects, count),
        stack=1 + rng.integers(0, size.places, count),
        edges=_random_edges(rng, count, edges),
    )


def _random_edges(rng: np.random.Generator, operations: int, count: int) -> Table:
    """Edges over short distances, as wake-ups and lock hand-overs have."""
    edges = np.zeros(count if operations > 1 else 0, dtype=EDGE)
    edges["source"] = rng.integers(0, max(operations - 1, 1), len(edges))
    distance = rng.integers(1, 1_000, len(edges))
    edges["target"] = np.minimum(edges["source"] + distance, operations - 1)
    edges["kind"] = EdgeKind.INHERENT
    return edges


def _trace(  # noqa: PLR0913 - the columns of a trace
    size: Size, *, actor: Column, kind: Column, range_: Column, stack: Column, edges: Table
) -> Trace:
    operations = np.zeros(len(actor), dtype=OPERATION)
    operations["actor"], operations["kind"] = actor, kind
    operations["range"], operations["stack"] = range_, stack
    return Trace(
        world=World.THREADS,
        strings=("", "memory"),
        actors=_numbered(ACTOR, size.actors, parent=0, started_by=NO_OPERATION),
        objects=_numbered(OBJECT, size.objects + 1, kind=1),
        ranges=_numbered(RANGE, size.objects + 1, object=np.arange(size.objects + 1), hi=8),
        places=_numbered(PLACE, size.places + 1, line=np.arange(size.places + 1)),
        stacks=_numbered(STACK, size.places + 1, place=np.arange(size.places + 1)),
        operations=operations,
        edges=edges,
    )


def _numbered(dtype: np.dtype[np.void], count: int, **columns: int | Column) -> Table:
    table = np.zeros(count, dtype=dtype)
    for name, column in columns.items():
        table[name] = column
    return table


SHAPES: dict[str, Callable[[Size], Trace]] = {
    "locked": locked,
    "unordered": unordered,
    "meeting": meeting,
    "read-mostly": read_mostly,
    "hot": hot,
}
