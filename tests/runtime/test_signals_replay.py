# SPDX-License-Identifier: Apache-2.0
"""A signal from another process is part of a recording: it comes again at the same step."""

from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "asks_for_signals.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    built = tmp_path_factory.mktemp("signals") / "program"
    build(PROGRAM, built)
    return Launch.here([str(built)])


@pytest.mark.parametrize("scheduler", ["random-walk", "round-robin"])
def test_signals_come_again_at_the_same_step(program: Launch, scheduler: str) -> None:
    for seed in range(3):
        first = run(program, seed=seed, scheduler=scheduler)
        assert first.status == 0, first.err.beginning
        assert len(first.out.beginning.splitlines()) == 6
        again = run(program, replay=first)
        assert again.differences(first) == []
