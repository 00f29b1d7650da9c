# SPDX-License-Identifier: Apache-2.0
"""Findings as one JSON document, after `format/finding.schema.json`."""

from collections.abc import Sequence
from typing import TextIO

from eitherway import __version__
from eitherway.model.document import lines_of
from eitherway.model.finding import Document, Finding, Summary


class JsonReport:
    """Keys always in the same order, one finding per line."""

    def write(self, findings: Sequence[Finding], summary: Summary, out: TextIO) -> None:
        """Write the document."""
        out.writelines(lines_of(Document(tuple(findings), summary, "eitherway", __version__)))
