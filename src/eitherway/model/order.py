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

from eitherway.model.trace import Table, Trace
from eitherway.model.words import EdgeKind

BYTES_PER_OPERATION = 4

Clock = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.uint32]


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
    _incoming: dict[int, list[int]] = field(repr=False)  # segment -> segments it follows directly

    @classmethod
    def of(cls, trace: Trace, kinds: tuple[EdgeKind, ...] = tuple(EdgeKind)) -> "Order":
        """The order made by program order and the trace's edges of these kinds."""
        edges = _crossing_edges(trace, kinds)
        segment, first = _segments(trace.operations["actor"], edges)
        actor = trace.operations["actor"][first]
        return cls(
            trace=trace,
            segment=segment,
            actor=actor,
            number=_numbers_within(actor),
            first=first,
            _incoming=_incoming(segment, edges),
        )

    def sweep(self) -> Iterator[tuple[int, Clock]]:
        """Each segment with its clock, by first operation: what happened before comes before."""
        actors = len(self.trace.actors)
        current: dict[int, Clock] = {}
        readers = _reader_counts(self._incoming)
        last = _last_segments(self.actor)
        kept: dict[int, Clock] = {}
        nothing: Clock = np.zeros(actors, dtype=np.uint32)
        for segment, owner in enumerate(self.actor.tolist()):
            clock = current.get(owner, nothing)
            for source in self._incoming.get(segment, ()):
                clock = self._join(clock, source, kept[source])
                readers[source] -= 1
                if not readers[source]:
                    del kept[source]
            if segment in readers:
                kept[segment] = clock
            if last[owner] == segment:
                current.pop(owner, None)
            else:
                current[owner] = clock
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
        a, b = np.atleast_1d(np.asarray(earlier)), np.atleast_1d(np.asarray(later))
        result: npt.NDArray[np.bool_] = np.zeros(len(a), dtype=bool)
        operations = self.trace.operations["actor"]
        same = operations[a] == operations[b]
        result[same] = a[same] < b[same]
        others = np.flatnonzero(~same)
        questions = others[np.argsort(self.segment[b[others]], kind="stable")]
        asked, starts = np.unique(self.segment[b[questions]], return_index=True)
        groups = dict(zip(asked.tolist(), np.split(questions, starts[1:]), strict=False))
        for segment, clock in self.sweep() if groups else ():
            group = groups.pop(segment, None)
            if group is not None:
                sources = self.segment[a[group]]
                result[group] = self.number[sources] <= clock[self.actor[sources]]
            if not groups:
                break
        return result

    def concurrent(self, one: npt.ArrayLike, other: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """For each pair of operations, whether neither happened before the other."""
        a, b = np.atleast_1d(np.asarray(one)), np.atleast_1d(np.asarray(other))
        early, late = np.minimum(a, b), np.maximum(a, b)
        result: npt.NDArray[np.bool_] = ~self.before(early, late) & (a != b)
        return result


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
    by_actor = np.argsort(actor, kind="stable")
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


def _numbers_within(actor: Table) -> Numbers:
    """1, 2, 3, ... over the segments of each actor."""
    by_actor = np.argsort(actor, kind="stable")
    ordered = actor[by_actor]
    position = np.arange(len(ordered))
    begins = np.ones(len(ordered), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    number = np.empty(len(ordered), dtype=np.uint32)
    number[by_actor] = position - np.maximum.accumulate(np.where(begins, position, 0)) + 1
    return number


def _incoming(segment: Numbers, edges: Table) -> dict[int, list[int]]:
    incoming: dict[int, list[int]] = {}
    sources, targets = segment[edges["source"]].tolist(), segment[edges["target"]].tolist()
    for source, target in zip(sources, targets, strict=True):
        incoming.setdefault(target, []).append(source)
    return incoming


def _reader_counts(incoming: dict[int, list[int]]) -> dict[int, int]:
    readers: dict[int, int] = {}
    for sources in incoming.values():
        for source in sources:
            readers[source] = readers.get(source, 0) + 1
    return readers


def _last_segments(actor: Numbers) -> dict[int, int]:
    return {owner: segment for segment, owner in enumerate(actor.tolist())}
