# SPDX-License-Identifier: Apache-2.0
"""States that both orders lead to, and why races that do no harm do none."""

from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.find import reasons
from eitherway.find.states import DIFFERS_NEAR, SAME_NEAR
from eitherway.model.finding import Finding
from eitherway.model.words import Class

pytestmark = pytest.mark.usefixtures("fixed")

REASONS = {
    "redundant": ("same", reasons.REDUNDANT),
    "double_checked": ("shared_table", reasons.DOUBLE_CHECK),
    "adhoc": ("done", reasons.AD_HOC),
    "adhoc_started_first": ("done", reasons.AD_HOC),
    "unused_result": ("counter", reasons.STATISTICS),
    "counts_and_prints": ("lines", reasons.STATISTICS),
    "disjoint_bits": ("halves", reasons.DISJOINT),
    "computed_twice": ("cached", reasons.BOTH_VALID),
    "word_measured": ("word", reasons.BOTH_VALID),
}


def judged(program: str, mode: str, folder: Path, variable: str) -> list[Finding]:
    with bench([program, mode]) as made:
        runs = [made.explorer.run(seed=seed, detect=True) for seed in range(3)]
        return [
            made.judge.judged(finding, ran, lambda _: folder)
            for ran in runs
            for finding in made.races_in(ran).values()
            if finding.operations[0].variable == variable
        ]


@pytest.mark.parametrize("mode", REASONS)
def test_a_harmless_race_has_a_reason(consequences: str, mode: str, tmp_path: Path) -> None:
    variable, reason = REASONS[mode]
    findings = judged(consequences, mode, tmp_path, variable)
    assert findings
    assert {(finding.klass, finding.reason) for finding in findings} == {
        (Class.K_WITNESS_HARMLESS, reason)
    }


def test_a_value_that_is_the_same_once_is_no_reason(consequences: str, tmp_path: Path) -> None:
    """Who looks at all levels before there is another one meets a redundant write first."""
    findings = judged(consequences, "rises", tmp_path, "level")
    assert findings
    assert {finding.reason for finding in findings} == {reasons.STATISTICS}


NOT_THAT = {
    "gives_up": ("done", {reasons.AD_HOC}),
    "gives_up_late": ("done", {reasons.AD_HOC, reasons.BOTH_VALID}),
    "counts_looks": ("done", {reasons.AD_HOC, reasons.BOTH_VALID}),
    "makes_sure_of_new": ("opened", {reasons.DOUBLE_CHECK}),
    "makes_sure_in_vain": ("opened", {reasons.DOUBLE_CHECK}),
    "rises_once": ("level", {reasons.REDUNDANT}),
    "mixed_bits": ("word_of_bits", {reasons.DISJOINT}),
    "two_of_many": ("none_or_five", {reasons.DISJOINT}),
}


@pytest.mark.parametrize("mode", NOT_THAT)
def test_a_reason_that_is_refuted_is_not_told(consequences: str, mode: str, tmp_path: Path) -> None:
    """Who gives up some day does not wait, and who waits for a value does not go on without it."""
    variable, wrong = NOT_THAT[mode]
    findings = judged(consequences, mode, tmp_path, variable)
    assert {finding.klass for finding in findings} == {Class.K_WITNESS_HARMLESS}
    assert not wrong & {finding.reason for finding in findings}


def test_instances_have_a_reason_in_common() -> None:
    both, twice, disjoint = reasons.BOTH_VALID, reasons.DOUBLE_CHECK, reasons.DISJOINT
    assert reasons.weakest([reasons.REDUNDANT, reasons.STATISTICS]) == reasons.STATISTICS
    assert reasons.weakest([twice, reasons.REDUNDANT, twice]) == twice
    assert reasons.weakest([disjoint, both]) == both
    assert reasons.weakest([twice, disjoint]) == ""
    assert reasons.weakest([reasons.AD_HOC, both]) == ""
    assert reasons.weakest([reasons.REDUNDANT, ""]) == ""


def test_values_that_do_harm_are_no_reason(consequences: str, tmp_path: Path) -> None:
    for mode, variable in (("lost_update", "counter"), ("order_assumed", "made")):
        findings = judged(consequences, mode, tmp_path, variable)
        assert findings
        assert {finding.reason for finding in findings} == {""}


def test_the_state_behind_the_two_is_compared(consequences: str, tmp_path: Path) -> None:
    for finding in judged(consequences, "redundant", tmp_path, "same"):
        assert SAME_NEAR in finding.explanation
        assert not any("memory differs" in words for words in finding.explanation)
    for finding in judged(consequences, "lost_update", tmp_path, "counter"):
        assert f"{DIFFERS_NEAR}'counter'." in finding.explanation
        assert "At the end, memory differs: 'counter'." in finding.explanation


def test_blocks_are_the_same_whoever_allocates_first(consequences: str, tmp_path: Path) -> None:
    """What each thread wrote into its own block is no difference; which one is pointed to is."""
    findings = judged(consequences, "last_label", tmp_path, "")
    assert findings
    for finding in findings:
        differs = [words for words in finding.explanation if words.startswith("At the end")]
        assert differs == ["At the end, memory differs: bytes 8 to 15 of heap block of 16 bytes."]
