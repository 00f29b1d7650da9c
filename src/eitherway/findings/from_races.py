# SPDX-License-Identifier: Apache-2.0
"""Races of a trace, in names and sentences: numbers go in, findings come out."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from eitherway.detect.locks import Held, Locks
from eitherway.findings.history import Histories
from eitherway.findings.sentences import Side, explained
from eitherway.findings.values import value_words
from eitherway.model.described import Describe, Described, nothing
from eitherway.model.finding import Finding, FoundOperation, Frame, HeldLock, Source
from eitherway.model.history import History
from eitherway.model.identity import identified
from eitherway.model.race import Race
from eitherway.model.trace import Operation, Trace
from eitherway.model.words import ACCESSES, OP_WORDS, Kind, OpFlag, OpKind, World


def findings_of(
    trace: Trace,
    races: Sequence[Race],
    *,
    source: Source,
    evidence: str = "",
    describe: Describe = nothing,
    known: Container[str] = frozenset(),
) -> Iterable[Finding]:
    """One finding per race; several may have one id, and `merge` makes one of them.

    The first of each id has its history, unless that id is one of the `known`: each takes its time.
    """
    names = _Names(trace, describe)
    histories = Histories(trace, names.locks, lambda index: names.side(index).found)
    drawn: set[str] = set()
    for race in races:
        told = list(_told(trace, race))
        sides = _one_name(race.kind, [names.side(op) for op in told])
        finding = identified(
            Finding(
                world=trace.world,
                kind=race.kind,
                operations=tuple(side.found for side in sides),
                explanation=explained(race.kind, race.pattern, sides),
                evidence=evidence,
                sources=(source,),
                locks=names.locks_of(sides),
            )
        )
        if finding.id not in drawn and finding.id not in known:
            drawn.add(finding.id)
            finding = replace(finding, history=histories.of(told))
        yield finding


def _told(trace: Trace, race: Race) -> Iterable[int]:
    """The operations a finding names: of a wake-up the same two, whether its loss was seen or not.

    Where the WAIT began is how the detector knows that it can be lost; with it the finding of a run
    that went well would have another id than that of one that hung.
    """
    kinds = trace.operations["kind"]
    waking = [i for i in race.operations if kinds[i] in (OpKind.WAIT, OpKind.WAKE)]
    return waking if race.kind is Kind.LOST_WAKEUP and waking else race.operations


def _one_name(kind: Kind, sides: list[Side]) -> list[Side]:
    """What lies on a stack is in the end what the last of them finds there."""
    names = [side.found.variable for side in sides if side.found.variable]
    on_stacks = all(side.found.object.startswith("stack of ") for side in sides)
    if kind is not Kind.DATA_RACE or not on_stacks or not names:
        return sides
    return [replace(side, found=replace(side.found, variable=names[-1])) for side in sides]


def side_of(trace: Trace, operation: int, describe: Describe = nothing) -> FoundOperation:
    """One operation in names."""
    return _Names(trace, describe).side(operation).found


def told_of(op: OpKind, names: tuple[str, str], known: Described) -> Described:
    """What an operation is about: what is known of it, and else the kind and name in the trace."""
    kind, name = names
    return replace(
        known,
        object=known.object or kind,
        variable=known.variable or name,
        part=known.part if op in _SIZED else "",
    )


def history_of(trace: Trace, operations: Sequence[int], describe: Describe = nothing) -> History:
    """What the actors of these did around them."""
    names = _Names(trace, describe)
    return Histories(trace, names.locks, lambda index: names.side(index).found).of(operations)


class _Names:
    """Names for what a trace numbers."""

    def __init__(self, trace: Trace, describe: Describe) -> None:
        self.trace = trace
        self.describe = lru_cache(maxsize=1 << 14)(describe)
        self.made: dict[str, tuple[Frame, ...]] = {}  # locks, by their names
        self.locks = Locks(trace)
        self.frames = lru_cache(maxsize=1 << 14)(self._frames)
        self.actor = lru_cache(maxsize=1 << 14)(self._actor)

    def side(self, index: int) -> Side:
        operation = self.trace.operation(index)
        touched = operation.range
        names = (touched.object_kind, touched.object_name) if touched else ("", "")
        known = told_of(operation.kind, names, self.describe(index))
        return Side(
            found=FoundOperation(
                actor=self.actor(operation.actor),
                op=op_words(operation, self.trace.world),
                object=known.object,
                variable=known.variable,
                stack=self.frames(int(self.trace.operations["stack"][index])),
                locks=tuple(map(self.lock, self.locks.held(index))),
                created=self.created(operation.actor),
                allocated=self.allocated(touched.object) if touched else (),
                value=_value(operation),
                part=known.part,
                created_by=self.creator(operation.actor),
                allocated_by=known.allocator,
            ),
            kind=operation.kind,
            flags=operation.flags,
            actor=operation.actor,
        )

    def lock(self, held: Held) -> str:
        number = int(self.trace.ranges[held.lock]["object"])
        row = self.trace.objects[number]
        kind, name = self.trace.strings[row["kind"]] or "lock", self.trace.strings[row["name"]]
        name = self.describe(held.since).variable or name
        words = f"{kind} '{name}'" if name else f"{kind} M{number}"
        words = f"read side of {words}" if held.shared else words
        self.made[words] = self.made_at(held.lock)
        return words

    def made_at(self, lock: int) -> tuple[Frame, ...]:
        """Where a lock was initialised; where nobody did, where it was first taken."""
        rows = self.trace.operations
        on_it = np.flatnonzero(rows["range"] == lock)
        for kind in (OpKind.INIT, OpKind.ACQUIRE):
            first = on_it[rows["kind"][on_it] == int(kind)][:1]
            if len(first):
                return self.frames(int(rows["stack"][first[0]]))
        return ()

    def locks_of(self, sides: Iterable[Side]) -> tuple[HeldLock, ...]:
        names = dict.fromkeys(lock for side in sides for lock in side.found.locks)
        return tuple(HeldLock(name, self.made[name]) for name in names if self.made.get(name))

    def creator(self, actor: int) -> str:
        parent = self.trace.actor(actor).parent
        return "" if parent is None else self.actor(parent)

    def created(self, actor: int) -> tuple[Frame, ...]:
        starter = self.trace.actor(actor).started_by
        return () if starter is None else self.frames(int(self.trace.operations["stack"][starter]))

    def allocated(self, touched: int) -> tuple[Frame, ...]:
        return self.frames(int(self.trace.objects[touched]["stack"]))

    def _frames(self, stack: int) -> tuple[Frame, ...]:
        return tuple(
            Frame(p.function, p.file, p.line, p.column, p.module, p.offset)
            for p in self.trace.stack(stack)
        )

    def _actor(self, index: int) -> str:
        actor = self.trace.actor(index)
        name = f" '{actor.name}'" if actor.name else ""
        if self.trace.world is World.THREADS:
            return f"thread T{index}{name}" if actor.parent is not None else f"main thread{name}"
        if self.trace.world is World.KERNEL:
            return f"context {index}{name}"
        return f"process{name} (pid {actor.native_id})" if actor.native_id else f"process{name}"


def _value(operation: Operation) -> str:
    if operation.value is None or operation.range is None or operation.kind not in _SIZED:
        return ""
    return value_words(operation.value, operation.range.hi - operation.range.lo)


_SIZED = ACCESSES - {OpKind.ALLOCATE, OpKind.FREE}  # those two are of a block as a whole


def op_words(operation: Operation, world: World) -> str:
    """What an operation does: "atomic write of size 4", "try-lock", "wait"."""
    words = OP_WORDS[operation.kind]
    if world is World.PROCESSES and operation.place.function:
        return operation.place.function
    if operation.kind is OpKind.ACQUIRE:
        words = ("try-" if operation.flags & OpFlag.TRY else "") + words
        return f"read {words}" if operation.flags & OpFlag.SHARED else words
    if operation.flags & OpFlag.ATOMIC:
        words = f"atomic {words}"
    if operation.kind in _SIZED and operation.range and world is not World.PROCESSES:
        words += f" of size {operation.range.hi - operation.range.lo}"
    return words
