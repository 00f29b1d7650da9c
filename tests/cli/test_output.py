# SPDX-License-Identifier: Apache-2.0
"""Files that the user names: written whole, with their rights, or refused before any work."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.cli import output
from eitherway.errors import Problem, Unavailable, UsageError
from eitherway.recording.store import Store

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "format" / "samples" / "findings" / "threads.json"

# Root may read and write anywhere; without these capabilities it may not: folders and files mean
# what they say.
AS_ANYBODY = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
ctypes.CDLL(None).prctl(24, 2, 0, 0, 0)  # CAP_DAC_READ_SEARCH
os.execv(sys.executable, [sys.executable, "-m", "eitherway", *sys.argv[1:]])
"""


def as_anybody(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", AS_ANYBODY, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o664):
        file = tmp_path / "findings.json"
        file.write_text("old", encoding="utf-8")
        file.chmod(mode)
        output.write_file(str(file), lambda out: out.write("new"))
        assert (file.read_text(encoding="utf-8"), mode_of(file)) == ("new", mode)


def test_a_new_file_has_the_rights_that_new_files_have(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    output.write_file(str(tmp_path / "new"), lambda out: out.write(""))
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "other")


def test_nobody_can_guess_the_draft_and_nothing_is_left(tmp_path: Path) -> None:
    drafts: list[str] = []

    def look(_: object) -> None:
        drafts.extend(path.name for path in tmp_path.iterdir() if path.name.startswith("."))

    for _ in range(2):
        output.write_file(str(tmp_path / "x"), look)
    assert len(set(drafts)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    with pytest.raises(ZeroDivisionError):
        output.write_file(str(tmp_path / "x"), lambda _: 1 / 0)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    output.write_file(str(tmp_path / ("x" * 255)), lambda out: out.write("y"))


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("no/such/folder/x", UsageError),
        (".", UsageError),
        ("x" * 300, UsageError),
        ("a-file/x", UsageError),
        ("/dev/full", Unavailable),
    ],
)
def test_a_wrong_name_is_wrong_usage_and_a_full_disk_the_machine(
    target: str, problem: type[Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    with pytest.raises(problem, match="cannot be written: "):
        output.write_file(target, lambda out: out.write("y"))
    if problem is UsageError:
        with pytest.raises(problem, match="cannot be written: "):
            output.check_target(target)


@pytest.mark.parametrize("verb", [["races", "none"], ["report", "none"], ["doctor"]])
def test_a_folder_that_takes_no_files_is_told_before_any_work(
    verb: list[str], tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    done = as_anybody(*verb, "--json", "closed/x", cwd=tmp_path)
    assert done.returncode == 69
    assert done.stderr.startswith("eitherway: closed/x cannot be written: the folder /")
    assert "\n  instead: name a file in another folder\n" in done.stderr
    assert done.stdout == ""


def test_what_was_found_is_shown_when_it_cannot_be_kept(tmp_path: Path) -> None:
    files = ["--json", "/dev/full", "--write-baseline", "known.txt"]
    done = as_anybody("report", str(SAMPLE), *files, cwd=tmp_path)
    assert done.returncode == 69
    assert "/dev/full cannot be written: No space left on device" in done.stderr
    assert done.stdout.count("WARNING: EitherWay:") == 2
    assert (tmp_path / "known.txt").exists()


def test_a_store_that_cannot_be_written_says_where_else(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    with pytest.raises(Unavailable) as error:
        Store(tmp_path / "a-file" / ".eitherway").new()
    assert error.value.fix.startswith("EITHERWAY_DIR=")


def test_all_steps_are_done_and_the_first_problem_is_told() -> None:
    done: list[int] = []

    def step(number: int) -> None:
        done.append(number)
        if number:
            raise UsageError(str(number))

    with pytest.raises(UsageError, match="1"):
        output.all_of(*(lambda n=n: step(n) for n in (0, 1, 2)))
    assert done == [0, 1, 2]
