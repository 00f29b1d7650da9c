# SPDX-License-Identifier: Apache-2.0
"""Cuts out of a trace what a person needs to see of it to follow one race.

The racing operations themselves; then, as far as there is room, where the locks they held were
taken, how their actors came to be, what these did just before and after, and what that follows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np

from eitherway.detect.locks import Locks
from eitherway.model.finding import FoundOperation
from eitherway.model.history import Edge, History, Moment
from eitherway.model.identity import own_frame
from eitherway.model.trace import Table, Trace
from eitherway.model.words import STORES, EdgeKind, OpKind, World

MOST = 32  # moments: what a person can take in
_LIFE = 14  # operations on what processes race on
_BEFORE, _AFTER = 4, 3  # operations of an actor around each that races
_NEAR = 1 << 14  # operations of the trace among which these are looked for

Name = Callable[[int], FoundOperation]


class Histories:
    """Of the races of one trace."""

    def __init__(self, trace: Trace, locks: Locks, name: Name) -> None:
        self._trace = trace
        self._locks = locks
        self._name = name

    def of(self, operations: Sequence[int]) -> History:
        """The history of a race of these."""
        chosen = sorted(islice(dict.fromkeys(self._by_importance(operations)), MOST))
        rows = self._trace.operations
        actors = sorted({int(rows["actor"][index]) for index in chosen})
        named = {index: self._name(index) for index in chosen}
        words = {int(rows["actor"][index]): found.actor for index, found in named.items()}
        sides = {index: side for side, index in enumerate(operations, start=1)}
        moments = [
            _moment(
                index,
                actors.index(int(rows["actor"][index])),
                OpKind(int(rows["kind"][index])),
                named[index],
                sides.get(index, 0),
            )
            for index in chosen
        ]
        return History(
            actors=tuple(words[actor] for actor in actors),
            moments=tuple(moments),
            edges=tuple(self._edges_among(chosen)),
        )

    def _by_importance(self, operations: Sequence[int]) -> Iterator[int]:
        yield from operations
        near = list(operations)
        of_threads = (self._locks_of, self._births, self._neighbours)
        of_processes = (self._locks_of, self._ancestry, self._life)
        tree = self._trace.world is World.PROCESSES
        for step in of_processes if tree else of_threads:
            found = list(step(operations))
            near += found
            yield from found
        actors = set(self._trace.operations["actor"][list(operations)].tolist())
        for index in dict.fromkeys(near):
            yield from (s for s in self._sources(index) if self._actor(s) in actors)

    def _locks_of(self, operations: Iterable[int]) -> Iterator[int]:
        for index in operations:
            yield from (held.since for held in self._locks.held(index))

    def _births(self, operations: Iterable[int]) -> Iterator[int]:
        for actor in dict.fromkeys(map(self._actor, operations)):
            starter = self._trace.actor(actor).started_by
            if starter is not None:
                yield starter
                yield from (t for t in self._targets(starter) if self._actor(t) == actor)

    def _ancestry(self, operations: Iterable[int]) -> Iterator[int]:
        """Where the processes of a tree come from, up to its root."""
        line: list[int] = []
        for actor in dict.fromkeys(map(self._actor, operations)):
            at: int | None = actor
            while at is not None and at not in line:
                line.append(at)
                at = self._trace.actor(at).parent
        for actor in line:
            starter = self._trace.actor(actor).started_by
            if starter is not None:
                yield starter
                yield from (t for t in self._targets(starter) if self._actor(t) == actor)

    def _life(self, operations: Sequence[int]) -> Iterator[int]:
        """What anybody did with the same things: who changed them first, the nearest first."""
        rows, ranges = self._trace.operations, self._trace.ranges
        touched = ranges[np.unique(rows["range"][list(operations)])]
        place = ranges[rows["range"]]
        same = np.zeros(len(rows), dtype=bool)
        for one in touched:
            overlap = (place["lo"] < one["hi"]) & (one["lo"] < place["hi"])
            same |= (place["object"] == one["object"]) & overlap & (rows["range"] != 0)
        found = np.flatnonzero(same)
        distance = np.min([np.abs(found - index) for index in operations], axis=0)
        reads = ~np.isin(rows["kind"][found], [int(kind) for kind in STORES])
        yield from found[np.lexsort((distance, reads))][:_LIFE].tolist()

    def _neighbours(self, operations: Sequence[int]) -> Iterator[int]:
        """What synchronises, or touches the same objects."""
        rows, ranges = self._trace.operations, self._trace.ranges
        objects = np.unique(ranges["object"][rows["range"][list(operations)]])
        for index in operations:
            low = max(0, index - _NEAR)
            near = rows[low : index + _NEAR]
            told = near["kind"] >= int(OpKind.ACQUIRE)
            told |= np.isin(ranges["object"][near["range"]], objects)
            own = low + np.flatnonzero(told & (near["actor"] == rows["actor"][index]))
            at = int(np.searchsorted(own, index))
            yield from reversed(own[max(0, at - _BEFORE) : at].tolist())
            yield from own[at : at + 1 + _AFTER].tolist()

    def _edges_among(self, chosen: Sequence[int]) -> Iterator[Edge]:
        number = {index: n for n, index in enumerate(chosen)}
        for index in chosen:
            for edge in self._into(index):
                if (source := int(edge["source"])) in number:
                    chance = int(edge["kind"]) == EdgeKind.CHANCE
                    yield Edge(number[source], number[index], chance)

    def _actor(self, index: int) -> int:
        return int(self._trace.operations["actor"][index])

    def _sources(self, index: int) -> list[int]:
        found: list[int] = self._into(index)["source"].tolist()
        return found

    def _targets(self, index: int) -> list[int]:
        found: list[int] = _rows_with(self._by_source, "source", index)["target"].tolist()
        return found

    def _into(self, index: int) -> Table:
        return _rows_with(self._by_target, "target", index)

    @cached_property
    def _by_target(self) -> Table:
        return np.sort(self._trace.edges, order=["target", "source"])

    @cached_property
    def _by_source(self) -> Table:
        return np.sort(self._trace.edges, order=["source", "target"])


def _rows_with(edges: Table, column: str, index: int) -> Table:
    low, high = np.searchsorted(edges[column], [index, index + 1])
    found: Table = edges[low:high]
    return found


def _moment(index: int, actor: int, kind: OpKind, found: FoundOperation, side: int) -> Moment:
    return Moment(
        actor=actor,
        step=index,
        kind=kind,
        op=found.op,
        touched=found.touched,
        value=found.value,
        place=own_frame(found.stack),
        side=side,
    )
