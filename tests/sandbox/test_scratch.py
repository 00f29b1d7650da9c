# SPDX-License-Identifier: Apache-2.0
"""Branches and traces lie where they are forgotten, also when whoever ran them was killed."""

import os
import signal
import tempfile
from pathlib import Path
from typing import NoReturn, cast

import pytest

from eitherway.find.confirm import Tracer
from eitherway.sandbox.scratch import Scratch
from eitherway.worlds.threads.explorer import Explorer


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


def test_a_trace_that_a_killed_process_left_is_taken_away_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In TMPDIR, where traces lie: one may be as large as the disk."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tracer = Tracer(cast(Explorer, None), fixed=False)

    def killed(into: Path) -> NoReturn:
        (into / "events").write_bytes(bytes(1000))
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    child = os.fork()
    if child == 0:
        tracer.traced(killed)
    os.waitpid(child, 0)
    assert len(left(tmp_path)) == 1

    def interrupted(into: Path) -> NoReturn:
        assert left(tmp_path) == [into.name]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tracer.traced(interrupted)
    assert left(tmp_path) == []
