# SPDX-License-Identifier: Apache-2.0
"""Findings of several tools: which of them are one."""

from dataclasses import replace

from eitherway.findings.agreeing import agreed
from eitherway.findings.kept import grown
from eitherway.model.finding import Finding, FoundOperation, Frame, Source
from eitherway.model.identity import identified
from eitherway.model.words import Kind, World


def race(
    *functions: str, name: str = "", place: str = "global", tool: str = "eitherway"
) -> Finding:
    sides = tuple(
        FoundOperation("a thread", "write", place, name, (Frame(function, "bank.c", 1),))
        for function in functions
    )
    return identified(Finding(World.THREADS, Kind.DATA_RACE, sides, sources=(Source(tool),)))


def tools(*findings: Finding) -> list[list[str]]:
    return [[source.tool for source in one.sources] for one in agreed(findings)]


OURS = race("deposit", "audit", name="account.balance")


def test_one_that_knows_the_structure_alone_is_the_one_that_knows_the_field() -> None:
    assert tools(OURS, race("audit", "deposit", name="account", tool="Helgrind")) == [
        ["Helgrind", "eitherway"]
    ]


def test_one_with_a_side_less_is_the_one_with_both() -> None:
    assert tools(race("audit", place="memory", tool="DRD"), OURS) == [["DRD", "eitherway"]]


def test_what_is_kept_is_what_says_more() -> None:
    (found,) = agreed([race("audit", place="memory", tool="DRD"), OURS])
    assert found == replace(OURS, sources=found.sources, seen=found.seen)
    assert found.seen.count == 2


def test_one_that_could_be_two_is_itself() -> None:
    other = race("deposit", "close", name="account.balance")
    one_sided = race("deposit", place="memory", tool="DRD")
    assert sorted(tools(OURS, other, one_sided)) == [["DRD"], ["eitherway"], ["eitherway"]]


def test_what_a_tool_has_told_before_stays_what_it_was() -> None:
    """Another finding that comes to a list later does not make the known one new again."""
    one_sided = race("deposit", place="memory", tool="DRD")
    (known,) = agreed([OURS, one_sided])
    later = race("deposit", "close", name="account.balance")
    assert sorted(tools(known, later, one_sided)) == [["DRD", "eitherway"], ["eitherway"]]
    assert grown([known], [later, one_sided]).known == {known.id}


def test_another_variable_place_or_function_is_another_finding() -> None:
    for other in (
        race("deposit", "audit", name="other", tool="TSan"),
        race("deposit", "audit", place="heap block", tool="TSan"),
        race("deposit", "close", name="account", tool="TSan"),
    ):
        assert len(agreed([OURS, other])) == 2


def test_our_own_findings_stay_apart() -> None:
    """They know what they are about; one that says less is another."""
    assert len(agreed([OURS, race("audit", place="memory")])) == 2


def test_three_tools_one_after_the_other() -> None:
    some = race("deposit", "audit", name="account", tool="Helgrind")
    least = race("audit", place="memory", tool="DRD")
    assert tools(least, some, OURS) == [["DRD", "Helgrind", "eitherway"]]
    assert tools(least, some) == [["DRD", "Helgrind"]]
