# SPDX-License-Identifier: Apache-2.0
"""Timers are part of the schedule: a replay has each expiry at the step where it was."""

from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("timers_*.c"))


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.stem)
def test_expiries_come_again_at_the_same_step(source: Path, tmp_path: Path) -> None:
    build(source, tmp_path / "program")
    launch = Launch.here([str(tmp_path / "program")])
    for seed, scheduler in [(0, "random-walk"), (1, "random-walk"), (0, "round-robin")]:
        first = run(launch, seed=seed, scheduler=scheduler)
        assert first.status == 0, first.err.beginning
        assert run(launch, replay=first).differences(first) == []
