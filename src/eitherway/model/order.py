# SPDX-License-Identifier: Apache-2.0
"""Happens-before of one run, by vector clocks.

A *segment* is a run of operations of one actor with no edge coming in behind its first operation
and none going out before its last: all its operations relate to other actors in the same way. So
clocks count segments, and only `BYTES_PER_OPERATION` more bytes are kept per operation.

Keeping a clock per segment would take segments x actors numbers. `sweep` hands them out one after
the other instead and keeps only those that a later segment still needs: the current one of each
living actor and one per edge under way. A clock never changes once made, so all of them are shared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from eitherway.model.distinct import distinct
from eitherway.model.trace import Table, Trace
from eitherway.model.words import EdgeKind

BYTES_PER_OPERATION = 4

Clock = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.uint32]

_NO_EDGE = (-1, -1)


@dataclass(frozen=True, slots=True)
class Order:
    """The partial order of a trace's operations.

    `clock[a]` of a segment is how many segments of actor `a` happened before it; the component of
    the segment's own actor is not kept up and means nothing.
    """

    trace: Trace
    segment: Numbers  # of each operation
    actor: Numbers  # of each segment
    number: Numbers  # of each segment among those of its actor, from 1
    first: Numbers  # operation of each segment; segments are numbered by it
    _sources: Numbers = field(repr=False)  # of each edge between segments, sorted by target
    _targets: Numbers = field(repr=False)

    @classmethod
    def of(cls, trace: Trace, kinds: tuple[EdgeKind, ...] = tuple(EdgeKind)) -> "Order":
        """The order made by program order and the trace's edges of these kinds."""
        edges = _crossing_edges(trace, kinds)
        segment, first = _segments(trace.operations["actor"], edges)
        actor = trace.operations["actor"][first].astype(np.uint32)
        sources, targets = _segment_edges(segment, edges)
        return cls(
            trace=trace,
            segment=segment,
            actor=actor,
            number=_numbers_within(actor),
            first=first,
            _sources=sources,
            _targets=targets,
        )

    def sweep(self) -> Iterator[tuple[int, Clock]]:
        """Each segment with its clock, by first operation: what happened before comes before."""
        nothing: Clock = np.zeros(len(self.trace.actors), dtype=np.uint32)
        current = [nothing] * len(self.trace.actors)
        last = _last_segments(self.actor, len(self.trace.actors))
        readers = np.bincount(self._sources, minlength=len(self.actor)).astype(np.uint32)
        pending = readers.data
        kept: dict[int, Clock] = {}
        edges = zip(self._targets.data, self._sources.data, strict=True)
        target, source = next(edges, _NO_EDGE)
        for segment, owner in enumerate(self.actor.data):
            clock = current[owner]
            while target == segment:
                clock = self._join(clock, source, kept[source])
                pending[source] -= 1
                if not pending[source]:
                    del kept[source]
                target, source = next(edges, _NO_EDGE)
            if pending[segment]:
                kept[segment] = clock
            current[owner] = nothing if last[owner] == segment else clock
            yield segment, clock

    def _join(self, clock: Clock, source: int, theirs: Clock) -> Clock:
        owner, number = self.actor[source], self.number[source]
        if clock[owner] >= number:
            return clock
        joined: Clock = np.maximum(clock, theirs)
        joined[owner] = max(joined[owner], number)
        return joined

    def before(self, earlier: npt.ArrayLike, later: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """For each pair of operations, whether the one happened before the other. One sweep."""
        a, b = _indices(earlier), _indices(later)
        result: npt.NDArray[np.bool_] = np.zeros(len(a), dtype=bool)
        operations = self.trace.operations["actor"]
        same = operations[a] == operations[b]
        result[same] = a[same] < b[same]
        others = np.flatnonzero(~same)
        questions = others[np.argsort(self.segment[b[others]], kind="stable")]
        for clock, group in self._groups(questions, self.segment[b[questions]]):
            sources = self.segment[a[group]]
            result[group] = self.number[sources] <= clock[self.actor[sources]]
        return result

    def _groups(
        self, questions: npt.NDArray[np.int64], segments: Numbers
    ) -> Iterator[tuple[Clock, npt.NDArray[np.int64]]]:
        """The questions, sorted by segment, with the clock of theirs."""
        asked, starts = np.unique(segments, return_index=True)
        clocks = self.sweep()
        for wanted, group in zip(asked.tolist(), np.split(questions, starts[1:]), strict=False):
            yield next(clock for segment, clock in clocks if segment == wanted), group

    def concurrent(self, one: npt.ArrayLike, other: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """For each pair of operations, whether neither happened before the other."""
        a, b = _indices(one), _indices(other)
        early, late = np.minimum(a, b), np.maximum(a, b)
        result: npt.NDArray[np.bool_] = ~self.before(early, late) & (a != b)
        return result


def _indices(operations: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.atleast_1d(np.asarray(operations, dtype=np.int64))


def _crossing_edges(trace: Trace, kinds: tuple[EdgeKind, ...]) -> Table:
    """The edges that say more than program order does."""
    edges = trace.edges[np.isin(trace.edges["kind"], [int(kind) for kind in kinds])]
    actor = trace.operations["actor"]
    crossing: Table = edges[actor[edges["source"]] != actor[edges["target"]]]
    return crossing


def _segments(actor: Table, edges: Table) -> tuple[Numbers, Numbers]:
    """The segment of each operation and the first operation of each segment."""
    count = len(actor)
    enters, leaves = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    enters[edges["target"]] = True
    leaves[edges["source"]] = True
    by_actor = _by_actor(actor)
    starts = enters[by_actor]
    starts[1:] |= leaves[by_actor[:-1]]
    starts[:1] = True
    starts[1:] |= actor[by_actor[1:]] != actor[by_actor[:-1]]
    first = np.sort(by_actor[starts]).astype(np.uint32)
    name = np.zeros(count, dtype=np.uint32)
    name[first] = np.arange(len(first), dtype=np.uint32)
    segment = np.empty(count, dtype=np.uint32)
    segment[by_actor] = name[by_actor[starts]][np.cumsum(starts) - 1] if count else 0
    return segment, first


def _by_actor(actor: Table) -> npt.NDArray[np.int64]:
    """Positions grouped by actor, in order; 16-bit numbers are sorted by radix, which is faster."""
    few = len(actor) == 0 or int(actor.max()) < 1 << 16
    return np.argsort(actor.astype(np.uint16) if few else actor, kind="stable")


def _numbers_within(actor: Table) -> Numbers:
    """1, 2, 3, ... over the segments of each actor."""
    by_actor = _by_actor(actor)
    ordered = actor[by_actor]
    position = np.arange(len(ordered))
    begins = np.ones(len(ordered), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    number = np.empty(len(ordered), dtype=np.uint32)
    number[by_actor] = position - np.maximum.accumulate(np.where(begins, position, 0)) + 1
    return number


def _segment_edges(segment: Numbers, edges: Table) -> tuple[Numbers, Numbers]:
    """Sources and targets of the edges as segments, each pair once, sorted by target."""
    pairs = segment[edges["target"]].astype(np.uint64) << np.uint64(32)
    pairs |= segment[edges["source"]]
    pairs = distinct(pairs)
    return pairs.astype(np.uint32), (pairs >> np.uint64(32)).astype(np.uint32)


def _last_segments(actor: Numbers, actors: int) -> list[int]:
    """The last segment of each actor; -1 of one that did nothing."""
    last = np.full(actors, -1, dtype=np.int64)
    last[actor] = np.arange(len(actor))  # of equal indices, numpy keeps the last
    return last.tolist()
