# SPDX-License-Identifier: Apache-2.0
"""Functions of the C library touch what they touch: races with them are found, and no others."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.threads.conftest import Program
from tests.threads.found import RACE, Looked, looked_at

SOURCE = Path(__file__).parent / "programs" / "found_functions.c"
FUNCTIONS = re.findall(r"^    F\((\w+), ", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
SIZE = 512  # of each buffer
SEEDS = range(3)

Looks = Callable[[str, int], Looked]


@pytest.fixture(scope="module")
def looked(program: Program) -> Looks:
    """A run in one of the modes, made once."""

    @cache
    def look(mode: str, seed: int) -> Looked:
        result = looked_at([program("found_functions"), mode], seed)
        assert (result.ran.status, result.ran.err.beginning) == (0, b"")
        return result

    return look


def buffers(looked: Looked) -> dict[str, int]:
    lines = (line.split() for line in looked.ran.out.beginning.decode().splitlines())
    return {name: int(address, 16) for name, address in lines}


def test_every_function_has_a_buffer(looked: Looks) -> None:
    assert list(buffers(looked("racy", 0))) == FUNCTIONS
    assert len(FUNCTIONS) > 50


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_race_with_the_function_is_found(looked: Looks, function: str, seed: int) -> None:
    result = looked("racy", seed)
    start = buffers(result)[function]
    rows = [row for row in result.rows if start <= int(row["address"]) < start + SIZE]
    assert rows
    assert all(int(row["kind"]) == RACE for row in rows)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_detectors_say_the_same_of_the_trace(looked: Looks, function: str) -> None:
    races = looked("racy", 0).races
    assert any(
        frame.function == f"call_{function}"
        for finding in races
        for operation in finding.operations
        for frame in operation.stack
    )


@pytest.mark.parametrize("mode", ["locked", "apart"])
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_else_is_found(looked: Looks, mode: str, seed: int) -> None:
    result = looked(mode, seed)
    assert len(result.rows) == 0
    assert result.races == ()
