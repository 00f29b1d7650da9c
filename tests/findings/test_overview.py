# SPDX-License-Identifier: Apache-2.0
"""A long list in few lines, none of its findings left out."""

from eitherway.findings.overview import overview
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.identity import identified
from eitherway.model.words import Kind, World


def race(variable: str, *functions: str) -> Finding:
    operations = tuple(
        FoundOperation("thread", "read", variable=variable, stack=(Frame(name, "a.c", 1),))
        for name in functions
    )
    return identified(Finding(World.THREADS, Kind.DATA_RACE, operations))


def test_what_races_with_one_place_is_one_line() -> None:
    findings = [race("time", "tick", reader) for reader in ("get", "put", "sweep")]
    assert list(overview(findings)) == [
        "data-race on time: a.c:tick with a.c:get, a.c:put, a.c:sweep (3 findings)"
    ]


def test_of_many_the_first_are_named() -> None:
    findings = [race("time", "tick", f"get{number}") for number in range(9)]
    (line,) = overview(findings)
    assert line.endswith("a.c:get3, a.c:get4 and 4 more (9 findings)")


def test_what_has_no_side_in_common_stands_alone() -> None:
    findings = [race("x", "a", "b"), race("x", "c", "d"), race("y", "a", "b")]
    assert list(overview(findings)) == [
        f"data-race on x: a.c:a / a.c:b ({findings[0].id})",
        f"data-race on x: a.c:c / a.c:d ({findings[1].id})",
        f"data-race on y: a.c:a / a.c:b ({findings[2].id})",
    ]


def test_each_finding_is_in_one_line() -> None:
    findings = [race("x", "a", "b"), race("x", "a", "c"), race("x", "b", "c"), race("x", "a", "a")]
    assert list(overview(findings)) == [
        "data-race on x: a.c:a with a.c:b, a.c:c (3 findings)",
        f"data-race on x: a.c:b / a.c:c ({findings[2].id})",
    ]


def test_findings_of_no_operation_are_told() -> None:
    finding = identified(Finding(World.THREADS, Kind.FAILURE, ()))
    assert list(overview([finding])) == [f"failure ({finding.id})"]
