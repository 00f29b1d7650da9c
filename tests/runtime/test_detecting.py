# SPDX-License-Identifier: Apache-2.0
"""Programs that load, fork, cancel and end in every way do so also while races are looked for."""

from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

HERE = Path(__file__).parent
PROGRAMS = [
    "programs/children.c",
    "programs/ends.c",
    "programs/fork_in_thread.c",
    "shapes/cancelled_anywhere.c",
    "shapes/main_leaves_first.c",
    "never_joined.c",
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_looking_for_races_changes_nothing(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    build(HERE / name, program)
    ran = run(Launch.here([str(program)]), seed=1, detect=True)
    assert (ran.status, ran.err.beginning) == (0, b"")
