# SPDX-License-Identifier: Apache-2.0
"""A traced run for people: one line for each operation, in the order it happened."""

from collections.abc import Iterator

import numpy as np

from eitherway.model.finding import Frame
from eitherway.model.shortened import shortened
from eitherway.model.trace import Table
from eitherway.model.words import ACCESSES, OP_WORDS, OpFlag, OpKind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events, Names, is_life, parts
from eitherway.worlds.threads.memory import Memory
from eitherway.worlds.threads.named import ModuleVariables, frames_of

_HEAD = ("step", "thread", "operation", "on", "value", "at")
_LINE = "{:>12}  {:<6}  {:<22}  {:<28}  {:>20}  {}"
_ACCESSES = frozenset(int(op) for op in ACCESSES)


def listing(recording: Recording) -> Iterator[str]:
    """The lines, without their ends; part by part, so that a long run takes no more memory."""
    names = Names.read(recording)
    lines = _Lines(names)
    yield _LINE.format(*_HEAD)
    for part in parts(recording, names):
        yield from lines.of(part)


class _Lines:
    def __init__(self, names: Names) -> None:
        self.memory = Memory(names.modules, names.regions)
        self.variables = ModuleVariables(names.modules)
        frames = frames_of(names.modules, names.sites["pc"])
        self.places = [_place(frames[pc]) for pc in names.sites["pc"].tolist()]
        self.objects: dict[tuple[int, int], str] = {}

    def of(self, part: Events) -> Iterator[str]:
        columns = ("step", "thread", "op", "flags", "size", "site")
        rows = zip(*(part.events[name].tolist() for name in columns), strict=True)
        objects = self._objects(part)
        values = [""] * len(part.events) if part.values is None else _values(part)
        for (step, thread, op, flags, size, site), name, value in zip(
            rows, objects, values, strict=True
        ):
            words = _operation(op, flags, size)
            yield _LINE.format(step, f"T{thread}", words, name, value, self.places[site])

    def _objects(self, part: Events) -> list[str]:
        numbers = np.arange(part.first, part.first + len(part.events))
        spaces = self._spaces(part.events, numbers)
        pairs = zip(spaces.tolist(), part.events["address"].tolist(), strict=True)
        return [self._object(space, address) for space, address in pairs]

    def _spaces(self, events: Table, numbers: Table) -> Table:
        spaces: Table = np.full(len(events), -1, dtype=np.int64)
        placed = ~is_life(events)
        spaces[placed], _ = self.memory.locate(events["address"][placed], numbers[placed])
        return spaces

    def _object(self, space: int, address: int) -> str:
        key = (space, address)
        if key not in self.objects:
            self.objects[key] = f"T{address}" if space < 0 else self._name(space, address)
        return self.objects[key]

    def _name(self, space: int, address: int) -> str:
        variable, start = self.variables.at(address)
        if variable is None:
            return self.memory.spaces[space].words(address)
        return f"{variable.name}+{address - start}" if address > start else variable.name


def _operation(op: int, flags: int, size: int) -> str:
    words = OP_WORDS[OpKind(op)]
    if flags & OpFlag.ATOMIC:
        words = f"atomic {words}"
    if flags & OpFlag.SHARED:
        words = f"read {words}"
    if op in _ACCESSES:
        words += f" of {size}"
    if flags & (OpFlag.FAILED | OpFlag.BLOCKED):
        words += " (failed)" if flags & OpFlag.FAILED else " (never got it)"
    return words


def _values(part: Events) -> list[str]:
    """Numbers as they are; of more than 8 bytes there is only a hash."""
    if part.values is None:
        return []
    columns = (part.values.tolist(), part.events["op"].tolist(), part.events["size"].tolist())
    return [
        "" if op not in _ACCESSES else str(value) if size <= 8 else f"hash {value:015x}"
        for value, op, size in zip(*columns, strict=True)
    ]


def _place(frames: tuple[Frame, ...]) -> str:
    if not frames:
        return "?"
    frame = frames[0]
    where = f"{frame.file}:{frame.line}" if frame.file else f"{frame.module}+{frame.offset:#x}"
    return f"{where} {shortened(frame.function)}" if frame.function else where
