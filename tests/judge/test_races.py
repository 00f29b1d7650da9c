# SPDX-License-Identifier: Apache-2.0
"""What enumerated schedules say of each race, with which judging is measured."""

import pytest
from tests.judge.bench import bench
from tests.judge.races import After, class_of, truths_of

from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class

WELL, CRASH = Outcome(Ending.EXIT), Outcome(Ending.SIGNAL, 11)
SAID = Outcome(Ending.EXIT, output={"standard output": "a"})


@pytest.mark.parametrize(
    ("one", "other", "klass"),
    [
        ({(1,): WELL, (2,): WELL}, {(1,): WELL, (2,): CRASH}, Class.SPEC_VIOLATED),
        ({(1,): WELL, (2,): CRASH}, {(1,): CRASH, (2,): WELL}, Class.SPEC_VIOLATED),
        ({(1,): WELL, (2,): CRASH}, {(1,): WELL, (2,): CRASH}, Class.K_WITNESS_HARMLESS),
        ({(1,): WELL, (2,): CRASH}, {(1, 1): WELL, (2, 2): CRASH}, None),
        ({(1,): WELL}, {(1, 1): WELL}, Class.K_WITNESS_HARMLESS),
        ({(1,): WELL}, {(1,): SAID}, Class.OUTPUT_DIFFERS),
        ({(1,): WELL, (2,): SAID}, {(1, 1): WELL, (2, 2): SAID}, None),
    ],
)
def test_what_an_order_decides(one: After, other: After, klass: Class | None) -> None:
    assert class_of(one, other) is klass
    assert class_of(other, one) is klass


@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize(
    ("mode", "klass"),
    [
        ("order_assumed", Class.SPEC_VIOLATED),
        ("unused_result", Class.K_WITNESS_HARMLESS),
        ("lost_update", Class.OUTPUT_DIFFERS),
    ],
)
def test_races_of_a_small_program(consequences: str, mode: str, klass: Class) -> None:
    with bench([consequences, mode]) as made:
        races = truths_of(made.explorer, made.tracer, range(1)).races.values()
    assert {truth.klass for truth in races} == {klass}
    assert all(truth.both for truth in races)
