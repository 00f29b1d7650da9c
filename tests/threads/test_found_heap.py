# SPDX-License-Identifier: Apache-2.0
"""Memory that comes and goes: what is freed under others is found, what is used again is not."""

import re
from pathlib import Path

import pytest
from tests.threads.conftest import Program
from tests.threads.found import DOUBLE_FREE, INVALID_FREE, RACE, USE_AFTER_FREE, looked_at

from eitherway.model.words import Kind
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

SOURCE = Path(__file__).parent / "programs" / "found_heap.c"
SEEDS = range(4)
BLOCK = "heap block of 64 bytes"

RACES = {  # the functions on both sides, and what they race on
    "free_against_read": ({"frees", "reads"}, BLOCK),
    "read_then_free": ({"reads_then_passes", "frees_in_turn"}, BLOCK),
    "free_then_read": ({"frees_then_passes", "reads_in_turn"}, BLOCK),
    "read_then_realloc": ({"reads_then_passes", "grows_in_turn"}, BLOCK),
    "lock_again": ({"lock_in_block"}, "shared_by_both"),
    "lock_against_destroy": ({"locks", "destroys_in_turn"}, "inner"),
    "wait_against_destroy": ({"waits_then_passes", "destroys_gate_in_turn"}, "gate"),
    "unlock_against_free": ({"unlocks_in_block", "frees_in_turn"}, BLOCK),
    "constant_made_writable": ({"writes_what_was_constant", "measures_constant"}, "constant"),
}
ERRORS = {  # what is found, and how the program ends
    "use_after_free": (USE_AFTER_FREE, {0}),
    "use_after_free_by_itself": (USE_AFTER_FREE, {0}),
    "double_free": (DOUBLE_FREE, {0, -6}),  # glibc does not see all
    "free_twice": (DOUBLE_FREE, {-6}),
    "free_inside": (INVALID_FREE, {-6}),
}
RIGHT = (
    *("read_ordered_then_free", "block_again", "mapping_again", "stack_and_tls_again"),
    *("under_a_lock", "barrier_destroyed", "freed_before_the_wake", "constants"),
)


def test_every_case_of_the_program_is_tested() -> None:
    cases = re.findall(r"^    CASE\((\w+),", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(cases) == sorted([*RACES, *ERRORS, *RIGHT])


@pytest.mark.parametrize("case", RACES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_race_is_found_and_seen_in_the_trace(program: Program, case: str, seed: int) -> None:
    functions, touched = RACES[case]
    looked = looked_at([program("found_heap"), case], seed)
    assert looked.ran.status == 0
    assert looked.kinds == {RACE}
    sides = [
        ({operation.place.function for operation in race.operations}, operation)
        for race in looked.races
        for operation in race.operations
        if touched in (operation.object, operation.variable)
    ]
    assert sides
    assert all(names == functions for names, _ in sides)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_constant_is_looked_at_when_it_can_be_written(program: Program, seed: int) -> None:
    command = [str(program("found_heap")), "constant_made_writable"]
    ran = run(Launch.here(command), seed=seed, detect=True)  # no trace, which would look at all
    assert set(ran.found.rows["kind"].tolist()) == {RACE}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_is_named_by_where_it_was_allocated(program: Program, seed: int) -> None:
    (race,) = looked_at([program("found_heap"), "read_then_free"], seed).races
    for operation in race.operations:
        assert [frame.function for frame in operation.allocated][:2] == ["allocate", "main"]
    assert {operation.op for operation in race.operations} == {"read of size 1", "free"}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_memory_error_is_found(program: Program, case: str, seed: int) -> None:
    kind, ends = ERRORS[case]
    looked = looked_at([program("found_heap"), case], seed)
    assert looked.kinds == {kind}
    assert looked.ran.status in ends
    (error,) = looked.races
    assert error.kind is Kind.MEMORY_ERROR
    assert error.operations[-1].object == BLOCK


@pytest.mark.parametrize("case", RIGHT)
@pytest.mark.parametrize("seed", SEEDS)
def test_memory_that_is_used_again_is_other_memory(program: Program, case: str, seed: int) -> None:
    looked = looked_at([program("found_heap"), case], seed)
    assert looked.ran.status == 0
    assert looked.kinds == set()
    assert looked.races == ()
