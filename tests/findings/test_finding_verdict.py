# SPDX-License-Identifier: Apache-2.0
"""Exit codes from the classes of new findings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import UsageError
from eitherway.findings.verdict import exit_code, parse_fail_on
from eitherway.model.words import Class

HARMLESS = [Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING]


@pytest.mark.parametrize("klass", [Class.UNJUDGED, Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS])
def test_what_may_matter_fails(klass: Class) -> None:
    assert exit_code([*HARMLESS, Class.INCONCLUSIVE, klass]) == 1
    assert exit_code([klass], found=42) == 42


def test_nothing_new_and_nothing_that_differs_succeed() -> None:
    assert exit_code([]) == 0
    assert exit_code(HARMLESS) == 0


def test_inconclusive_is_neither() -> None:
    assert exit_code([*HARMLESS, Class.INCONCLUSIVE]) == 2
    assert exit_code([Class.INCONCLUSIVE], found=42) == 2


def test_classes_may_be_chosen() -> None:
    assert exit_code([Class.UNJUDGED], fail_on=parse_fail_on("spec-violated")) == 0
    assert exit_code([Class.INCONCLUSIVE], fail_on=parse_fail_on("inconclusive")) == 1
    assert exit_code([Class.SINGLE_ORDERING], fail_on=parse_fail_on(" single-ordering ,unjudged"))
    assert exit_code([Class.SPEC_VIOLATED], fail_on=parse_fail_on("none")) == 0


@pytest.mark.parametrize("text", ["safe", "", "unjudged,", "none,unjudged", "UNJUDGED"])
def test_an_unknown_class_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-on: there is no class"):
        parse_fail_on(text)


@given(st.lists(st.sampled_from(Class)), st.frozensets(st.sampled_from(Class)))
def test_the_code_follows_the_worst(classes: list[Class], fail_on: frozenset[Class]) -> None:
    code = exit_code(classes, fail_on=fail_on)
    assert (code == 1) == any(klass in fail_on for klass in classes)
    assert code in (0, 1, 2)
