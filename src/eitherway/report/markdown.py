# SPDX-License-Identifier: Apache-2.0
"""Findings as a summary for a pull request or a job, in GitHub's Markdown.

What comes from the program stands in code spans alone: there it is neither markup nor a mention.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TextIO

from eitherway.model.finding import Finding, FoundOperation, Summary
from eitherway.model.shortened import shortened
from eitherway.model.text import counted, printable
from eitherway.model.words import Class
from eitherway.report import words
from eitherway.report.places import Root

IN_FULL = 20
LONGEST = 60_000  # signs: a comment of a pull request may have 65,536
_TABLE = 200  # lines


class MarkdownReport:
    """Counts, a table, and the first findings in full; as much as a comment holds."""

    def __init__(self, root: Root | None = None) -> None:
        self._root = root or Root()

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write whole parts, as long as they fit."""
        room = LONGEST
        left_out = 0
        for part in self._parts(findings, summary):
            if len(part) <= room and not left_out:
                out.write(part)
                room -= len(part)
            else:
                left_out += 1
        if left_out:
            out.write("\nThere is more than fits here: the other reports have all of it.\n")

    def _parts(self, findings: Sequence[Finding], summary: Summary) -> Iterator[str]:
        yield f"## EitherWay: {_counts(summary)}\n\n"
        if findings:
            yield "| | what | where | class | id |\n|---|---|---|---|---|\n"
            yield from (self._row(finding, summary) for finding in findings[:_TABLE])
            if len(findings) > _TABLE:
                yield f"\nand {len(findings) - _TABLE:,} more.\n"
        yield from (self._full(finding) for finding in self._first(findings, summary))
        yield "\n" + "".join(f"- {_plain(note)}\n" for note in summary.notes)

    def _first(self, findings: Sequence[Finding], summary: Summary) -> list[Finding]:
        new = set(summary.new)
        return [finding for finding in findings if finding.id in new][:IN_FULL]

    def _row(self, finding: Finding, summary: Summary) -> str:
        mark = "❌" if finding.id in summary.failing else "❔"
        mark = mark if finding.id in summary.new else "known"
        about = words.about(finding)
        what = words.capital(words.title(finding)) + (f" on {code(about)}" if about else "")
        side = words.main_side(finding)
        where = code(self._where(side)) if side else ""
        cells = (mark, what, where, finding.klass.value, code(finding.id))
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"

    def _where(self, side: FoundOperation) -> str:
        place = words.where(side)
        return f"{self._root.relative(place.file)}:{place.line}"

    def _full(self, finding: Finding) -> str:
        about = words.about(finding)
        on = f" on <code>{_html(about)}</code>" if about else ""
        lines = [
            f"\n<details><summary><b>{_html(words.capital(words.title(finding)))}</b>{on}: "
            f"{finding.klass.value} ({words.MEANINGS[finding.klass]})</summary>\n",
            *(f"**{_plain(text)}**\n" for text in (finding.consequence,) if text),
            *self._sides(finding),
            "",
            *(f"{number}. {_plain(text)}" for number, text in enumerate(finding.explanation, 1)),
            *(("", "Replay:", "", _fence(finding.replay)) if finding.replay else ()),
            "\n</details>\n",
        ]
        return "\n".join(lines)

    def _sides(self, finding: Finding) -> Iterator[str]:
        none = ", holding no lock" if words.knows_locks(finding) else ""
        for letter, op in zip(words.letters(finding.operations), finding.operations, strict=True):
            held = f", holding {', '.join(map(code, op.locks))}" if op.locks else none
            value = f" ({code(op.value)})" if op.value else ""
            place = words.where(op)
            at = f" at {code(self._where(op))}" if place.file else ""
            function = f" in {code(shortened(place.function))}" if place.function else ""
            yield f"- **{letter}** {code(op.op)}{value} by {code(op.actor)}{function}{at}{held}"


def _counts(summary: Summary) -> str:
    classes = [f"{count} {name.value}" for name in Class if (count := summary.classes.get(name))]
    found = counted(summary.findings, "finding")
    compared = f", {len(summary.new)} new" if len(summary.new) != summary.findings else ""
    gone = f", {len(summary.gone)} gone" if summary.gone else ""
    return f"{found}{compared}{gone}{f' ({chr(44).join(classes)})' if classes else ''}"


def code(text: str) -> str:
    """A code span, whatever is in the text."""
    shown = printable(text)
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def _fence(text: str) -> str:
    shown = printable(text)
    ticks = "`" * max(3, max(map(len, re.findall("`+", shown)), default=0) + 1)
    return f"{ticks}sh\n{shown}\n{ticks}"


def _plain(text: str) -> str:
    """A sentence with names in it: every sign that Markdown or a mention could begin with."""
    return re.sub(r"([\\`*_{}\[\]<>#+!|~@$&])", r"\\\1", printable(text))


def _html(text: str) -> str:
    shown = printable(text)
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "&#64;")):
        shown = shown.replace(sign, name)
    return shown
