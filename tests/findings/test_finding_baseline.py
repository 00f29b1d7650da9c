# SPDX-License-Identifier: Apache-2.0
"""Baseline files: what is new, still there and gone; broken lines are named."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.findings.finding_strategies import findings

from eitherway.errors import BadInput
from eitherway.findings.baseline import Baseline, compare, parse, written
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World

A, B, C = ("EW-" + 16 * digit for digit in "abc")


def finding(one: str) -> Finding:
    return Finding(World.THREADS, Kind.DATA_RACE, (), id=one)


@given(st.lists(findings(), max_size=4))
@settings(max_examples=30)
def test_what_is_written_knows_its_findings(known: list[Finding]) -> None:
    comparison = compare(known, parse(written(known), "file"))
    assert comparison.new == comparison.gone == ()
    assert set(comparison.known) == {f.id for f in known}


def test_new_still_there_and_gone() -> None:
    comparison = compare([finding(C), finding(A), finding(A)], Baseline({A: "", B: ""}))
    assert (comparison.new, comparison.known, comparison.gone) == ((C,), (A,), (B,))


def test_without_a_baseline_all_is_new() -> None:
    assert compare([finding(A)], Baseline()).new == (A,)


def test_the_file_is_for_people() -> None:
    operation = FoundOperation(
        "thread T1", "write", variable="balance\x1b", stack=(Frame("deposit", "/x/bank.c", 12),)
    )
    text = written([finding(B), Finding(World.THREADS, Kind.DATA_RACE, (operation,), id=A)])
    assert text == (
        f"eitherway-baseline 1\n{A} data-race on balance\\x1b: bank.c:deposit\n{B} data-race\n"
    )


def test_comments_blank_lines_and_windows_line_ends() -> None:
    text = f"# ours\r\neitherway-baseline 1\r\n\r\n  # why\r\n{A}\r\n{B}\twords\r\n{B} again\r\n"
    assert parse(text, "f").known == {A: "", B: "again"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1: a baseline file begins with 'eitherway-baseline 1'"),
        ("# only\n# comments", "f:1: a baseline file begins"),
        (f"{A} data-race", "f:1: a baseline file begins"),
        ("\neitherway-baseline 2", "f:2: baseline version '2'; this tool knows 1"),
        ("eitherway-baseline", "f:1: baseline version ''"),
        (f"eitherway-baseline 1\n{A}\nEW-12 x", "f:3: 'EW-12 x' does not begin with a finding id"),
        (f"eitherway-baseline 1\n{A}x", "f:2: "),
        ("eitherway-baseline 1\n<<<<<<< HEAD", "f:2: '<<<<<<< HEAD' does not begin"),
        ("eitherway-baseline 1\n\x1b[31m" + 200 * "x", r"f:2: '\x1b[31mxxx"),
    ],
)
def test_a_broken_line_is_named(text: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text, "f")
    assert message in error.value.message
    assert len(error.value.message) < 200


def test_what_helps_does_not_overwrite_the_file() -> None:
    with pytest.raises(BadInput) as error:
        parse("int main(void) {}", "precious.c")
    assert "--write-baseline" in error.value.fix
    assert "precious.c" not in error.value.fix
    with pytest.raises(BadInput) as error:
        parse("eitherway-baseline 2", "f")
    assert error.value.fix == "pip install --upgrade eitherway"


@given(st.text(max_size=80))
def test_any_text_is_a_baseline_or_refused(text: str) -> None:
    try:
        known = parse("eitherway-baseline 1\n" + text, "f").known
    except BadInput:
        return
    assert all(one.startswith("EW-") for one in known)
