# SPDX-License-Identifier: Apache-2.0
"""Findings as data for a page that draws them: every text, frame and stack once, by number.

Of 5,000 findings most frames are frames of many; a page that repeated them would not open.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from eitherway import __version__
from eitherway.model.finding import Excerpt, Finding, FoundOperation, Frame, Summary
from eitherway.model.history import History, Moment
from eitherway.model.names import in_library
from eitherway.model.shortened import shortened
from eitherway.model.text import printable
from eitherway.model.words import Class
from eitherway.report import words

Data = dict[str, Any]


def view_of(findings: Sequence[Finding], summary: Summary) -> Data:
    """All that a page needs."""
    tables = _Tables()
    told = [_Findings(tables, frozenset(summary.new)).finding(finding) for finding in findings]
    return {
        "tool": {"name": "EitherWay", "version": __version__},
        "summary": _summary(summary),
        "meanings": {klass.value: words.MEANINGS[klass] for klass in Class},
        "texts": list(tables.texts),
        "frames": list(tables.frames),
        "stacks": list(tables.stacks),
        "excerpts": list(tables.excerpts),
        "findings": told,
    }


def _summary(summary: Summary) -> Data:
    return {
        "gone": list(summary.gone),
        "suppressed": summary.suppressed,
        "notes": [printable(note) for note in (*summary.notes, *_unused(summary))],
    }


def _unused(summary: Summary) -> Iterable[str]:
    return (f"matched nothing: {line}" for line in summary.unused_suppressions)


class _Tables:
    """Numbers for what repeats; a dict keeps the order in which they were given."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.frames: dict[tuple[int, ...], int] = {}
        self._numbers: dict[Frame, int] = {}  # of frames that were met: most are met again
        self.stacks: dict[tuple[int, ...], int] = {(): 0}
        self.excerpts: dict[tuple[int, int, tuple[int, ...]], int] = {}

    def text(self, text: str) -> int:
        return self.texts.setdefault(printable(text), len(self.texts))

    def lines(self, text: str) -> int:
        """The same of several lines, which stay apart."""
        shown = "\n".join(map(printable, text.split("\n")))
        return self.texts.setdefault(shown, len(self.texts))

    def frame(self, frame: Frame) -> int:
        number = self._numbers.get(frame)
        if number is None:
            number = self._numbers[frame] = self._new_frame(frame)
        return number

    def _new_frame(self, frame: Frame) -> int:
        row = (
            self.text(shortened(frame.function)),
            self.text(frame.file),
            frame.line,
            frame.column,
            self.text(words.in_module(frame)),
            int(frame.inlined),
            int(in_library(frame)),
        )
        return self.frames.setdefault(row, len(self.frames))

    def stack(self, stack: Iterable[Frame]) -> int:
        row = tuple(map(self.frame, stack))
        return self.stacks.setdefault(row, len(self.stacks))

    def excerpt(self, excerpt: Excerpt) -> int:
        lines = tuple(map(self.text, excerpt.lines))
        row = (self.text(excerpt.file), excerpt.first, lines)
        return self.excerpts.setdefault(row, len(self.excerpts))


class _Findings:
    def __init__(self, tables: _Tables, new: frozenset[str]) -> None:
        self.tables = tables
        self.text = tables.text
        self.new = new

    def finding(self, finding: Finding) -> Data:
        confidence = finding.confidence
        return {
            "id": finding.id,
            "world": finding.world.value,
            "kind": finding.kind.value,
            "class": finding.klass.value,
            "new": finding.id in self.new,
            "title": self.text(words.capital(words.title(finding))),
            "about": self.text(words.about(finding)),
            "functions": self.text(words.functions(finding)),
            "reason": self.text(finding.reason),
            "consequence": self.text(finding.consequence),
            "tried": confidence.paths * confidence.schedules,
            "isolation": self.text(confidence.isolation),
            "explanation": [self.text(sentence) for sentence in finding.explanation],
            "replay": self.text(finding.replay),
            "evidence": self.text(finding.evidence),
            "sources": [[self.text(one.tool), self.text(one.file)] for one in finding.sources],
            "seen": [finding.seen.first, finding.seen.last, finding.seen.count],
            "sides": [self._side(operation) for operation in finding.operations],
            "knowsLocks": words.knows_locks(finding),
            "locks": [
                [self.text(lock.name), self.tables.stack(lock.made)] for lock in finding.locks
            ],
            "orders": [
                [
                    self.text(one.order),
                    self.text(one.does),
                    self.tables.lines(one.output),
                    self.text(one.replay),
                ]
                for one in finding.orders
            ],
            "history": self._history(finding.history),
            "code": [self.tables.excerpt(excerpt) for excerpt in finding.code],
        }

    def _side(self, operation: FoundOperation) -> Data:
        return {
            "actor": self.text(operation.actor),
            "op": self.text(operation.op),
            "touched": self.text(operation.touched),
            "part": self.text(operation.part),
            "value": self.text(operation.value),
            "locks": [self.text(lock) for lock in operation.locks],
            "stack": self.tables.stack(operation.stack),
            "created": self.tables.stack(operation.created),
            "createdBy": self.text(operation.created_by),
            "allocated": self.tables.stack(operation.allocated),
            "allocatedBy": self.text(operation.allocated_by),
        }

    def _history(self, history: History) -> Data:
        return {
            "actors": [self.text(actor) for actor in history.actors],
            "moments": [self._moment(moment) for moment in history.moments],
            "edges": [[edge.before, edge.after, int(edge.chance)] for edge in history.edges],
        }

    def _moment(self, moment: Moment) -> list[int | str]:
        return [
            moment.actor,
            moment.step,
            moment.kind.name.lower(),
            self.text(moment.op),
            self.text(moment.touched),
            self.text(moment.value),
            self.text(shortened(moment.place.function)),
            self.text(moment.place.file),
            moment.place.line,
            moment.side,
        ]
