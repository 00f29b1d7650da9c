# SPDX-License-Identifier: Apache-2.0
"""Waiting for the outside with a limit takes as long in a replay as it did."""

from pathlib import Path

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "waits_for_a_child.c"


def test_the_time_after_each_wait_is_the_same_again(tmp_path: Path) -> None:
    built = tmp_path / "program"
    build(PROGRAM, built)
    for seed in range(3):
        first = run(Launch.here([str(built)]), seed=seed)
        assert first.status == 0, first.err.beginning
        assert len(set(first.out.beginning.split())) == 3
        assert run(Launch.here([str(built)]), replay=first).differences(first) == []
