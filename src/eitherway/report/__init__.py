# SPDX-License-Identifier: Apache-2.0
"""Reports: the same findings for people and for programs, one file each.

A report is a class with one method. A new one is a new file and a line in `REPORTS`.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, TextIO, cast

from eitherway.model.finding import Finding, Summary

REPORTS = {
    "text": "TextReport",
    "json": "JsonReport",
    "html": "HtmlReport",
    "sarif": "SarifReport",
    "junit": "JunitReport",
    "github": "GithubReport",
    "markdown": "MarkdownReport",
}
"""Each name is a module of this folder; only the one asked for is imported."""


class Report(Protocol):
    """What a report must do."""

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write all of it to `out`."""


def report(name: str) -> Report:
    """The report of this name, as it is for files: no colours."""
    module = import_module(f"eitherway.report.{name}")
    return cast(Report, getattr(module, REPORTS[name])())
