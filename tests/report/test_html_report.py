# SPDX-License-Identifier: Apache-2.0
"""The page as a file: it needs nothing else, and what is put into it stays data."""

import base64
import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.findings.finding_strategies import documents
from tests.report.report_samples import HOSTILE, hostile, race, summary_of

from eitherway import report
from eitherway.model.finding import Document, Finding, Summary
from eitherway.report.html import HtmlReport

PAGE = Path(report.__file__).parent / "page"
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def page(*findings: Finding, summary: Summary | None = None) -> str:
    out = io.StringIO()
    HtmlReport().write(findings, summary or summary_of(*findings), out)
    return out.getvalue()


def test_the_policy_names_the_script_and_the_style_by_their_hashes() -> None:
    text = page(race())
    for kind, element in (("script", "<script>"), ("style", "<style>")):
        inside = text.partition(element)[2].partition(f"</{kind}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_nothing_is_asked_of_any_other_place() -> None:
    text = DATA.sub("", page(race()))
    assert not re.findall(r"\b(?:src|href)=(?![\"']?#)", text)
    assert set(re.findall(r"https?://[^\s\"']+", text)) == {"http://www.w3.org/2000/svg"}
    assert "innerHTML" not in text


def test_what_repeats_is_there_once() -> None:
    data = json.loads(DATA.findall(page(race(), race("other")))[0])
    assert data["texts"].count("/src/bank/bank.c") == 1
    assert len(data["texts"]) == len(set(data["texts"]))
    assert [one["id"] for one in data["findings"]] == [race().id, race("other").id]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_ends_its_element(text: str) -> None:
    whole = page(hostile(text))
    assert whole.count("</script>") == 2
    (data,) = DATA.findall(whole)
    assert "<" not in data
    json.loads(data)


@given(documents)
@settings(max_examples=60)
def test_whatever_a_document_holds_is_data(document: Document) -> None:
    (data,) = DATA.findall(page(*document.findings, summary=document.summary))
    assert len(json.loads(data)["findings"]) == len(document.findings)


def test_every_name_of_the_scripts_is_used() -> None:
    script = "\n".join(file.read_text(encoding="utf-8") for file in PAGE.glob("*.js"))
    names = re.findall(r"^(?:async )?(?:function|const|let) (\w+)", script, re.MULTILINE)
    assert len(names) > 40
    assert [name for name in names if len(re.findall(rf"\b{name}\b", script)) < 2] == []
