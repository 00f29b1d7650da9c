# SPDX-License-Identifier: Apache-2.0
"""What services read: JUnit XML, annotations of GitHub, and a summary in Markdown."""

import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from tests.findings.finding_strategies import documents
from tests.report.report_samples import HOSTILE, hostile, race, summary_of

from eitherway.model.finding import Document, Finding, Frame, Source, Summary
from eitherway.model.words import Class
from eitherway.report import Report
from eitherway.report.github import GithubReport
from eitherway.report.junit import JunitReport
from eitherway.report.markdown import LONGEST, MarkdownReport
from eitherway.report.places import Root
from eitherway.report.sarif import SarifReport

SRC = Root("/src")


def written(report: Report, *findings: Finding, summary: Summary | None = None) -> str:
    out = io.StringIO()
    report.write(findings, summary or summary_of(*findings), out)
    return out.getvalue()


# --- JUnit


def suite(*findings: Finding, summary: Summary | None = None) -> ElementTree.Element:
    text = written(JunitReport(SRC), *findings, summary=summary)
    found = ElementTree.fromstring(text.encode()).find("testsuite")  # noqa: S314  our own
    assert found is not None
    return found


def test_a_finding_is_a_case_that_fails() -> None:
    cases = suite(race()).findall("testcase")
    assert [case.get("file") for case in cases] == ["bank/bank.c"]
    (failure,) = cases[0].findall("failure")
    assert failure.get("type") == "unjudged"
    assert "WARNING: EitherWay: data race" in (failure.text or "")
    assert race().id in (cases[0].get("name") or "")


def test_each_outcome_has_its_element_and_the_numbers_are_right() -> None:
    bad, known = race(), race("known")
    calm, open_ = race("calm", Class.SINGLE_ORDERING), race("open", Class.INCONCLUSIVE)
    every = (bad, known, calm, open_)
    found = suite(*every, summary=summary_of(*every, known=(known,)))
    tags = [[child.tag for child in case] for case in found.findall("testcase")]
    assert tags == [["failure"], ["skipped"], ["system-out"], ["error"]]
    numbers = [found.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert numbers == ["4", "1", "1", "1"]


def test_nothing_found_is_a_case_that_passes() -> None:
    (case,) = suite().findall("testcase")
    assert not list(case)


@given(documents)
@settings(max_examples=60)
def test_whatever_a_document_holds_is_xml(document: Document) -> None:
    suite(*document.findings, summary=document.summary)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_makes_an_element(text: str) -> None:
    assert not suite(hostile(text)).findall(".//owned")


# --- GitHub


def test_a_new_finding_is_an_annotation_at_its_line() -> None:
    known = race("known")
    calm = race("calm", Class.SINGLE_ORDERING)
    every = (race(), calm, known)
    lines = written(GithubReport(SRC), *every, summary=summary_of(*every, known=(known,)))
    first, second = lines.splitlines()
    assert first.startswith(f"::error title=Data race on balance [{race().id}],file=bank/bank.c,")
    assert ",line=17,col=5::Let A be a write.%0ALet B be a read.%0A" in first
    assert second.startswith("::warning title=Data race on calm")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_is_a_command_of_its_own(text: str) -> None:
    lines = written(GithubReport(SRC), hostile(text)).split("\n")
    assert len(lines) == 2
    assert lines[1] == ""
    properties, _, _ = lines[0].removeprefix("::error ").partition("::")
    assert re.findall(r"(?:^|,)(\w+)=", properties) == ["title", "file", "line", "col"]


def test_a_finding_of_another_tool_is_told_by_its_sides() -> None:
    told = written(GithubReport(SRC), replace(race(), explanation=()))
    assert "::write of size 8 (10) of global 'balance' by thread T1 in deposit (/src/bank/" in told


def in_library() -> Finding:
    """What C++ does to a lock, it does in a header of the library."""
    inner = Frame("__gthread_mutex_lock", "/usr/include/c++/12/bits/gthr-default.h", 749, 41)
    found = race()
    return replace(
        found, operations=tuple(replace(op, stack=(inner, *op.stack)) for op in found.operations)
    )


@pytest.mark.parametrize("form", [GithubReport(SRC), JunitReport(SRC), MarkdownReport(SRC)])
def test_a_place_is_the_programs_own(form: Report) -> None:
    told = written(form, in_library()).partition("<failure")[0]  # behind it are whole stacks
    assert "bank/bank.c" in told
    assert "gthr-default.h" not in told


def test_a_place_in_sarif_is_the_programs_own() -> None:
    (result,) = json.loads(written(SarifReport(SRC), in_library()))["runs"][0]["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "bank/bank.c"
    assert len(result["stacks"][0]["frames"]) == 3


# --- Markdown


def test_the_summary_has_a_table_and_both_sides() -> None:
    text = written(MarkdownReport(SRC), race())
    assert "## EitherWay: 1 finding (1 unjudged)" in text
    assert f"| Data race on `balance` | `bank/bank.c:17` | unjudged | `{race().id}` |" in text
    assert (
        "- **A** `write of size 8` (`10`) by `thread T1` in `deposit` at `bank/bank.c:12`" in text
    )
    assert "eitherway replay 20310501-120000-000001" in text


def test_no_lock_is_told_only_by_who_looks() -> None:
    elsewhere = replace(race(), sources=(Source("DRD", "x.log"),))
    assert "holding no lock" in written(MarkdownReport(SRC), race())
    assert "holding" not in written(MarkdownReport(SRC), elsewhere)


def test_a_comment_has_a_largest_size() -> None:
    every = [race(f"variable_{number}") for number in range(400)]
    text = written(MarkdownReport(SRC), *every)
    assert len(text) < LONGEST + 200
    assert "and 200 more." in text


OUTSIDE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\\.", re.DOTALL)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_name_is_markup_or_a_mention(text: str) -> None:
    left = OUTSIDE_CODE.sub("", written(MarkdownReport(SRC), hostile(text)))
    assert "<script" not in left
    assert "<img" not in left
    assert "@" not in left.replace("&#64;", "")
    assert "](" not in left
