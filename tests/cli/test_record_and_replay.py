# SPDX-License-Identifier: Apache-2.0
"""`record`, `replay` and `races` on programs, typed as a person would type them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

BANK = Path(__file__).parent.parent.parent / "examples" / "bank.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("program") / "bank"
    build(BANK, built)
    return built


def eitherway(
    cwd: Path, *arguments: str | Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_run_is_kept_and_done_again(program: Path, tmp_path: Path) -> None:
    first = eitherway(tmp_path, "record", "--seed", "3", "--", program)
    assert first.returncode == 0
    assert first.stdout.startswith("6 deposits of 10")
    assert "next: eitherway replay" in first.stderr
    again = eitherway(tmp_path, "replay", "--times", "5")
    assert again.returncode == 0
    assert again.stdout == first.stdout * 5
    assert "the same to the bit 5 of 5 times" in again.stderr
    quiet = eitherway(tmp_path, "replay", "--quiet")
    assert quiet.stdout == ""


def test_races_are_found_in_a_run_that_was_only_recorded(program: Path, tmp_path: Path) -> None:
    eitherway(tmp_path, "record", "--", program)
    found = eitherway(tmp_path, "races")
    assert found.returncode == 1
    assert "global 'balance'" in found.stdout


SOURCES = {
    "fails.c": "#include <stdlib.h>\nint main(void) { exit(7); }\n",
    "aborts.c": "#include <stdlib.h>\nint main(void) { abort(); }\n",
    "echoes.c": (
        "#include <stdio.h>\nint main(void) { char line[99];"
        " while (fgets(line, 99, stdin)) fputs(line, stdout); return 0; }\n"
    ),
}


@pytest.mark.parametrize(
    ("name", "status", "stdin"),
    [("fails.c", 7, ""), ("aborts.c", 134, ""), ("echoes.c", 0, "one\ntwo\n")],
)
def test_a_program_keeps_its_exit_code_and_input(
    name: str, status: int, stdin: str, tmp_path: Path
) -> None:
    source = tmp_path / name
    source.write_text(SOURCES[name], encoding="utf-8")
    build(source, tmp_path / "program")
    first = eitherway(tmp_path, "record", "--", "./program", stdin=stdin)
    assert first.returncode == status
    assert first.stdout == stdin
    again = eitherway(tmp_path, "replay")
    assert again.returncode == 0
    assert again.stdout == stdin


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ([], 64, "there is no command to run"),
        (["--", "./missing"], 64, "does not exist"),
        (["--world", "threads", "--", "/bin/true"], 65, "was not built by eitherway cc"),
        (["--seed", "x", "--", "/bin/true"], 64, "is not a seed"),
        (["--scheduler", "best", "--", "/bin/true"], 64, "invalid choice"),
    ],
)
def test_what_cannot_be_recorded_says_why(
    command: list[str], status: int, said: str, tmp_path: Path
) -> None:
    shown = eitherway(tmp_path, "record", *command)
    assert shown.returncode == status
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr
    assert not (tmp_path / ".eitherway").exists()


def test_what_cannot_be_replayed_says_why(program: Path, tmp_path: Path) -> None:
    nothing = eitherway(tmp_path, "replay")
    assert nothing.returncode == 65
    eitherway(tmp_path, "record", "--", program)
    assert eitherway(tmp_path, "replay", "--times", "0").returncode == 64
    (recording,) = (tmp_path / ".eitherway" / "recordings").iterdir()
    stream = recording / "schedule.blocks"
    data = bytearray(stream.read_bytes())
    data[40] ^= 1
    os.chmod(stream, 0o600)
    stream.write_bytes(data)
    broken = eitherway(tmp_path, "replay")
    assert broken.returncode == 65
    assert "schedule.blocks" in broken.stderr
