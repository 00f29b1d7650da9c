# SPDX-License-Identifier: Apache-2.0
"""Races on different things at one place in the code are different findings."""

import sys
from pathlib import Path

import pytest
from tests.corpus.checked import checked, compiled

from eitherway.model.finding import Finding
from eitherway.model.identity import own_frame

SOURCE = Path(__file__).parent / "programs" / "one_place.cc"


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Finding, ...]:
    program = tmp_path_factory.mktemp("one_place") / "one_place"
    compiled([sys.executable, "-m", "eitherway", "c++", "-g", "-O0"], SOURCE, program)
    return checked(program, "--schedules", "60", "--seed", "1").findings


def test_each_variable_that_a_helper_is_given(findings: tuple[Finding, ...]) -> None:
    """In every schedule the first one is raced on before the others."""
    on = [finding.operations[0].variable for finding in findings]
    assert {"first", "second", "third"} <= set(on)


def test_each_function_that_a_library_is_called_by(findings: tuple[Finding, ...]) -> None:
    sides = {
        frozenset(own_frame(side.stack).function.partition("(")[0] for side in finding.operations)
        for finding in findings
        if finding.operations[0].variable == "level"
    }
    assert sides == {frozenset({"raise"}), frozenset({"raise", "lower"})}
