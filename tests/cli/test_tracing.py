# SPDX-License-Identifier: Apache-2.0
"""`replay --trace` and `report --trace`, typed as a person would type them."""

import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

ROOT = Path(__file__).parent.parent.parent
BANK = ROOT / "examples" / "bank.c"

# A program whose output changes when its memory or its descriptors lie elsewhere.
NUMBERS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments) {
    printf("%d %p %p %p %p\n", open("/dev/null", O_RDONLY), malloc(1 << 20), malloc(8),
           (void *)&count, (void *)arguments);
}
"""


def eitherway(cwd: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording."""
    folder = tmp_path_factory.mktemp("tracing")
    build(BANK, folder / "bank")
    assert eitherway(folder, "record", "--seed", "3", "--", "./bank").returncode == 0
    return folder


def test_a_trace_is_kept_listed_and_searched_for_races(place: Path) -> None:
    replayed = eitherway(place, "replay", "--trace", "whole", "--depth", "values")
    assert replayed.returncode == 0
    assert "traced 63 operations" in replayed.stderr
    assert "next: eitherway report --trace whole" in replayed.stderr
    listed = eitherway(place, "report", "--trace", "whole")
    assert listed.returncode == 0
    rows = [line.split() for line in listed.stdout.splitlines()[1:]]
    assert len(rows) == 63
    assert rows[4][:7] == ["3", "T1", "write", "of", "8", "balance", "10"]
    assert rows[4][7].endswith("bank.c:18")
    assert eitherway(place, "races", "whole").returncode == 1


def test_one_variable_in_some_steps(place: Path) -> None:
    asked = ("--at", "balance", "--steps", "5:30", "--callers", "0")
    assert eitherway(place, "replay", "--trace", "narrow", *asked).returncode == 0
    listed = eitherway(place, "report", "--trace", "narrow", "--output", "-")
    accesses = [
        line for line in listed.stdout.splitlines() if "read of" in line or "write of" in line
    ]
    assert len(accesses) == 6
    assert all("balance" in line for line in accesses)


def test_what_was_not_looked_at_is_said(place: Path) -> None:
    assert eitherway(place, "replay", "--trace", "sync", "--depth", "sync").returncode == 0
    found = eitherway(place, "races", "sync")
    assert found.returncode == 2
    assert "the trace has only synchronisation" in found.stdout + found.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay", "--depth", "sync"], "--depth is about a trace"),
        (["replay", "--callers", "1"], "--callers is about a trace"),
        (["replay", "--trace", "x", "--times", "2"], "one run"),
        (["replay", "--trace", "x", "--gdb"], "not with --gdb"),
        (["replay", "--trace", "x", "--steps", "5:2"], "--steps needs two numbers"),
        (["replay", "--trace", "x", "--steps", "5"], "--steps needs two numbers"),
        (["replay", "--trace", "x", "--steps", "a:b"], "--steps needs two numbers"),
        (["replay", "--trace", "x", "--at", "nowhere"], "no global variable 'nowhere'"),
        (["replay", "--trace", "x", "--at", "0xffffffffffffffff"], "names no memory"),
        (["replay", "--trace", "x", "--at", "0x10:0"], "names no memory"),
        (["replay", "--trace", "x", "--callers", "-1"], "--callers needs"),
        (["replay", "--trace", "."], "is not empty"),
        (["replay", "--trace", "bank"], "File exists"),
        (["replay", "--trace", "no/where"], "No such file"),
        (["report"], "give files of findings, or --trace DIR"),
        (["report", "x.json", "--trace", "x"], "give files of findings, or --trace DIR"),
        (["report", "x.json", "--incomplete"], "--incomplete is about traces"),
    ],
)
def test_what_makes_no_sense_is_refused(place: Path, arguments: list[str], words: str) -> None:
    run = eitherway(place, *arguments)
    assert run.returncode == 64
    assert words in run.stderr
    assert not (place / "x").exists() or not list((place / "x").iterdir())


def test_what_is_no_trace_is_refused(place: Path) -> None:
    latest = sorted((place / ".eitherway" / "recordings").iterdir())[-1]
    run = eitherway(place, "report", "--trace", latest)
    assert run.returncode == 65
    assert "no trace" in run.stderr
    assert eitherway(place, "report", "--trace", ".").returncode == 65


def test_with_a_trace_everything_lies_where_it_lies_without(tmp_path: Path) -> None:
    (tmp_path / "numbers.c").write_text(NUMBERS, encoding="utf-8")
    build(tmp_path / "numbers.c", tmp_path / "numbers")
    first = eitherway(tmp_path, "record", "--", "./numbers")
    assert first.stdout
    replayed = eitherway(tmp_path, "replay", "--trace", "T", "--depth", "values")
    if "addresses could not be fixed" in replayed.stderr:
        pytest.skip("this machine refuses to fix addresses")
    assert "the same to the bit" in replayed.stderr
