# SPDX-License-Identifier: Apache-2.0
"""A trace: what the actors of one run did, in the order it was seen.

Columns inside, frozen views outside. One operation costs `BYTES_PER_OPERATION` bytes; everything
that repeats (ranges, stacks, places, names) is stored once and referred to by number. Number 0 of
each table means "not known", so a column never needs a second one for absence.

    operation  actor ─▶ actors     range ─▶ ranges ─▶ objects      stack ─▶ stacks ─▶ places
                                            object, lo, hi                  caller, place
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from eitherway.model.place import Place
from eitherway.model.words import EdgeKind, OpFlag, OpKind, World

# Rows are aligned as C aligns them: on 5 * 10^6 operations, taking rows by index is 16 times faster
# than with packed rows, and a recorder's struct is the row (format/recording.toml).
OPERATION = np.dtype(
    [
        ("actor", "<u4"),
        ("range", "<u4"),
        ("stack", "<u4"),
        ("kind", "u1"),
        ("flags", "u1"),
    ],
    align=True,
)
VALUE = np.dtype("<u8")
EDGE = np.dtype([("source", "<u4"), ("target", "<u4"), ("kind", "u1")], align=True)
RANGE = np.dtype([("object", "<u4"), ("lo", "<u8"), ("hi", "<u8")], align=True)
OBJECT = np.dtype([("kind", "<u4"), ("name", "<u4"), ("stack", "<u4")])
STACK = np.dtype([("caller", "<u4"), ("place", "<u4")])
PLACE = np.dtype(
    [
        ("function", "<u4"),
        ("file", "<u4"),
        ("line", "<u4"),
        ("column", "<u4"),
        ("module", "<u4"),
        ("offset", "<u8"),
    ],
    align=True,
)
ACTOR = np.dtype(
    [("name", "<u4"), ("parent", "<u4"), ("started_by", "<u4"), ("native_id", "<u8")], align=True
)

BYTES_PER_OPERATION = OPERATION.itemsize
NO_OPERATION = 0xFFFFFFFF
LAST = 2**64 - 1  # the largest end of a range

Table = npt.NDArray[Any]


MAX_FRAMES = 256  # of one stack that a person is shown; a runaway recursion has a million
LEFT_OUT = Place("[deeper frames are left out]")


@dataclass(frozen=True, slots=True)
class Actor:
    """A thread, process or kernel context. `started_by` is the operation that created it."""

    index: int
    name: str
    parent: int | None
    started_by: int | None
    native_id: int


@dataclass(frozen=True, slots=True)
class Range:
    """The part [lo, hi) of an object."""

    object: int
    object_kind: str
    object_name: str
    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class Operation:
    """One access or call by an actor at a place in the code."""

    index: int
    actor: int
    kind: OpKind
    flags: OpFlag
    range: Range | None
    stack: tuple[Place, ...]  # innermost first
    value: int | None

    @property
    def place(self) -> Place:
        """Where it happened: the innermost frame."""
        return self.stack[0] if self.stack else Place()


@dataclass(frozen=True, slots=True)
class Trace:
    """The tables of one run. `operations[i]` happened, as seen, before `operations[i + 1]`."""

    world: World
    strings: tuple[str, ...]
    actors: Table
    objects: Table
    ranges: Table
    places: Table
    stacks: Table
    operations: Table
    edges: Table
    values: Table | None = None

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise ValueError(f"not a trace: {problem}")

    def __len__(self) -> int:
        return len(self.operations)

    def operation(self, index: int) -> Operation:
        """The operation of this number, with names."""
        row = self.operations[index]
        value = None if self.values is None else int(self.values[index])
        return Operation(
            index=int(index),
            actor=int(row["actor"]),
            kind=OpKind(int(row["kind"])),
            flags=OpFlag(int(row["flags"])),
            range=self.range(int(row["range"])),
            stack=self.stack(int(row["stack"])),
            value=value,
        )

    def actor(self, index: int) -> Actor:
        """The actor of this number."""
        row = self.actors[index]
        parent, started_by = int(row["parent"]), int(row["started_by"])
        return Actor(
            index=index,
            name=self.strings[row["name"]],
            parent=None if parent == index else parent,
            started_by=None if started_by == NO_OPERATION else started_by,
            native_id=int(row["native_id"]),
        )

    def range(self, index: int) -> Range | None:
        """The range of this number; None for 0."""
        if index == 0:
            return None
        row = self.ranges[index]
        owner = self.objects[row["object"]]
        return Range(
            object=int(row["object"]),
            object_kind=self.strings[owner["kind"]],
            object_name=self.strings[owner["name"]],
            lo=int(row["lo"]),
            hi=int(row["hi"]),
        )

    def place(self, index: int) -> Place:
        """The place of this number."""
        row = self.places[index]
        return Place(
            function=self.strings[row["function"]],
            file=self.strings[row["file"]],
            line=int(row["line"]),
            column=int(row["column"]),
            module=self.strings[row["module"]],
            offset=int(row["offset"]),
        )

    def stack(self, index: int) -> tuple[Place, ...]:
        """The places on this stack, innermost first; of a deep one the first, and `LEFT_OUT`."""
        frames = tuple(islice(self._frames(index), MAX_FRAMES + 1))
        return frames if len(frames) <= MAX_FRAMES else (*frames[:MAX_FRAMES], LEFT_OUT)

    def _frames(self, index: int) -> Iterator[Place]:
        while index:  # callers have smaller numbers, checked at the door: this ends
            row = self.stacks[index]
            yield self.place(int(row["place"]))
            index = int(row["caller"])


def _problems(trace: Trace) -> Iterator[str]:
    """What makes these tables not a trace; everything after the door relies on none of it."""
    yield from _type_problems(trace)
    if len(trace.strings) == 0 or trace.strings[0] != "":
        yield "string 0 is not the empty string"
    for name in ("objects", "ranges", "places", "stacks"):
        if len(getattr(trace, name)) == 0:
            yield f"the table of {name} lacks its row 0 (not known)"
    for table, column, target in _REFERENCES:
        rows = getattr(trace, table)[column]
        if len(rows) and int(rows.max()) >= len(getattr(trace, target)):
            yield f"{table}.{column} points behind the end of {target}"
    yield from _row_problems(trace)


_REFERENCES = (
    ("operations", "actor", "actors"),
    ("operations", "range", "ranges"),
    ("operations", "stack", "stacks"),
    ("edges", "source", "operations"),
    ("edges", "target", "operations"),
    ("ranges", "object", "objects"),
    ("objects", "kind", "strings"),
    ("objects", "name", "strings"),
    ("objects", "stack", "stacks"),
    ("stacks", "place", "places"),
    ("places", "function", "strings"),
    ("places", "file", "strings"),
    ("places", "module", "strings"),
    ("actors", "name", "strings"),
    ("actors", "parent", "actors"),
)


def _type_problems(trace: Trace) -> Iterator[str]:
    for name, dtype in _TYPES.items():
        if getattr(trace, name).dtype != dtype:
            yield f"the table of {name} has columns {getattr(trace, name).dtype}"
    if trace.values is not None and (
        trace.values.dtype != VALUE or len(trace.values) != len(trace.operations)
    ):
        yield "the values do not match the operations"


_TYPES = {
    "actors": ACTOR,
    "objects": OBJECT,
    "ranges": RANGE,
    "places": PLACE,
    "stacks": STACK,
    "operations": OPERATION,
    "edges": EDGE,
}


def _row_problems(trace: Trace) -> Iterator[str]:
    if np.any(trace.ranges["lo"][1:] >= trace.ranges["hi"][1:]):
        yield "a range is empty"
    if np.any(trace.stacks["caller"][1:] >= np.arange(1, len(trace.stacks))):
        yield "a stack's caller does not come before it"
    if np.any(trace.edges["source"] >= trace.edges["target"]):
        yield "an edge points backwards"
    if not np.isin(trace.edges["kind"], [int(k) for k in EdgeKind]).all():
        yield "an edge has an unknown kind"
    if not np.isin(trace.operations["kind"], [int(k) for k in OpKind]).all():
        yield "an operation has an unknown kind"
    checks = (trace.operations["flags"] & OpFlag.CHECK) != 0
    if np.any(trace.operations["kind"][checks] != OpKind.LOAD):
        yield "an operation that is no load has the flag of a check"
    started_by = trace.actors["started_by"]
    if np.any((started_by >= len(trace.operations)) & (started_by != NO_OPERATION)):
        yield "actors.started_by points behind the end of operations"


class _Rows:
    """Rows that grow; each distinct row once when interned."""

    def __init__(self, dtype: np.dtype[Any], *, first: tuple[int, ...] | None = None) -> None:
        self.dtype = dtype
        self.rows: list[tuple[int, ...]] = [] if first is None else [first]
        self.known: dict[tuple[int, ...], int] = {} if first is None else {first: 0}

    def add(self, row: tuple[int, ...]) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def intern(self, row: tuple[int, ...]) -> int:
        index = self.known.get(row)
        if index is None:
            index = self.known[row] = self.add(row)
        return index

    def table(self) -> Table:
        return np.array(self.rows, dtype=self.dtype)


class TraceBuilder:
    """Builds a trace operation by operation, in the order seen.

    For people, tests and small worlds; a recorder's log becomes a `Trace` column by column instead.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._strings: dict[str, int] = {"": 0}
        self._actors = _Rows(ACTOR)
        self._objects = _Rows(OBJECT, first=(0, 0, 0))
        self._ranges = _Rows(RANGE, first=(0, 0, 1))
        self._places = _Rows(PLACE, first=(0, 0, 0, 0, 0, 0))
        self._stacks = _Rows(STACK, first=(0, 0))
        self._operations = _Rows(OPERATION)
        self._edges = _Rows(EDGE)
        self._values: list[int] = []
        self._has_values = False

    def string(self, text: str) -> int:
        """The number of a string, each distinct one once."""
        return self._strings.setdefault(text, len(self._strings))

    def actor(
        self,
        name: str = "",
        *,
        parent: int | None = None,
        started_by: int | None = None,
        native_id: int = 0,
    ) -> int:
        """A new actor; without a parent it was there from the beginning."""
        index = len(self._actors.rows)
        row = (
            self.string(name),
            index if parent is None else parent,
            NO_OPERATION if started_by is None else started_by,
            native_id,
        )
        return self._actors.add(row)

    def object(self, kind: str, name: str = "", *, stack: int = 0) -> int:
        """A new object, allocated there; two objects may have the same kind and name."""
        return self._objects.add((self.string(kind), self.string(name), stack))

    def range(self, owner: int, lo: int = 0, hi: int | None = None) -> int:
        """The number of [lo, hi) of an object; one unit when `hi` is not given."""
        end = lo + 1 if hi is None else hi
        if not 0 <= lo < end <= LAST:
            raise ValueError(f"not a range: [{lo}, {end}) is empty or does not fit in 64 bits")
        return self._ranges.intern((owner, lo, end))

    def place(self, place: Place) -> int:
        """The number of a place, each distinct one once."""
        row = (
            self.string(place.function),
            self.string(place.file),
            place.line,
            place.column,
            self.string(place.module),
            place.offset,
        )
        return self._places.intern(row)

    def stack(self, frames: Sequence[Place]) -> int:
        """The number of a stack, innermost frame first."""
        index = 0
        for frame in reversed(frames):
            index = self.called(index, frame)
        return index

    def called(self, caller: int, place: Place) -> int:
        """The number of a stack that is another one with a frame more."""
        return self._stacks.intern((caller, self.place(place)))

    def operation(
        self,
        actor: int,
        kind: OpKind,
        touched: int = 0,
        *,
        stack: int = 0,
        flags: OpFlag = OpFlag.NONE,
        value: int | None = None,
    ) -> int:
        """The next operation; `touched` is the number of a range."""
        self._values.append(0 if value is None else value)
        self._has_values |= value is not None
        return self._operations.add((actor, touched, stack, int(kind), int(flags)))

    def edge(self, source: int, target: int, kind: EdgeKind = EdgeKind.INHERENT) -> Self:
        """`source` happened before `target`, and not only because it was seen earlier."""
        self._edges.add((source, target, int(kind)))
        return self

    def build(
        self,
        operations: Table | None = None,
        edges: Table | None = None,
        values: Table | None = None,
    ) -> Trace:
        """The trace of all that was added; a world that has whole columns gives them here."""
        if self._has_values:
            values = np.array(self._values, dtype=VALUE)
        return Trace(
            world=self.world,
            strings=tuple(self._strings),
            actors=self._actors.table(),
            objects=self._objects.table(),
            ranges=self._ranges.table(),
            places=self._places.table(),
            stacks=self._stacks.table(),
            operations=self._operations.table() if operations is None else operations,
            edges=self._edges.table() if edges is None else edges,
            values=values,
        )
