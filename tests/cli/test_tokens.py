# SPDX-License-Identifier: Apache-2.0
"""Tokens, drivers, sandboxes and verification, typed as a person would type them."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway import __version__
from eitherway.recording.token import Token, parse
from eitherway.worlds.threads.build import build

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "threads" / "programs"
Done = subprocess.CompletedProcess[str]


def eitherway(folder: Path, *words: str | Path) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a few programs that were built."""
    made = tmp_path_factory.mktemp("programs")
    build(ROOT / "examples" / "bank.c", made / "bank")
    for name in ("differs", "echoes"):
        build(PROGRAMS / f"{name}.c", made / name)
    return made


def token_of(done: Done) -> str:
    (token,) = re.findall(r"^eitherway: token: (\S+)$", done.stderr, re.MULTILINE)
    return str(token)


# --- tokens


def test_a_token_names_a_run(folder: Path) -> None:
    first = eitherway(folder, "record", "--seed", "4", "--", "./bank")
    again = eitherway(folder, "replay", token_of(first), "--", "./bank")
    assert (again.returncode, again.stdout) == (0, first.stdout)
    said = re.search(r"after (.*) steps with (.*) decisions", first.stderr)
    assert said
    assert said[0] in again.stderr
    assert "--scheduler random-walk --seed 4" in again.stderr


def amount(done: Done) -> str:
    (found,) = re.findall(r"[0-9,]+ steps with [0-9,]+ decisions", done.stderr)
    return str(found)


def test_whoever_has_the_build_has_the_run_that_showed_a_finding(
    folder: Path, tmp_path: Path
) -> None:
    """Once without shared places, and once with those that the first check has found."""
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    for there in (mine, yours):
        there.mkdir()
        shutil.copy(folder / "bank", there / f"{there.name}-bank")
    for found in (False, True):
        for recording in mine.glob(".eitherway/recordings/*"):
            shutil.rmtree(recording)
        words = ("--stop-at-first", "--schedules", "30", "--jobs", "1")
        done = eitherway(mine, "check", "--no-judge", *words, "--", "./mine-bank")
        (text,) = re.findall(r"token of the first: (\S+)", done.stderr)
        (name,) = re.findall(r"next: eitherway replay (\S+)", done.stderr)
        assert bool(parse(text).places) == found
        first = eitherway(mine, "replay", name)
        again = eitherway(yours, "replay", text, "--", "./yours-bank")
        assert first.returncode == again.returncode == 0
        assert (again.stdout, amount(again)) == (first.stdout, amount(first))
    assert (
        eitherway(yours, "replay", text.replace("@", "@A"), "--", "./yours-bank").returncode == 65
    )


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda token: {"places": "AAAA"}, 65, "the places of the token make no sense"),
        (lambda token: {"tool": "9.9"}, 65, f"of EitherWay 9.9, this is {__version__}"),
        (lambda token: {"build": "0" * 12}, 65, "is of build 000000000000"),
        (lambda token: {"world": "processes"}, 69, "processes world"),
    ],
)
def test_a_token_of_something_else_is_refused(
    change: object, code: int, said: str, folder: Path
) -> None:
    token = parse(token_of(eitherway(folder, "record", "--", "./bank")))
    fields = {"build": token.build, "scheduler": token.scheduler, "seed": token.seed}
    other = Token(**(fields | change(token)))  # type: ignore[operator]
    done = eitherway(folder, "replay", str(other), "--", "./bank")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_a_token_of_another_program_is_refused(folder: Path) -> None:
    token = token_of(eitherway(folder, "record", "--", "./bank"))
    done = eitherway(folder, "replay", token, "--", "./differs")
    assert done.returncode == 65
    assert "is of build" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["TOKEN"], 64, "there is no command to run"),
        (["TOKEN", "--"], 64, "there is no command to run"),
        (["TOKEN", "--gdb", "--", "./bank"], 64, "need a recording"),
        (["TOKEN", "--times", "2", "--", "./bank"], 64, "need a recording"),
        (["TOKENx", "--", "./bank"], 65, "was changed on its way"),
        (["ew1:", "--", "./bank"], 65, "was changed on its way"),
        (["TOKEN", "--", "./missing"], 64, "does not exist"),
        (["latest", "--", "./bank"], 64, "a recording knows its command"),
        (["--times", "0"], 64, "at least 1 is needed"),
        (["--timeout", "0"], 64, "is no number of seconds"),
    ],
)
def test_what_cannot_be_replayed_is_told(
    words: list[str], code: int, said: str, folder: Path
) -> None:
    token = token_of(eitherway(folder, "record", "--", "./bank"))
    done = eitherway(folder, "replay", *(word.replace("TOKEN", token) for word in words))
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


# --- verification


def test_a_run_that_is_the_same_is_verified(folder: Path) -> None:
    done = eitherway(folder, "record", "--verify", "--", "./differs", "never")
    assert done.returncode == 0
    assert "verified: replayed, the same to the bit" in done.stderr


def test_a_run_that_is_not_the_same_is_explained(folder: Path) -> None:
    done = eitherway(folder, "record", "--verify", "--", "./differs", "clock")
    assert done.returncode == 2
    assert "output: standard output differs from byte" in done.stderr
    assert "perhaps: it asks the processor itself: rdtsc in" in done.stderr
    again = eitherway(folder, "replay", "--times", "3", "--quiet")
    assert again.returncode == 2
    assert re.search(r"trace: store at .*differs\.c:\d+ in clock_of_the_processor", again.stderr)
    assert "that was replay 1 of 3" in again.stderr


def test_a_sandbox_keeps_files_as_they_are(folder: Path) -> None:
    count = folder / "count"
    count.write_text("3", encoding="ascii")
    bare = eitherway(folder, "record", "--verify", "--", "./differs", "file")
    assert bare.returncode == 2
    assert "it changes files, which the recorded run changed before" in bare.stderr
    assert count.read_text(encoding="ascii") != "3"
    count.write_text("3", encoding="ascii")
    boxed = eitherway(folder, "record", "--sandbox", "--verify", "--", "./differs", "file")
    if boxed.returncode == 69:
        pytest.skip(boxed.stderr)
    assert (boxed.returncode, boxed.stdout) == (0, "begun\nrun 3\n")
    assert "isolated by files: overlay" in boxed.stderr
    assert eitherway(folder, "replay", "--times", "2").returncode == 0
    assert count.read_text(encoding="ascii") == "3"


# --- drivers


def test_a_server_with_its_driver(folder: Path) -> None:
    asks = folder / "asks.py"
    asks.write_text(
        "import socket\n"
        "with socket.create_connection(('127.0.0.1', 7), 20) as s:\n"
        "    s.sendall(b'hello'); print(s.recv(9).decode())\n"
        "    s.shutdown(socket.SHUT_WR); s.recv(9)\n",  # until the server has done with it
        encoding="ascii",
    )
    driver = f"'{sys.executable}' '{asks}'"
    words = ["--sandbox", "--driver", driver, "--ready", "port:7", "--", "./echoes", "7"]
    done = eitherway(folder, "record", *words)
    if done.returncode == 69:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout) == (0, "listening\nserved 1\n"), done.stderr
    assert "driver: HELLO" in done.stderr
    again = eitherway(folder, "replay")
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_a_driver_that_fails_makes_the_run_fail(folder: Path) -> None:
    words = ["--driver", "sh -c 'exit 9'", "--ready", "output:listening", "--", "./echoes", "0"]
    done = eitherway(folder, "record", *words)
    assert done.returncode == 9
    assert "the driver failed: exit status 9" in done.stderr


def test_a_check_whose_driver_is_never_content_has_tried_nothing(folder: Path) -> None:
    words = ["--schedules", "4", "--ready", "output:listening"]
    done = eitherway(folder, "check", *words, "--driver", "sh -c 'exit 9'", "--", "./echoes", "0")
    assert done.returncode == 2
    assert "the driver was content with no schedule" in done.stdout
    done = eitherway(folder, "check", *words, "--driver", "true", "--", "./echoes", "0")
    assert done.returncode == 0
    assert "content" not in done.stdout


def test_a_program_that_is_never_ready(folder: Path) -> None:
    done = eitherway(folder, "record", "--driver", "true", "--ready", "port:7", "--", "./bank")
    assert done.returncode == 1
    assert (
        "before the driver was done: it was to listen on port 7 first, and never did" in done.stderr
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ready", "port:7"], "--ready is about a --driver"),
        (["--stop", "exit"], "--stop is about a --driver"),
        (["--grace", "1"], "--grace is about a --driver"),
        (["--driver", ""], "the driver is empty"),
        (["--driver", "/nowhere/drive"], "is no command that can be started"),
        (["--driver", "true", "--ready", "soon"], "is no condition"),
        (["--driver", "true", "--ready", "port:99999"], "is no condition"),
        (["--driver", "true", "--stop", "signal:NONE"], "is no way to stop"),
        (["--driver", "true", "--grace", "-1"], "is no number of seconds"),
        (["--timeout", "soon"], "is no number of seconds"),
        (["--timeout", "inf"], "is no number of seconds"),
        (["--timeout", "nan"], "is no number of seconds"),
        (["--world", "kernel"], "invalid choice"),
    ],
)
def test_options_that_make_no_sense_are_refused(words: list[str], said: str, folder: Path) -> None:
    done = eitherway(folder, "record", *words, "--", "./bank")
    assert (done.returncode, done.stdout) == (64, "")
    assert said in done.stderr
