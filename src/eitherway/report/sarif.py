# SPDX-License-Identifier: Apache-2.0
"""Findings in SARIF 2.1.0, for code-scanning services and editors.

Each actor is a thread flow of its own, and `executionOrder` says how they mix: the standard's words
for what a history is.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO
from urllib.parse import quote

from eitherway import __version__
from eitherway.model.finding import Finding, FoundOperation, Frame, Summary
from eitherway.model.history import Moment
from eitherway.model.place import Place
from eitherway.model.shortened import shortened
from eitherway.model.text import printable
from eitherway.model.words import Class, Kind
from eitherway.report import words
from eitherway.report.places import Root

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT_NAME = "%SRCROOT%"

Object = dict[str, Any]

_WHAT = {
    Kind.DATA_RACE: "Two accesses to the same memory, one of them a write, that nothing orders.",
    Kind.LOAD_STORE: "Two operations on one object, one of them a store, that nothing orders.",
    Kind.WAIT_WAKEUPS: "A wait that can be ended by another wake-up than it was in the run seen.",
    Kind.WAKEUP_WAITS: "A wake-up that can end another wait than it did in the run seen.",
    Kind.TOCTOU: "What was checked can change before it is used.",
    Kind.ATOMICITY: "Operations that belong together, and another that can come between them.",
    Kind.DEADLOCK: "Actors that wait for each other, or can come to do so.",
    Kind.LOST_WAKEUP: "A wake-up that can come before the wait it is meant for.",
    Kind.LOCK_MISUSE: "A lock that is used as locks must not be.",
    Kind.MEMORY_ERROR: "Memory that is used, or given back, after it was given back.",
    Kind.THREAD_LEAK: "A thread that nobody waits for, and that is not detached.",
    Kind.SIGNAL_MISUSE: "A handler of a signal that does what handlers must not do.",
    Kind.HANG: "A run that did not end in the time it was given.",
    Kind.FAILURE: "A failure that depends on the order in which things happen.",
}
_QUIET = frozenset({Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING})


class SarifReport:
    """One run of one tool."""

    def __init__(self, root: Root | None = None) -> None:
        self._root = root or Root()

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write the log, one result per line: of thousands it has a hundred megabytes."""
        results = _Results(self._root, summary)
        rules = sorted({finding.kind for finding in findings}, key=list(Kind).index)
        run = {
            "tool": {"driver": _driver(rules)},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {ROOT_NAME: {"uri": f"file://{_uri(self._root.path)}/"}},
            "invocations": [_invocation(summary)],
        }
        out.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{_json(run)[:-1]},\n')
        out.write('"results": [')
        for number, finding in enumerate(findings):
            result = results.result(finding, rules.index(finding.kind))
            out.write(f"{',' if number else ''}\n{_json(result)}")
        out.write("\n]}]}\n")


def _json(value: Object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _driver(rules: Sequence[Kind]) -> Object:
    return {
        "name": "EitherWay",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(kind) for kind in rules],
    }


def _rule(kind: Kind) -> Object:
    return {
        "id": kind.value,
        "name": "".join(part.capitalize() for part in kind.value.split("-")),
        "shortDescription": {"text": words.capital(words.TITLES[kind])},
        "fullDescription": {"text": _WHAT[kind]},
        "help": {"text": f"{_WHAT[kind]} The code flows show what each actor did, in time."},
        "properties": {"tags": ["concurrency"], "precision": "very-high"},
    }


def _invocation(summary: Summary) -> Object:
    """What was looked at; it is what "no result" means."""
    notes = [{"message": {"text": printable(note)}, "level": "note"} for note in summary.notes]
    return {"executionSuccessful": True, "toolExecutionNotifications": notes}


class _Results:
    def __init__(self, root: Root, summary: Summary) -> None:
        self._root = root
        self._new = frozenset(summary.new)
        self._failing = frozenset(summary.failing)

    def result(self, finding: Finding, rule: int) -> Object:
        main = words.main_side(finding)
        others = [op for op in finding.operations if op is not main]
        told: Object = {
            "ruleId": finding.kind.value,
            "ruleIndex": rule,
            "level": self._level(finding),
            "message": {"text": _message(finding)},
            "locations": [self._location(words.where(main))] if main else [],
            "relatedLocations": [
                {**self._location(words.where(op)), "id": number, "message": {"text": _side(op)}}
                for number, op in enumerate(others, start=1)
            ],
            "stacks": _distinct(self._stack(op) for op in finding.operations if op.stack),
            "codeFlows": list(self._flows(finding)),
            "partialFingerprints": {"eitherwayId/v1": finding.id},
            "baselineState": "new" if finding.id in self._new else "unchanged",
            "occurrenceCount": finding.seen.count,
            "properties": _properties(finding),
        }
        return {name: value for name, value in told.items() if value != []}

    def _level(self, finding: Finding) -> str:
        if finding.id in self._failing:
            return "error"
        return "note" if finding.klass in _QUIET else "warning"

    def _flows(self, finding: Finding) -> Iterator[Object]:
        flows = self._from_history(finding) or self._from_operations(finding)
        if flows:
            yield {"message": {"text": "What the actors did, in time."}, "threadFlows": flows}

    def _from_history(self, finding: Finding) -> list[Object]:
        flows: list[Object] = []
        for actor, name in enumerate(finding.history.actors):
            steps = [
                self._step(order, moment.place, _moment(moment), essential=bool(moment.side))
                for order, moment in enumerate(finding.history.moments, start=1)
                if moment.actor == actor
            ]
            flows += [{"id": printable(name), "locations": steps}] if steps else []
        return flows

    def _from_operations(self, finding: Finding) -> list[Object]:
        flows: dict[str, list[Object]] = {}
        for order, op in enumerate(finding.operations, start=1):
            step = self._step(order, words.where(op), _side(op), essential=True)
            flows.setdefault(printable(op.actor), []).append(step)
        return [{"id": actor, "locations": steps} for actor, steps in flows.items()]

    def _step(self, order: int, place: Place, text: str, *, essential: bool) -> Object:
        return {
            "executionOrder": order,
            "importance": "essential" if essential else "important",
            "location": {**self._location(place), "message": {"text": text}},
        }

    def _stack(self, operation: FoundOperation) -> Object:
        frames = [
            {
                "location": {**self._location(frame), "message": {"text": _function(frame)}},
                **({"module": printable(frame.module)} if frame.module else {}),
            }
            for frame in operation.stack
        ]
        return {"message": {"text": _side(operation)}, "frames": frames}

    def _location(self, place: Place) -> Object:
        told: Object = {}
        if place.file:
            told["physicalLocation"] = self._physical(place)
        if place.function:
            name = printable(place.function)
            told["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "function"}]
        return told

    def _physical(self, place: Place) -> Object:
        artifact: Object = {"uri": _uri(self._root.relative(place.file))}
        if self._root.is_inside(place.file):
            artifact["uriBaseId"] = ROOT_NAME
        elif place.file.startswith("/"):
            artifact["uri"] = f"file://{artifact['uri']}"
        if not place.line:
            return {"artifactLocation": artifact}
        region = {
            "startLine": place.line,
            **({"startColumn": place.column} if place.column else {}),
        }
        return {"artifactLocation": artifact, "region": region}


def _distinct(objects: Iterable[Object]) -> list[Object]:
    """The standard wants no two that are equal."""
    kept: list[Object] = []
    for one in objects:
        if one not in kept:
            kept.append(one)
    return kept


def _message(finding: Finding) -> str:
    """Links by number lead to `relatedLocations`, which are in the same order."""
    parts = [f"{words.capital(words.sentence(finding))}."]
    parts += filter(None, [finding.consequence, *finding.explanation[-1:]])
    parts.append(f"Class: {finding.klass.value} ({words.MEANINGS[finding.klass]}).")
    if finding.replay:
        parts.append(f"Replay: {finding.replay}")
    return printable(" ".join(parts))


def _side(operation: FoundOperation) -> str:
    return printable(words.side(operation))


def _moment(moment: Moment) -> str:
    value = f" ({moment.value})" if moment.value else ""
    return printable(f"{moment.op}{value}{f' of {moment.touched}' if moment.touched else ''}")


def _function(frame: Frame) -> str:
    return printable(shortened(frame.function)) or f"{printable(frame.module)}+{frame.offset:#x}"


def _properties(finding: Finding) -> Object:
    return {
        "id": finding.id,
        "class": finding.klass.value,
        "world": finding.world.value,
        "about": printable(words.about(finding)),
        "replay": printable(finding.replay),
        "sources": sorted({printable(source.tool) for source in finding.sources}),
    }


def _uri(path: str) -> str:
    try:
        return quote(path.encode("utf-8", errors="surrogateescape"))
    except UnicodeEncodeError:  # no bytes of a file name either
        return quote(printable(path))
