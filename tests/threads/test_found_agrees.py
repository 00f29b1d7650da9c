# SPDX-License-Identifier: Apache-2.0
"""What the runtime finds in random programs is what is in the traces of the same runs."""

from pathlib import Path

import pytest
from tests.threads import race_oracle

PROGRAMS = range(25)
SCHEDULES = range(4)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return race_oracle.built(PROGRAMS, tmp_path_factory.mktemp("races"))


@pytest.mark.parametrize("number", PROGRAMS)
def test_the_runtime_and_brute_force_agree(program: Path, number: int) -> None:
    judged = [race_oracle.judged(program, number, seed) for seed in SCHEDULES]
    assert [problem for _, problems in judged for problem in problems] == []


def test_most_of_the_programs_race(program: Path) -> None:
    """Or the agreement would mean little."""
    racy = [race_oracle.judged(program, number, 0)[0] > 0 for number in PROGRAMS]
    assert sum(racy) > len(racy) / 2
