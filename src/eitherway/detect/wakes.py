# SPDX-License-Identifier: Apache-2.0
"""WAITs and WAKEs of a trace, and who ended whom, in lines that can be searched by bisection.

A *line* is what one actor did at one place on one range (its WAITs, or its WAKEs), in order. What
happened before a given operation is a beginning of the line, what happened after it an end, so each
question to a line costs two bisections however long it is.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eitherway.detect.accesses import grouped
from eitherway.model.distinct import distinct, last_of_equal
from eitherway.model.order import Clock, Order
from eitherway.model.trace import Table, Trace
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World

Column = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
NOBODY = -1

Choices = tuple[Column, Column]


@dataclass(frozen=True, slots=True)
class Wakes:
    """`wake[i]` ended `wait[i]`: an inherent edge on one object.

    `last_taker` and `last_waker` are by operation, for those that have one.
    """

    wakes: Column
    waits: Column
    wake: Column
    wait: Column
    last_taker: dict[int, int]
    last_waker: dict[int, int]


def wakes_of(trace: Trace) -> Wakes:
    """All WAITs and the WAKEs that did their work, on known ranges."""
    rows = trace.operations
    known = rows["range"] != 0
    done = (rows["flags"] & int(OpFlag.FAILED)) == 0
    is_wake = known & done & (rows["kind"] == int(OpKind.WAKE))
    is_wait = known & (rows["kind"] == int(OpKind.WAIT))
    edges = trace.edges[trace.edges["kind"] == int(EdgeKind.INHERENT)]
    edges = edges[is_wake[edges["source"]] & is_wait[edges["target"]]]
    owner = trace.ranges["object"][rows["range"]]
    edges = edges[owner[edges["source"]] == owner[edges["target"]]]
    pairs = distinct(edges["source"].astype(np.int64) << 32 | edges["target"])
    wake, wait = pairs >> 32, pairs & 0xFFFFFFFF
    by_wait = np.argsort(wait, kind="stable")
    return Wakes(
        wakes=np.flatnonzero(is_wake),
        waits=np.flatnonzero(is_wait),
        wake=wake,
        wait=wait,
        last_taker=_last(wake, wait),
        last_waker=_last(wait[by_wait], wake[by_wait]),
    )


def _last(of: Column, values: Column) -> dict[int, int]:
    """The last value of each, of pairs that are sorted."""
    last = last_of_equal(of)
    return dict(zip(of[last].tolist(), values[last].tolist(), strict=True))


def clocks_of(order: Order, operations: Column) -> Iterator[tuple[int, Clock]]:
    """The clock of each operation, by segment. One sweep, as far as needed."""
    sweep, at = order.sweep(), -1
    clock: Clock = np.zeros(0, dtype=np.uint32)
    for operation in operations[np.argsort(order.segment[operations], kind="stable")].tolist():
        while at < order.segment[operation]:
            at, clock = next(sweep)
        yield operation, clock


class Clocks:
    """The clocks of some operations, each only for the actors on its object."""

    def __init__(self, order: Order, operations: Column) -> None:
        """Sweeps once."""
        rows = order.trace.operations
        self._order = order
        self._actor = rows["actor"].astype(np.int64)
        self._object = order.trace.ranges["object"][rows["range"]]
        self._columns = _actors_by_object(self._object[operations], rows["actor"][operations])
        self._row = np.full(len(rows), NOBODY, dtype=np.int64)
        self._table = self._tables(operations)

    def _tables(self, operations: Column) -> dict[int, Clock]:
        """By object: a row for each operation, a column for each actor."""
        counts = dict(zip(*np.unique(self._object[operations], return_counts=True), strict=True))
        tables = {
            int(object_): np.empty((count, len(self._columns[int(object_)])), dtype=np.uint32)
            for object_, count in counts.items()
        }
        used = dict.fromkeys(tables, 0)
        for operation, clock in clocks_of(self._order, operations):
            object_ = int(self._object[operation])
            self._row[operation] = row = used[object_]
            tables[object_][row] = clock[self._columns[object_]]
            used[object_] += 1
        return tables

    def number(self, operations: Column) -> Column:
        """The number of each operation's segment among those of its actor."""
        return self._order.number[self._order.segment[operations]].astype(np.int64)

    def known(self, operations: Column, actors: "int | Column", object_: int) -> Column:
        """How many segments of the actors happened before the operations, all on one object."""
        columns = np.searchsorted(self._columns[object_], actors)
        found: Column = self._table[object_][self._row[operations], columns].astype(np.int64)
        return found

    def not_before(self, operations: Column, since: Column, object_: int) -> Mask:
        """Which of the operations did not happen before the one of `since` beside it, or are it."""
        actors = self._actor[operations]
        number, known = self.number(operations), self.known(since, actors, object_)
        found: Mask = np.where(actors == self._actor[since], operations >= since, number > known)
        return found


def _actors_by_object(objects: Table, actors: Table) -> dict[int, Column]:
    pairs = distinct(objects.astype(np.int64) << 32 | actors)
    owners, starts = np.unique(pairs >> 32, return_index=True)
    groups = np.split(pairs & 0xFFFFFFFF, starts[1:])
    return dict(zip(owners.tolist(), groups, strict=False))


@dataclass(frozen=True, slots=True)
class LineKey:
    """What the operations of a line have in common; `partner` is an actor or NOBODY."""

    object: int
    range: int
    actor: int
    place: int
    partner: int
    flags: int


class Line:
    """Operations of one key, in order, with the last one each of them ended or was ended by."""

    def __init__(self, key: LineKey, operations: Column, partners: Column, clocks: Clocks) -> None:
        """`partners` are all by the actor `key.partner`, or NOBODY."""
        self.key = key
        self.operation = operations
        self.partner = partners
        self._clocks = clocks
        self._number = clocks.number(operations)
        self._known: dict[int, Column] = {}
        self._highest: _Highest | None = None

    def before(self, questions: "Line") -> Column:
        """How many of this line happened before each operation of the other."""
        if questions.key.actor == self.key.actor:
            return np.searchsorted(self.operation, questions.operation, side="left")
        return np.searchsorted(self._number, questions.known(self.key.actor), side="right")

    def not_after(self, questions: "Line") -> Column:
        """How many of this line did not happen after each operation of the other, or are it."""
        if questions.key.actor == self.key.actor:
            return np.searchsorted(self.operation, questions.operation, side="right")
        return np.searchsorted(self.known(questions.key.actor), questions._number, side="left")

    def choose(self, begin: Column, end: Column, without: "Line", since: "Line | None") -> Choices:
        """The questions with another than `without` in [begin, end), and that one for each.

        With `since`, only one whose partner, if any, did not happen before `since` will do.
        """
        chosen = np.full(len(begin), NOBODY, dtype=np.int64)
        for first, behind in self._windows(begin, end, without):
            best = self._last_partner(first, behind)
            good = (best >= 0) & (chosen == NOBODY)
            if since is not None and self.key.partner != NOBODY:
                good &= self._partner_later(best, since)
            chosen[good] = self.operation[best[good]]
        questions = np.flatnonzero(chosen != NOBODY)
        return questions, chosen[questions]

    def _windows(self, begin: Column, end: Column, without: "Line") -> Iterator[tuple[Column, ...]]:
        """[begin, end) in two parts, before and behind the operation that is left out."""
        if without.key.actor != self.key.actor:
            yield begin, end
            return
        left = np.searchsorted(self.operation, without.operation, side="left")
        right = np.searchsorted(self.operation, without.operation, side="right")
        yield begin, np.minimum(end, left)
        yield np.maximum(begin, right), end

    def _last_partner(self, begin: Column, end: Column) -> Column:
        if self._highest is None:
            self._highest = _Highest(self.partner)
        return self._highest.within(begin, end)

    def _partner_later(self, positions: Column, since: "Line") -> Mask:
        return self._clocks.not_before(self.partner[positions], since.operation, self.key.object)

    def known(self, actor: int) -> Column:
        """How many segments of the actor happened before each operation."""
        column = self._known.get(actor)
        if column is None:
            column = self._clocks.known(self.operation, actor, self.key.object)
            self._known[actor] = column
        return column


class _Highest:
    """Positions of range maxima, by a sparse table: n log n to build, constant to ask."""

    def __init__(self, values: Column) -> None:
        self._values = values
        self._levels = [np.arange(len(values))]
        while 2 << (len(self._levels) - 1) <= len(values):
            below, half = self._levels[-1], 1 << (len(self._levels) - 1)
            self._levels.append(self._better(below[:-half], below[half:]))

    def within(self, begin: Column, end: Column) -> Column:
        result = np.full(len(begin), -1, dtype=np.int64)
        for level, best in enumerate(self._levels):
            width = end - begin
            here = (width >= 1 << level) & (width < 2 << level)
            i, j = begin[here], end[here] - (1 << level)
            result[here] = self._better(best[i], best[j])
        return result

    def _better(self, one: Column, other: Column) -> Column:
        result: Column = np.where(self._values[one] >= self._values[other], one, other)
        return result


class Lines:
    """All lines of WAITs, or of WAKEs, on one object.

    There may be thousands of one operation each: a process has as many as it has children. Then
    most cannot be what is looked for, and which can is told of all of them at a time.
    """

    def __init__(self, lines: list[Line], clocks: Clocks, actor: Table) -> None:
        """`actor` is by operation."""
        self._lines = lines
        self._clocks = clocks
        self.places: dict[int, Counter[int]] = defaultdict(Counter)  # operations, by actor
        for line in lines:
            self.places[line.key.place][line.key.actor] += len(line.operation)
        self._single = np.array([len(line.operation) == 1 for line in lines], dtype=bool)
        self._first = np.array([line.operation[0] for line in lines], dtype=np.int64)
        self._partner = np.array([line.partner[0] for line in lines], dtype=np.int64)
        self._actor = actor.astype(np.int64)

    def where(self, may_be: Callable[["Lines"], Mask]) -> Iterator[Line]:
        """Those of several operations, and of the others those that may be it."""
        if len(self._lines) == 1:
            return iter(self._lines)
        chosen = np.flatnonzero(~self._single | may_be(self))
        return (self._lines[i] for i in chosen.tolist())

    def not_before(self, operation: int) -> Mask:
        """Whose first operation did not happen before this one."""
        return self._later(self._first, operation)

    def not_after(self, operation: int) -> Mask:
        """Whose first operation did not happen after this one."""
        actor, object_ = int(self._actor[operation]), self._lines[0].key.object
        known = self._clocks.known(self._first, actor, object_)
        number = self._clocks.number(np.array([operation]))
        same = self._actor[self._first] == actor
        found: Mask = np.where(same, self._first <= operation, known < number)
        return found

    def partner_not_before(self, operation: int) -> Mask:
        """Whose partner, if there is one, did not happen before this one."""
        nobody = self._partner == NOBODY
        partners = np.where(nobody, operation, self._partner)
        later: Mask = nobody | self._later(partners, operation)
        return later

    def _later(self, operations: Column, since: int) -> Mask:
        questions = np.full(len(operations), since, dtype=np.int64)
        return self._clocks.not_before(operations, questions, self._lines[0].key.object)


@dataclass(frozen=True, slots=True)
class Ended:
    """WAKEs of one actor and the WAITs of one actor that they ended, side by side.

    As lines they are only asked about, so their places differ and partners are left out.
    """

    wake: Line
    wait: Line


class Board:
    """Everything on the objects where some WAKE ended one of the chosen WAITs."""

    def __init__(self, order: Order, flag: OpFlag = OpFlag.NONE) -> None:
        """Chosen are the WAITs that have this flag."""
        self._trace, wakes = order.trace, wakes_of(order.trace)
        self.by_object = self._trace.world is World.PROCESSES
        self._wakes = wakes
        chosen = (self._trace.operations["flags"][wakes.wait] & int(flag)) == int(flag)
        self._pairs = wakes.wake[chosen], wakes.wait[chosen]
        self._objects = np.unique(self._object_of(wakes.wait[chosen]))
        self._mine_wakes, self._mine_waits = self._on(wakes.wakes), self._on(wakes.waits)
        self._clocks = Clocks(order, np.r_[self._mine_wakes, self._mine_waits])

    def wakes(self) -> dict[int, Lines]:
        """WAKEs by object; the partner is the last WAIT one ended."""
        return self._lines(self._mine_wakes, self._wakes.last_taker)

    def waits(self) -> dict[int, Lines]:
        """WAITs by object; the partner is the last WAKE that ended one."""
        return self._lines(self._mine_waits, self._wakes.last_waker)

    def ended(self) -> Iterator[Ended]:
        """The chosen WAITs with what ended them."""
        wakes, waits = self._pairs
        columns = [column for side in self._pairs for column in self._columns(side)]
        for rows in grouped(*columns):
            wake, wait = wakes[rows], waits[rows]
            nobody = np.full(len(rows), NOBODY, dtype=np.int64)
            yield Ended(
                wake=Line(self._key(int(wake[0]), NOBODY), wake, nobody, self._clocks),
                wait=Line(self._key(int(wait[0]), NOBODY), wait, nobody, self._clocks),
            )

    def places(self, operations: Column) -> Column:
        """The place of each operation."""
        stacks = self._trace.operations["stack"][operations]
        places: Column = self._trace.stacks["place"][stacks].astype(np.int64)
        return places

    def about(self, single: Column, one: Column, other: Column) -> tuple[Column, Column]:
        """Where places do not say as much, on which object, and whether the two are by one; else 0.

        Column by column.
        """
        if not self.by_object:
            return np.zeros_like(single), np.zeros_like(single)
        actors = self._trace.operations["actor"]
        alone: Column = (actors[one] == actors[other]).astype(np.int64)
        return self._object_of(single).astype(np.int64), alone

    def overlap(self, one: LineKey, other: LineKey) -> bool:
        """Whether two ranges of one object overlap."""
        a, b = self._trace.ranges[one.range], self._trace.ranges[other.range]
        return bool(a["lo"] < b["hi"] and b["lo"] < a["hi"])

    def _object_of(self, operations: Column) -> Table:
        objects: Table = self._trace.ranges["object"][self._trace.operations["range"][operations]]
        return objects

    def _on(self, operations: Column) -> Column:
        return operations[np.isin(self._object_of(operations), self._objects)]

    def _lines(self, operations: Column, partner: dict[int, int]) -> dict[int, Lines]:
        partners = np.array([partner.get(i, NOBODY) for i in operations.tolist()], dtype=np.int64)
        actors = self._trace.operations["actor"].astype(np.int64)
        theirs = (
            np.where(partners == NOBODY, NOBODY, actors[partners]) if len(partners) else partners
        )
        result: dict[int, list[Line]] = {}
        for rows in grouped(*self._columns(operations), self.places(operations), theirs):
            key = self._key(int(operations[rows[0]]), int(partners[rows[0]]))
            line = Line(key, operations[rows], partners[rows], self._clocks)
            result.setdefault(key.object, []).append(line)
        actor = self._trace.operations["actor"]
        return {object_: Lines(lines, self._clocks, actor) for object_, lines in result.items()}

    def _columns(self, operations: Column) -> list[Table]:
        """What all operations of a line have in common, besides place and partner."""
        rows = self._trace.operations[operations]
        return [rows["range"], rows["actor"], rows["flags"]]

    def _key(self, operation: int, partner: int) -> LineKey:
        row = self._trace.operations[operation]
        theirs = NOBODY if partner == NOBODY else int(self._trace.operations["actor"][partner])
        return LineKey(
            object=int(self._trace.ranges["object"][row["range"]]),
            range=int(row["range"]),
            actor=int(row["actor"]),
            place=int(self._trace.stacks["place"][row["stack"]]),
            partner=theirs,
            flags=int(row["flags"]),
        )


class Told:
    """Triples of places that were told: one operation's, and those of two others in any order.

    Of processes on one object each, by one actor and by several: every read of a program is one
    place, whatever it reads, and what one actor does twice says nothing of two.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._known = set[tuple[int, ...]]()

    def knows(self, single: Line, one: Line, other: Line) -> bool:
        """Whether nothing new can come of the one operation of the first two, and of the third."""
        alone = one.key.actor == other.key.actor
        return len(single.operation) == 1 and self._has(single, one, other.key.place, alone=alone)

    def knows_all(self, single: Line, one: Line, lines: Lines) -> bool:
        """The same of all lines, among which the second is: so they need not be looked at."""
        if len(single.operation) > 1:
            return False
        for place, actors in lines.places.items():
            own = actors[one.key.actor] - (place == one.key.place)
            if own and not self._has(single, one, place, alone=True):
                return False
            others = len(actors) > (one.key.actor in actors)
            if others and not self._has(single, one, place, alone=False):
                return False
        return True

    def _has(self, single: Line, one: Line, place: int, *, alone: bool) -> bool:
        places = one.key.place, place
        about = (single.key.object, int(alone)) if self._board.by_object else (0, 0)
        return (*about, single.key.place, min(places), max(places)) in self._known

    def new(self, single: Column, one: Column, other: Column) -> Iterator[tuple[int, ...]]:
        """The operations of the first of each triple that was not told, which now is."""
        keys = self._keys(single, one, other)
        first = np.sort(np.unique(keys, axis=0, return_index=True)[1]) if len(keys) else keys[:0, 0]
        for row in first.tolist():
            key = tuple(keys[row].tolist())
            if key not in self._known:
                self._known.add(key)
                yield tuple(sorted((int(single[row]), int(one[row]), int(other[row]))))

    def _keys(self, single: Column, one: Column, other: Column) -> Column:
        places = [self._board.places(column) for column in (single, one, other)]
        others = np.minimum(*places[1:]), np.maximum(*places[1:])
        keys: Column = np.stack(
            [*self._board.about(single, one, other), places[0], *others], axis=1
        )
        return keys


def previous(trace: Trace, operations: Column) -> Column:
    """The operation of the same actor just before each, or NOBODY."""
    actor = trace.operations["actor"]
    by_actor = np.argsort(actor, kind="stable")
    position = np.empty(len(actor), dtype=np.int64)
    position[by_actor] = np.arange(len(actor))
    before = by_actor[position[operations] - 1]
    first = (position[operations] == 0) | (actor[before] != actor[operations])
    result: Column = np.where(first, NOBODY, before)
    return result
