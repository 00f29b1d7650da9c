# SPDX-License-Identifier: Apache-2.0
"""Findings as annotations of a GitHub workflow: lines on standard output that the runner obeys.

Because it obeys them, nothing of the program may begin such a line or end one.
"""

from collections.abc import Sequence
from typing import TextIO

from eitherway.model.finding import Finding, FoundOperation, Summary
from eitherway.model.shortened import shortened
from eitherway.model.text import printable
from eitherway.report import words
from eitherway.report.places import Root

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


class GithubReport:
    """One line for each new finding: an error if it fails, else a warning."""

    def __init__(self, root: Root | None = None) -> None:
        self._root = root or Root()

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write the lines."""
        new, failing = set(summary.new), set(summary.failing)
        for finding in findings:
            if finding.id in new:
                command = "error" if finding.id in failing else "warning"
                out.write(f"::{command} {self._properties(finding)}::{_message(finding)}\n")

    def _properties(self, finding: Finding) -> str:
        about = words.about(finding)
        title = f"{words.capital(words.title(finding))}{f' on {about}' if about else ''}"
        told = {"title": f"{title} [{finding.id}]"}
        side = words.main_side(finding)
        if side is not None:
            place = words.where(side)
            column = {"col": str(place.column)} if place.column else {}
            told |= {"file": self._root.relative(place.file), "line": str(place.line), **column}
        return ",".join(
            f"{name}={printable(value).translate(_PROPERTY)}" for name, value in told.items()
        )


def _side(operation: FoundOperation) -> str:
    place = words.where(operation)
    function = f" in {shortened(place.function)}" if place.function else ""
    return f"{words.side(operation)}{function} ({words.place(place) or 'place not known'})"


def _message(finding: Finding) -> str:
    lines = [finding.consequence, *(finding.explanation or map(_side, finding.operations))]
    lines += [f"class: {finding.klass.value} ({words.MEANINGS[finding.klass]})"]
    lines += [f"replay: {finding.replay}"] if finding.replay else []
    return "\n".join(printable(line) for line in lines if line).translate(_DATA)
