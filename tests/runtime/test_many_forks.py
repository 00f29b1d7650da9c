# SPDX-License-Identifier: Apache-2.0
"""A run may make more processes than there are at once, one after the other."""

from pathlib import Path

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

MANY = 4200


def test_thousands_of_processes_come_and_go(tmp_path: Path) -> None:
    build(Path(__file__).parent / "many_forks.c", tmp_path / "many_forks")
    ran = run(Launch.here([str(tmp_path / "many_forks"), str(MANY)]))
    assert ran.status == 0, ran.err.beginning
