# SPDX-License-Identifier: Apache-2.0
"""Races of a trace, in names and sentences: numbers go in, findings come out."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from eitherway.detect.locks import Held, Locks
from eitherway.findings.sentences import Side, explained
from eitherway.model.finding import Finding, FoundOperation, Frame, Source
from eitherway.model.identity import identified
from eitherway.model.race import Race
from eitherway.model.trace import Operation, Trace
from eitherway.model.words import ACCESSES, OP_WORDS, Kind, OpFlag, OpKind, World


def findings_of(
    trace: Trace, races: Sequence[Race], *, source: Source, evidence: str = "", replay: str = ""
) -> Iterable[Finding]:
    """One finding per race; several may have one id, and `merge` makes one of them."""
    names = _Names(trace)
    for race in races:
        sides = [names.side(operation) for operation in _told(trace, race)]
        yield identified(
            Finding(
                world=trace.world,
                kind=race.kind,
                operations=tuple(side.found for side in sides),
                explanation=explained(race.kind, race.pattern, sides),
                evidence=evidence,
                replay=replay,
                sources=(source,),
            )
        )


def _told(trace: Trace, race: Race) -> Iterable[int]:
    """The operations a finding names: of a wake-up the same two, whether its loss was seen or not.

    Where the WAIT began is how the detector knows that it can be lost; with it the finding of a run
    that went well would have another id than that of one that hung.
    """
    kinds = trace.operations["kind"]
    waking = [i for i in race.operations if kinds[i] in (OpKind.WAIT, OpKind.WAKE)]
    return waking if race.kind is Kind.LOST_WAKEUP and waking else race.operations


def side_of(trace: Trace, operation: int) -> FoundOperation:
    """One operation in names."""
    return _Names(trace).side(operation).found


class _Names:
    """Names for what a trace numbers."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.locks = Locks(trace)
        self.frames = lru_cache(maxsize=1 << 14)(self._frames)
        self.actor = lru_cache(maxsize=1 << 14)(self._actor)

    def side(self, index: int) -> Side:
        operation = self.trace.operation(index)
        return Side(
            found=FoundOperation(
                actor=self.actor(operation.actor),
                op=op_words(operation, self.trace.world),
                object=operation.range.object_kind if operation.range else "",
                variable=operation.range.object_name if operation.range else "",
                stack=self.frames(int(self.trace.operations["stack"][index])),
                locks=tuple(map(self.lock, self.locks.held(index))),
                created=self.created(operation.actor),
                allocated=self.allocated(operation.range.object) if operation.range else (),
                value="" if operation.value is None else str(operation.value),
            ),
            kind=operation.kind,
            flags=operation.flags,
            actor=operation.actor,
        )

    def lock(self, held: Held) -> str:
        number = int(self.trace.ranges[held.lock]["object"])
        row = self.trace.objects[number]
        kind, name = self.trace.strings[row["kind"]] or "lock", self.trace.strings[row["name"]]
        words = f"{kind} '{name}'" if name else f"{kind} M{number}"
        return f"read side of {words}" if held.shared else words

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


def op_words(operation: Operation, world: World) -> str:
    """What an operation does: "atomic write of size 4", "try-lock", "wait"."""
    words = OP_WORDS[operation.kind]
    if operation.kind is OpKind.ACQUIRE:
        words = ("try-" if operation.flags & OpFlag.TRY else "") + words
        return f"read {words}" if operation.flags & OpFlag.SHARED else words
    if operation.flags & OpFlag.ATOMIC:
        words = f"atomic {words}"
    if operation.kind in ACCESSES and operation.range and world is not World.PROCESSES:
        words += f" of size {operation.range.hi - operation.range.lo}"
    return words
