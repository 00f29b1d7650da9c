# SPDX-License-Identifier: Apache-2.0
"""A deadlock is told beside a timer that expires again and again."""

from pathlib import Path

from eitherway.errors import Exit
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

STUCK = Path(__file__).parent / "stuck_with_timer.c"


def test_a_timer_that_helps_nobody_does_not_hide_a_deadlock(tmp_path: Path) -> None:
    build(STUCK, tmp_path / "program")
    ran = run(Launch.here([str(tmp_path / "program")]))
    assert (ran.status, b"deadlock" in ran.err.beginning) == (Exit.FOUND_BARE, True)
