# SPDX-License-Identifier: Apache-2.0
"""Findings for people, in the layout of ThreadSanitizer, which tools already read.

Behind the SUMMARY line comes what ThreadSanitizer does not have: the class, the consequence, the
proof in sentences and the command that shows it again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TextIO

from eitherway.findings.overview import overview
from eitherway.model.finding import Finding, FoundOperation, Frame, Summary
from eitherway.model.shortened import shortened
from eitherway.model.text import counted, printable
from eitherway.model.words import OP_WORDS, Class, Kind, OpKind
from eitherway.report.words import MEANINGS, capital, in_module, is_stuck, place, title, where

RULE = "=" * 18
_FEW = 2  # findings that need no overview

_BOLD, _RED, _PLAIN = "\x1b[1m", "\x1b[1;31m", "\x1b[0m"


def wants_colour(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Only on a terminal that understands it, and never with NO_COLOR."""
    return out.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


class TextReport:
    """One block per finding, then the summary."""

    def __init__(self, *, colour: bool = False) -> None:
        self.colour = colour

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write all blocks; nothing of the program's text reaches the terminal unescaped."""
        new = set(summary.new)
        for finding in findings:
            marked = "" if finding.id in new else ", in the baseline"
            for line in _block(finding, marked):
                out.write(self._shown(line))
        for line in _closing(summary, findings):
            out.write(self._shown(line))

    def _shown(self, line: str) -> str:
        text = printable(line)
        if self.colour and text.startswith("WARNING: "):
            text = f"{_RED}{text}{_PLAIN}"
        elif self.colour and text.startswith(("SUMMARY: ", "  class: ", "  consequence: ")):
            text = f"{_BOLD}{text}{_PLAIN}"
        return text + "\n"


def _block(finding: Finding, marked: str) -> Iterator[str]:
    locks = _numbered_locks(finding)
    yield RULE
    yield f"WARNING: EitherWay: {title(finding)}"
    yield from _cycle(finding)
    for heading, operation in _told(finding, locks):
        yield f"  {heading}:"
        yield from _stack(operation.stack)
        yield ""
    yield from _locations(finding)
    yield from _locks(finding, locks)
    yield from _actors(finding)
    yield f"SUMMARY: EitherWay: {title(finding)}{_summary_place(finding)}"
    yield from _judgement(finding, marked)
    yield RULE


def _told(finding: Finding, locks: Mapping[str, str]) -> Iterator[tuple[str, FoundOperation]]:
    """Each operation with its title: of two accesses the later one first, as TSan does."""
    operations = finding.operations
    if finding.kind is Kind.DEADLOCK and not is_stuck(finding):
        yield from ((_acquired(operation), operation) for operation in operations)
        return
    pair = len(operations) == 2 and finding.kind in (Kind.DATA_RACE, Kind.LOAD_STORE)
    for index, operation in enumerate(reversed(operations) if pair else operations):
        op = f"Previous {operation.op}" if pair and index else capital(operation.op)
        part = f"{operation.part} of " if operation.part else ""
        where = operation.variable or operation.object
        at = f" {_AT.get(operation.op, 'at')} {part}{where}" if where else ""
        yield f"{op}{at} by {operation.actor}{_mutexes(operation, locks)}", operation


_WHOLE = (OpKind.FREE, OpKind.ACQUIRE, OpKind.RELEASE, OpKind.INIT, OpKind.DESTROY)
_AT = {OP_WORDS[kind]: "of" for kind in _WHOLE}


def _acquired(operation: FoundOperation) -> str:
    holding = " and ".join(operation.locks)
    while_holding = f" while holding {holding}" if holding else ""
    name = f" '{operation.variable}'" if operation.variable else ""
    wanted = f"{capital(operation.object or 'mutex')}{name}"
    return f"{wanted} acquired here{while_holding} in {operation.actor}"


def _numbered_locks(finding: Finding) -> dict[str, str]:
    """M1, M2, ... for the locks held, in the order they are met."""
    names = dict.fromkeys(lock for operation in finding.operations for lock in operation.locks)
    return {name: f"M{number}" for number, name in enumerate(names, start=1)}


def _mutexes(operation: FoundOperation, locks: Mapping[str, str]) -> str:
    if not operation.locks:
        return ""
    held = (f"{'read' if n.startswith('read ') else 'write'} {locks[n]}" for n in operation.locks)
    return f" (mutexes: {', '.join(held)})"


def _cycle(finding: Finding) -> Iterator[str]:
    """The operations of a deadlock come in pairs round the ring: the lock held, the one wanted.

    A deadlock that another tool told has only the second of each pair.
    """
    if finding.kind is not Kind.DEADLOCK or not finding.operations or is_stuck(finding):
        return
    operations = finding.operations
    pairs = list(zip(operations[::2], operations[1::2], strict=False))
    if all(one.actor == other.actor for one, other in pairs):
        ring = [one for one, _ in pairs] + [operations[0]]
    else:
        ring = [operations[-1], *operations]
    yield f"  Cycle in lock order graph: {' => '.join(op.variable or '?' for op in ring)}"
    yield ""


def _stack(frames: Sequence[Frame]) -> Iterator[str]:
    if not frames:
        yield "    [failed to restore the stack]"
    for number, frame in enumerate(frames):
        unknown = "" if frame.module and not frame.offset else " <null>"
        at = f" {place(frame)}" if place(frame) else unknown
        yield f"    #{number} {shortened(frame.function) or '<null>'}{at}{_module(frame)}"


def _module(frame: Frame) -> str:
    return f" ({in_module(frame)})" if frame.module else ""


def _locations(finding: Finding) -> Iterator[str]:
    """What is raced on, each object once."""
    if finding.kind is Kind.DEADLOCK:
        return
    told: set[str] = set()
    for operation in finding.operations:
        what = operation.touched
        if not what or what in told:
            continue
        told.add(what)
        by = f" by {operation.allocated_by}" if operation.allocated_by else ""
        allocated = f" allocated{by} at:" if operation.allocated else ""
        yield f"  Location is {what}{allocated}"
        yield from _stack(operation.allocated) if operation.allocated else ()
        yield ""


def _locks(finding: Finding, locks: Mapping[str, str]) -> Iterator[str]:
    """Which locks M1, M2, ... are, and where one that is itself raced on was made."""
    made = {op.variable: op.allocated for op in finding.operations if op.variable}
    known = {lock.name: lock.made for lock in finding.locks}
    for name, number in locks.items():
        created = known.get(name) or next((made[v] for v in made if f"'{v}'" in name), ())
        if finding.kind is Kind.DEADLOCK and not created:
            continue  # named in full above
        yield f"  Mutex {number} ({name}){' created at:' if created else ''}"
        yield from _stack(created) if created else ()
        yield ""


def _actors(finding: Finding) -> Iterator[str]:
    told: set[str] = set()
    for operation in finding.operations:
        if operation.created and operation.actor not in told:
            told.add(operation.actor)
            by = f" by {operation.created_by}" if operation.created_by else ""
            yield f"  {capital(operation.actor)} created{by} at:"
            yield from _stack(operation.created)
            yield ""


def _summary_place(finding: Finding) -> str:
    for operation in reversed(finding.operations):
        frame = where(operation)
        at = place(frame) or (f"({in_module(frame)})" if frame.module else "")
        if at or frame.function:
            return (f" {at}" if at else "") + (
                f" in {shortened(frame.function)}" if frame.function else ""
            )
    return ""


def _judgement(finding: Finding, marked: str) -> Iterator[str]:
    yield f"  id: {finding.id}{marked}"
    k = finding.confidence.paths * finding.confidence.schedules
    tried = f"; tried {counted(k, 'way')}" if k else ""
    yield f"  class: {finding.klass.value} ({MEANINGS[finding.klass]}{tried})"
    yield from _labelled("reason", finding.reason)
    yield from _labelled("consequence", finding.consequence)
    yield from (f"  {sentence}" for sentence in finding.explanation)
    for one in finding.orders:
        yield f"  when {one.order}: {one.does}" + (f"; {one.replay}" if one.replay else "")
    if finding.seen.count > 1:
        yield f"  seen: {finding.seen.count} times"
    yield from _labelled("evidence", finding.evidence)
    yield from _labelled("replay", finding.replay)


def _labelled(label: str, text: str) -> Iterable[str]:
    return (f"  {label}: {text}",) if text else ()


def _closing(summary: Summary, findings: Sequence[Finding]) -> Iterator[str]:
    if len(findings) > _FEW:
        yield "In short:"
        yield from (f"  {line}" for line in overview(findings))
    counts = [f"{count} {klass.value}" for klass in Class if (count := summary.classes.get(klass))]
    found = counted(summary.findings, "finding")
    yield f"EitherWay: {found}" + (f": {', '.join(counts)}" if counts else "")
    known = summary.findings - len(summary.new)
    if known or summary.gone:
        yield f"  {len(summary.new)} new, {known} in the baseline, {len(summary.gone)} gone"
    yield from (f"  gone: {one}" for one in summary.gone)
    if summary.suppressed:
        yield f"  {summary.suppressed} suppressed"
    yield from (f"  matched nothing: {line}" for line in summary.unused_suppressions)
    yield from (f"  {note}" for note in summary.notes)
