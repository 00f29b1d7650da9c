# SPDX-License-Identifier: Apache-2.0
"""A program that is started by nobody of ours looks for races in its one schedule, and says so."""

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from eitherway.symbols.lines import frames_at
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import VARIABLE

SOURCE = Path(__file__).parent / "bare.c"
Done = subprocess.CompletedProcess[str]
FOUND = 66


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bare") / "bare"
    build(SOURCE, path)
    return path


@cache
def started(program: Path, what: str, options: str | None = None) -> Done:
    environment = {name: text for name, text in os.environ.items() if name != VARIABLE}
    if options is not None:
        environment[VARIABLE] = options
    return subprocess.run(
        [program, what],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("what", ["race", "race-and-leave"])
def test_a_race_is_told_and_the_exit_code_says_so(program: Path, what: str) -> None:
    done = started(program, what)
    assert (done.returncode, done.stdout) == (FOUND, "done\n")
    assert "WARNING: EitherWay: data race\n" in done.stderr
    assert f"eitherway check -- {program}" in done.stderr


def test_the_place_is_one_of_the_file(program: Path) -> None:
    (word, *_) = started(program, "race").stderr.split("bare+")[1].split()
    (frames,) = frames_at(str(program), [int(word, 16)])
    assert frames[-1].function == "add"


@pytest.mark.parametrize(
    ("what", "words"),
    [("deadlock", "deadlock"), ("twice", "memory is freed that was freed")],
)
def test_what_is_no_race_is_told_too(program: Path, what: str, words: str) -> None:
    done = started(program, what)
    assert f"WARNING: EitherWay: {words}\n" in done.stderr
    assert done.returncode in (FOUND, -6)  # libc may notice a double free itself


@pytest.mark.parametrize("what", ["locked", "alone"])
def test_nothing_is_said_of_a_program_that_orders_everything(program: Path, what: str) -> None:
    done = started(program, what)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_whoever_leads_the_program_is_told_instead(program: Path) -> None:
    done = started(program, "race", "detect=1")
    assert (done.returncode, done.stderr) == (0, "")
