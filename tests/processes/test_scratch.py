# SPDX-License-Identifier: Apache-2.0
"""Branches lie where they are forgotten, also when whoever ran them was killed."""

import os
import signal
from pathlib import Path

from eitherway.worlds.processes.scratch import Scratch


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_what_a_killed_process_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        (Scratch(tmp_path).new() / "secret").write_text("x")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (killed,) = left(tmp_path)
    with Scratch(tmp_path) as scratch:
        assert left(tmp_path) == [scratch.path.name]
        assert scratch.path.name != killed
    assert left(tmp_path) == []


def test_what_another_has_is_left_to_it(tmp_path: Path) -> None:
    with Scratch(tmp_path) as one, Scratch(tmp_path) as other:
        assert one.new().is_dir()
        assert other.path != one.path
        assert len(left(tmp_path)) == 2
        assert oct(one.path.stat().st_mode & 0o777) == "0o700"
