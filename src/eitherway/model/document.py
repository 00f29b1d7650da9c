# SPDX-License-Identifier: Apache-2.0
"""The JSON form of findings, as `format/finding.schema.json` fixes it; write and read mirror.

Reading checks everything and says where it went wrong (`$.findings[3].operations[0].line`). The
schema itself is not used for that: validators are slow and not a run-time dependency. A test holds
the two together.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

from eitherway.model.finding import (
    MOST,
    Confidence,
    Document,
    Excerpt,
    Finding,
    FoundOperation,
    Frame,
    HeldLock,
    Ordered,
    Seen,
    Source,
    Summary,
)
from eitherway.model.history import Edge, History, Moment
from eitherway.model.place import Place
from eitherway.model.shape import (
    JsonObject,
    ShapeError,
    flag,
    listing,
    matching,
    number,
    partial,
    record,
    shown,
    some_text,
    text,
    word,
)
from eitherway.model.words import Arm, Class, Kind, OpKind, World

FORMAT = 1  # raised when a reader of the old form would misread the new one


class NewerFormatError(ShapeError):
    """A document of a version that this one does not know."""


# --- write ----------------------------------------------------------------------------------------


def lines_of(document: Document) -> Iterator[str]:
    """The JSON text, one finding per line: to compare, to grep and to stream."""
    tool = _compact({"name": document.tool, "version": document.version})
    yield f'{{"format": {FORMAT},\n"tool": {tool},\n"findings": ['
    for index, finding in enumerate(document.findings):
        yield ("\n" if index == 0 else ",\n") + _compact(finding_to_json(finding))
    yield f'\n],\n"summary": {_compact(summary_to_json(document.summary))}}}\n'


def finding_to_json(finding: Finding) -> JsonObject:
    """All fields of a finding, known or not."""
    return {
        "id": finding.id,
        "world": finding.world.value,
        "kind": finding.kind.value,
        "class": finding.klass.value,
        "reason": finding.reason,
        "consequence": finding.consequence,
        "confidence": {
            "paths": finding.confidence.paths,
            "schedules": finding.confidence.schedules,
            "arms": [arm.value for arm in finding.confidence.arms],
            "isolation": finding.confidence.isolation,
            "matching": finding.confidence.matching,
        },
        "operations": [_operation_to_json(operation) for operation in finding.operations],
        "explanation": list(finding.explanation),
        "replay": finding.replay,
        "evidence": finding.evidence,
        "sources": [{"tool": source.tool, "file": source.file} for source in finding.sources],
        "seen": {
            "first": finding.seen.first,
            "last": finding.seen.last,
            "count": finding.seen.count,
        },
        "locks": [_lock_to_json(lock) for lock in finding.locks],
        "orders": [_ordered_to_json(ordered) for ordered in finding.orders],
        "history": _history_to_json(finding.history),
        "code": [_excerpt_to_json(excerpt) for excerpt in finding.code],
    }


def summary_to_json(summary: Summary) -> JsonObject:
    """All fields of a summary; each class has its number."""
    return {
        "findings": summary.findings,
        "new": list(summary.new),
        "gone": list(summary.gone),
        "suppressed": summary.suppressed,
        "unused_suppressions": list(summary.unused_suppressions),
        "classes": {klass.value: summary.classes.get(klass, 0) for klass in Class},
        "notes": list(summary.notes),
        "failing": list(summary.failing),
    }


def _operation_to_json(operation: FoundOperation) -> JsonObject:
    place = operation.place
    return {
        "actor": operation.actor,
        "op": operation.op,
        "object": operation.object,
        "variable": operation.variable,
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "function": place.function,
        "value": operation.value,
        "locks": list(operation.locks),
        "stack": [_frame_to_json(frame) for frame in operation.stack],
        "created": [_frame_to_json(frame) for frame in operation.created],
        "allocated": [_frame_to_json(frame) for frame in operation.allocated],
        "part": operation.part,
        "created_by": operation.created_by,
        "allocated_by": operation.allocated_by,
    }


def _lock_to_json(lock: HeldLock) -> JsonObject:
    return {"name": lock.name, "made": [_frame_to_json(frame) for frame in lock.made]}


def _ordered_to_json(ordered: Ordered) -> JsonObject:
    return {
        "order": ordered.order,
        "does": ordered.does,
        "output": ordered.output,
        "replay": ordered.replay,
    }


def _history_to_json(history: History) -> JsonObject:
    return {
        "actors": list(history.actors),
        "moments": [_moment_to_json(moment) for moment in history.moments],
        "edges": [
            {"before": edge.before, "after": edge.after, "chance": edge.chance}
            for edge in history.edges
        ],
    }


def _moment_to_json(moment: Moment) -> JsonObject:
    return {
        "actor": moment.actor,
        "step": moment.step,
        "kind": moment.kind.name.lower(),
        "op": moment.op,
        "touched": moment.touched,
        "value": moment.value,
        "function": moment.place.function,
        "file": moment.place.file,
        "line": moment.place.line,
        "side": moment.side,
    }


def _excerpt_to_json(excerpt: Excerpt) -> JsonObject:
    return {"file": excerpt.file, "first": excerpt.first, "lines": list(excerpt.lines)}


def _frame_to_json(frame: Frame) -> JsonObject:
    """Only what is known: most of a document is frames."""
    known: JsonObject = {}
    if frame.function:
        known["function"] = frame.function
    if frame.file:
        known["file"] = frame.file
    if frame.line:
        known["line"] = frame.line
    if frame.column:
        known["column"] = frame.column
    if frame.module:
        known["module"] = frame.module
    if frame.offset:
        known["offset"] = frame.offset
    if frame.inlined:
        known["inlined"] = True
    return known


def _compact(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


# --- read -----------------------------------------------------------------------------------------


def read_document(written: str | bytes) -> Document:
    """The document in this JSON text, else `ShapeError`."""
    try:
        value = json.loads(written, parse_constant=_no_constant, object_pairs_hook=_without_repeats)
    except ShapeError:
        raise
    except RecursionError:
        raise ShapeError("is nested too deeply") from None
    except ValueError as error:  # not JSON, not UTF-8, a number of thousands of digits
        raise ShapeError(f"is not JSON: {error}") from None
    return document_from_json(value)


def document_from_json(value: object) -> Document:
    """The document of this parsed JSON value, else `ShapeError`."""
    if isinstance(value, dict) and "format" in value:
        partial(format=_format)({"format": value["format"]})  # a newer form may differ in all else
    fields = _DOCUMENT(value)
    return Document(
        findings=fields["findings"],
        summary=fields["summary"],
        tool=fields["tool"]["name"],
        version=fields["tool"]["version"],
    )


def finding_from_json(value: object) -> Finding:
    """The finding of this parsed JSON value, else `ShapeError`."""
    fields = _FINDING(value)
    fields["klass"] = fields.pop("class")
    return Finding(**fields)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Of a field that stands twice, readers disagree on which one counts."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ShapeError(f"has an object with the field {shown(twice)} twice")
    return fields


def _format(value: object) -> int:
    given: int = _COUNT(value)
    if given > FORMAT:
        raise NewerFormatError(f"is {given}, and this version reads up to {FORMAT}")
    if given < FORMAT:
        raise ShapeError(f"is {given}; the first format is {FORMAT}")
    return given


def _operation(value: object) -> FoundOperation:
    fields = _OPERATION(value)
    place = {name: fields.pop(name) for name in ("file", "line", "column", "function")}
    stack: tuple[Frame, ...] = fields["stack"]
    if not stack and any(place.values()):
        fields["stack"] = (Frame(**place),)
    for name, given in place.items() if stack else ():
        if given != getattr(stack[0], name):
            raise ShapeError("is not that of the innermost frame of the stack", f".{name}")
    return FoundOperation(**fields)


def _moment(value: object) -> Moment:
    fields = _MOMENT(value)
    place = {name: fields.pop(name) for name in ("function", "file", "line")}
    return Moment(**fields, place=Place(**place))


def _history(value: object) -> History:
    """What it refers to is there, and time goes forward: who draws it relies on that."""
    history = History(**_HISTORY(value))
    for at, moment in enumerate(history.moments):
        if moment.actor >= len(history.actors):
            raise ShapeError("is the number of no actor", f".moments[{at}].actor")
    for at, edge in enumerate(history.edges):
        if not edge.before < edge.after < len(history.moments):
            raise ShapeError("leads from no moment to a later one", f".edges[{at}]")
    return history


def _op_kind(value: object) -> OpKind:
    kind = _OP_KINDS.get(text(value))
    if kind is None:
        raise ShapeError(f"must be one of {', '.join(_OP_KINDS)}; is {shown(value)}")
    return kind


_OP_KINDS = {kind.name.lower(): kind for kind in OpKind}


def _frame(value: object) -> Frame:
    return Frame(**_FRAME(value))


_COUNT = number(0, MOST)
_LINE = number(0, 2**32 - 1)
_ID = matching(r"EW-[0-9a-f]{16}", 'an id such as "EW-0123456789abcdef"')
_TIME = matching(
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z)?",
    'a time such as "2031-05-01T12:00:00Z", or empty',
)
_FRAME = partial(
    function=text,
    file=text,
    line=_LINE,
    column=_LINE,
    module=text,
    offset=number(0, 2**64 - 1),
    inlined=flag,
)
_STACK = listing(_frame)
_OPERATION = record(
    actor=some_text,
    op=some_text,
    object=text,
    variable=text,
    file=text,
    line=_LINE,
    column=_LINE,
    function=text,
    value=text,
    locks=listing(some_text),
    stack=_STACK,
    created=_STACK,
    allocated=_STACK,
    part=text,
    created_by=text,
    allocated_by=text,
)
_CONFIDENCE = record(
    paths=_COUNT,
    schedules=_COUNT,
    arms=listing(word(Arm), unique=True),
    isolation=text,
    matching=text,
)
_SOURCE = record(tool=some_text, file=text)
_SEEN = record(first=_TIME, last=_TIME, count=number(1, MOST))
_LOCK = record(name=some_text, made=_STACK)
_ORDERED = record(order=some_text, does=some_text, output=text, replay=text)
_MOMENT = record(
    actor=_LINE,
    step=_COUNT,
    kind=_op_kind,
    op=some_text,
    touched=text,
    value=text,
    function=text,
    file=text,
    line=_LINE,
    side=_LINE,
)
_EDGE = record(before=_LINE, after=_LINE, chance=flag)
_HISTORY = record(
    actors=listing(some_text),
    moments=listing(_moment),
    edges=listing(lambda value: Edge(**_EDGE(value))),
)
_EXCERPT = record(file=some_text, first=number(1, 2**32 - 1), lines=listing(text))
_FINDING = record(
    **{"class": word(Class)},
    id=_ID,
    world=word(World),
    kind=word(Kind),
    reason=text,
    consequence=text,
    confidence=lambda value: Confidence(**_CONFIDENCE(value)),
    operations=listing(_operation),
    explanation=listing(some_text),
    replay=text,
    evidence=text,
    sources=listing(lambda value: Source(**_SOURCE(value)), unique=True),
    seen=lambda value: Seen(**_SEEN(value)),
    locks=listing(lambda value: HeldLock(**_LOCK(value))),
    orders=listing(lambda value: Ordered(**_ORDERED(value))),
    history=_history,
    code=listing(lambda value: Excerpt(**_EXCERPT(value))),
)
_CLASSES = partial(**{klass.value: _COUNT for klass in Class})
_SUMMARY = record(
    findings=_COUNT,
    new=listing(_ID, unique=True),
    gone=listing(_ID, unique=True),
    suppressed=_COUNT,
    unused_suppressions=listing(some_text),
    classes=lambda value: {Class(name): count for name, count in _CLASSES(value).items()},
    notes=listing(some_text),
    failing=listing(_ID, unique=True),
)
_DOCUMENT = record(
    format=_format,
    tool=record(name=some_text, version=text),
    findings=listing(finding_from_json),
    summary=lambda value: Summary(**_SUMMARY(value)),
)
