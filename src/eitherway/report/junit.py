# SPDX-License-Identifier: Apache-2.0
"""Findings as JUnit XML: each is a test case that fails, is skipped as known, or passes."""

import io
import re
from collections.abc import Iterator, Sequence
from typing import TextIO
from xml.sax.saxutils import escape, quoteattr

from eitherway.model.finding import Finding, Summary
from eitherway.model.identity import headline
from eitherway.model.text import printable
from eitherway.model.words import Class
from eitherway.report import words
from eitherway.report.places import Root
from eitherway.report.text import TextReport

# What XML 1.0 has no way to say, not even as a reference; `printable` has seen to the rest.
_UNSAYABLE = re.compile("[\ufffe\uffff]")


class JunitReport:
    """One suite."""

    def __init__(self, root: Root | None = None) -> None:
        self._root = root or Root()

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write the suite; without findings it has one case, which passes."""
        outcomes = [_outcome(finding, summary) for finding in findings]
        numbers = (
            f'tests="{max(len(findings), 1)}" failures="{outcomes.count("failure")}" '
            f'errors="{outcomes.count("error")}" skipped="{outcomes.count("skipped")}"'
        )
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write(f'<testsuites {numbers}>\n<testsuite name="eitherway" {numbers}>\n')
        for finding, outcome in zip(findings, outcomes, strict=True):
            out.writelines(self._case(finding, outcome, summary))
        if not findings:
            out.write('<testcase classname="eitherway" name="nothing found"/>\n')
        out.write(f"<system-out>{_text(chr(10).join(summary.notes))}</system-out>\n")
        out.write("</testsuite>\n</testsuites>\n")

    def _case(self, finding: Finding, outcome: str, summary: Summary) -> Iterator[str]:
        name = f"{headline(finding)} [{finding.id}]"
        yield (
            f"<testcase classname={_attribute(f'eitherway.{finding.kind.value}')} "
            f"name={_attribute(name)}{self._place(finding)}>\n"
        )
        message = _attribute(finding.consequence or words.sentence(finding))
        if outcome in ("failure", "error"):
            kind = _attribute(finding.klass.value)
            yield f"<{outcome} type={kind} message={message}>{_whole(finding)}</{outcome}>\n"
        elif outcome == "skipped":
            yield '<skipped message="in the baseline"/>\n'
        else:
            yield f"<system-out>{_whole(finding)}</system-out>\n"
        yield "</testcase>\n"

    def _place(self, finding: Finding) -> str:
        side = words.main_side(finding)
        if side is None:
            return ""
        place = words.where(side)
        file = _attribute(self._root.relative(place.file))
        return f' file={file} line="{place.line}"'


def _outcome(finding: Finding, summary: Summary) -> str:
    if finding.id in summary.failing:
        return "failure"
    if finding.id not in summary.new:
        return "skipped"
    return "error" if finding.klass is Class.INCONCLUSIVE else ""


def _whole(finding: Finding) -> str:
    """The text report of the one finding, without the closing lines."""
    text = io.StringIO()
    TextReport().write([finding], Summary(new=(finding.id,)), text)
    return _text(text.getvalue().rpartition("EitherWay: 0 findings")[0])


def _text(text: str) -> str:
    return escape(_sayable(text))


def _attribute(text: str) -> str:
    return quoteattr(_sayable(text))


def _sayable(text: str) -> str:
    lines = (printable(line) for line in text.split("\n"))
    return _UNSAYABLE.sub(
        lambda found: found[0].encode("unicode_escape").decode(), "\n".join(lines)
    )
