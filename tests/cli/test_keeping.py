# SPDX-License-Identifier: Apache-2.0
"""Where `record` keeps a run, and how many."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

MARKS = '#include <stdio.h>\nint main(void) { return fclose(fopen("ran", "w")); }\n'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Leaves a file where it ran."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "marks.c").write_text(MARKS, encoding="utf-8")
    build(folder / "marks.c", folder / "marks")
    return folder / "marks"


def record(program: Path, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", "record", "--", str(program)],
        cwd=folder,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ({"EITHERWAY_DIR": "."}, 69, "cannot be kept in .: it holds other things"),
        ({"EITHERWAY_KEEP": "all"}, 64, "EITHERWAY_KEEP=all is not a number of recordings"),
    ],
)
def test_a_store_that_cannot_be_is_told_before_the_run(
    program: Path, tmp_path: Path, settings: dict[str, str], status: int, said: str
) -> None:
    (tmp_path / "precious").touch()
    mode = tmp_path.stat().st_mode
    done = record(program, tmp_path, **settings)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
    assert os.listdir(tmp_path) == ["precious"]
    assert tmp_path.stat().st_mode == mode


def test_recordings_beyond_the_retention_go_and_it_is_said(program: Path, tmp_path: Path) -> None:
    first, second = (record(program, tmp_path, EITHERWAY_KEEP="1") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "removed" not in first.stderr
    assert "the store keeps the newest (EITHERWAY_KEEP=1, " in second.stderr
    assert len(os.listdir(tmp_path / ".eitherway" / "recordings")) == 1
