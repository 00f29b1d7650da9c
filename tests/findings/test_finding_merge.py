# SPDX-License-Identifier: Apache-2.0
"""Many runs into one list, whatever their order."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.findings.finding_strategies import few_ids, findings

from eitherway.errors import BadInput
from eitherway.findings.merge import merge, merged, stamped
from eitherway.findings.verdict import exit_code
from eitherway.model.finding import MOST, Confidence, Finding, Seen, Source
from eitherway.model.words import Class, Kind, World

lists = st.lists(findings(few_ids, one_kind=True), max_size=5)
few = settings(max_examples=40)
FINDING = Finding(World.THREADS, Kind.DATA_RACE, (), id="EW-" + 16 * "0")


def content(findings: tuple[Finding, ...]) -> list[Finding]:
    """All but how often."""
    return [replace(f, seen=replace(f.seen, count=1)) for f in findings]


@few
@given(lists, st.randoms(use_true_random=False))
def test_the_order_of_the_runs_does_not_matter(runs: list[Finding], random: object) -> None:
    shuffled = list(runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merged(shuffled) == merged(runs)


@few
@given(lists, lists, lists)
def test_the_grouping_of_the_runs_does_not_matter(
    a: list[Finding], b: list[Finding], c: list[Finding]
) -> None:
    assert merged([*merged([*a, *b]), *c]) == merged([*a, *merged([*b, *c])])


@few
@given(lists)
def test_merging_again_changes_nothing_but_the_count(runs: list[Finding]) -> None:
    once = merged(runs)
    assert merged(once) == once
    assert content(merged([*once, *once])) == content(once)


@few
@given(lists)
def test_nothing_is_lost(runs: list[Finding]) -> None:
    result = merged(runs)
    assert {f.id for f in result} == {f.id for f in runs}
    for finding in result:
        same = [f for f in runs if f.id == finding.id]
        assert set(finding.sources) == {source for f in same for source in f.sources}
        assert finding.klass.weight == max(f.klass.weight for f in same)
        assert finding.seen.count == min(MOST, sum(f.seen.count for f in same))


def test_the_worst_class_keeps_its_evidence() -> None:
    harmless = replace(FINDING, klass=Class.K_WITNESS_HARMLESS, evidence="run 1", replay="one")
    crash = replace(FINDING, klass=Class.SPEC_VIOLATED, evidence="run 2", replay="two")
    (result,) = merged([harmless, crash])
    assert (result.klass, result.evidence, result.replay) == (Class.SPEC_VIOLATED, "run 2", "two")


def test_of_one_class_the_one_that_was_tried_more_is_told() -> None:
    little = replace(FINDING, confidence=Confidence(paths=1, schedules=2), reason="little")
    much = replace(FINDING, confidence=Confidence(paths=2, schedules=8), reason="much")
    assert merge(much, little).reason == merge(little, much).reason == "much"


def test_times_and_counts() -> None:
    early = replace(FINDING, seen=Seen("2031-01-01T00:00:00Z", "2031-01-02T00:00:00Z", 3))
    late = stamped(FINDING, "2031-05-01T00:00:00Z")
    unknown = replace(FINDING, seen=Seen())
    (result,) = merged([late, unknown, early])
    assert result.seen == Seen("2031-01-01T00:00:00Z", "2031-05-01T00:00:00Z", 5)


def test_the_most_severe_come_first() -> None:
    runs = [
        replace(FINDING, id=f"EW-{n:016x}", klass=klass) for n, klass in enumerate(reversed(Class))
    ]
    assert [f.klass for f in merged(runs)] == list(Class)


def test_sources_are_united_and_sorted() -> None:
    one = replace(FINDING, sources=(Source("tsan", "b.log"), Source("eitherway", "x")))
    other = replace(FINDING, sources=(Source("tsan", "a.log"), Source("eitherway", "x")))
    (result,) = merged([one, other])
    assert [f"{s.tool} {s.file}" for s in result.sources] == [
        "eitherway x",
        "tsan a.log",
        "tsan b.log",
    ]


def test_two_findings_are_not_merged() -> None:
    with pytest.raises(ValueError, match="two findings"):
        merge(FINDING, replace(FINDING, id="EW-" + 16 * "1"))


def test_what_was_tried_wins_over_what_was_not() -> None:
    ranked = sorted(Class, key=lambda one: one.weight)
    assert ranked == [
        Class.UNJUDGED,
        Class.SINGLE_ORDERING,
        Class.K_WITNESS_HARMLESS,
        Class.INCONCLUSIVE,
        Class.OUTPUT_DIFFERS,
        Class.SPEC_VIOLATED,
    ]


def test_another_run_does_not_turn_inconclusive_into_success() -> None:
    open_end = replace(FINDING, klass=Class.INCONCLUSIVE, reason="the branch did not end")
    tried = Confidence(paths=10, schedules=100)
    for klass in (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING):
        (result,) = merged([open_end, replace(FINDING, klass=klass, confidence=tried)])
        assert exit_code([result.klass]) == 2
        assert result.reason == "the branch did not end"


def test_parts_of_a_second_are_compared_as_time() -> None:
    whole, half = "2031-01-01T00:00:00Z", "2031-01-01T00:00:00.5Z"
    assert seen_of(half, whole) == (whole, half)
    assert seen_of("2031-01-01T00:00:00.45Z", half) == ("2031-01-01T00:00:00.45Z", half)
    seen_of(half, "2031-01-01T00:00:00.50Z")


def seen_of(*times: str) -> tuple[str, str]:
    """First and last of findings seen at these times, the same in either order."""
    runs = [stamped(FINDING, time) for time in times]
    (result,), (other,) = merged(runs), merged(reversed(runs))
    assert result == other
    return result.seen.first, result.seen.last


def test_a_count_has_an_end() -> None:
    often = replace(FINDING, seen=Seen(count=MOST))
    assert merge(often, FINDING).seen.count == MOST


@pytest.mark.parametrize("change", [{"kind": Kind.DEADLOCK}, {"world": World.KERNEL}])
def test_an_id_names_one_kind_in_one_world(change: dict[str, Any]) -> None:
    foreign = replace(FINDING, sources=(Source("foreign", "x.json"),), **change)
    with pytest.raises(BadInput, match=r"EW-0+ is data-race of threads .* \(x\.json\) in another"):
        merged([FINDING, foreign])
