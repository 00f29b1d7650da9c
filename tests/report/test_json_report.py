# SPDX-License-Identifier: Apache-2.0
"""The report for programs: one document, always in the same order."""

import io
import json
from pathlib import Path

import jsonschema
import pytest

from eitherway import __version__
from eitherway.findings.document import load
from eitherway.report.json import JsonReport

FORMAT = Path(__file__).parents[2] / "format"
SCHEMA = json.loads((FORMAT / "finding.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "path", sorted((FORMAT / "samples" / "findings").glob("*.json")), ids=lambda path: path.name
)
def test_the_document_fits_the_schema_and_holds_everything(path: Path) -> None:
    document = load(str(path))
    out = io.StringIO()
    JsonReport().write(document.findings, document.summary, out)
    written = json.loads(out.getvalue())
    jsonschema.Draft202012Validator(SCHEMA).validate(written)
    given = json.loads(path.read_text(encoding="utf-8"))
    assert written["findings"] == given["findings"]
    assert written["summary"] == given["summary"]
    assert written["tool"] == {"name": "eitherway", "version": __version__}


def test_keys_have_one_order() -> None:
    document = load(str(FORMAT / "samples" / "findings" / "threads.json"))
    out = io.StringIO()
    JsonReport().write(document.findings, document.summary, out)
    for finding in json.loads(out.getvalue())["findings"]:
        assert list(finding) == SCHEMA["$defs"]["finding"]["required"]
        for operation in finding["operations"]:
            assert list(operation) == SCHEMA["$defs"]["operation"]["required"]
