# SPDX-License-Identifier: Apache-2.0
"""What orders two threads without a lock between them: one puts something, the other takes it."""

import re
from pathlib import Path

import pytest
from tests.threads.conftest import Program
from tests.threads.found import RACE, looked_at

SOURCE = Path(__file__).parent / "programs" / "found_orders.c"
SEEDS = range(4)
CASES = re.findall(r"^    CASE\((\w+),", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
APART = "other_pipe"  # orders nothing
ORDERED = sorted(set(CASES) - {APART})


@pytest.mark.parametrize("case", ORDERED)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_done_before_is_known(program: Program, case: str, seed: int) -> None:
    looked = looked_at([program("found_orders"), case], seed)
    assert looked.ran.status == 0
    assert not looked.kinds
    assert not looked.races


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_done_afterwards_is_not(program: Program, case: str, seed: int) -> None:
    looked = looked_at([program("found_orders"), case, "late"], seed)
    assert looked.ran.status == 0
    assert looked.kinds == {RACE}
    assert {side.variable for race in looked.races for side in race.operations} == {"data"}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_goes_through_one_pipe_says_nothing_of_another(program: Program, seed: int) -> None:
    looked = looked_at([program("found_orders"), APART], seed)
    assert looked.kinds == {RACE}
    assert len(looked.races) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_freed_says_nothing_of_order(program: Program, seed: int) -> None:
    """Memory of its clock may be another one's by then."""
    looked = looked_at([program("found_counted")], seed)
    assert looked.ran.status == 0
    assert looked.kinds == {RACE}
    assert {side.variable for race in looked.races for side in race.operations} == {"data"}
