# SPDX-License-Identifier: Apache-2.0
"""A program that waits for ever is told, and its run replays; a long computation is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran, run

PROGRAM = Path(__file__).parent / "circles.c"
FOR_EVER = [
    "plain",
    "volatile",
    "atomic",
    "yield",
    "sleep",
    "lock",
    "exchange",
    "semaphore",
    "trylock",
    "allocate",
]
NOT_FOR_EVER = [
    "register",
    "pages",
    "memory",
    "unseen",
    "moment",
    "zeros",
    "tickets",
    "back-off",
    "signal",
    "process",
]
SCHEDULERS = ("random-walk", "round-robin", "pct", "pos", "surw")


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("circles") / "program"
    command = [sys.executable, "-m", "eitherway", "cc", request.param, "-g"]
    subprocess.run([*command, str(PROGRAM), "-o", str(built)], check=True)
    return built


def kinds(ran: Ran) -> list[int]:
    return [int(row["kind"]) for row in ran.found.rows if row["kind"] != FoundKind.RACE]


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("way", FOR_EVER)
def test_who_waits_for_ever_goes_round_in_circles(program: Path, way: str, threads: str) -> None:
    launch = Launch.here([str(program), way, threads])
    for scheduler in SCHEDULERS:
        ran = run(launch, seed=1, scheduler=scheduler, detect=True)
        assert (ran.status, kinds(ran)) == (66, [FoundKind.HANG])
        assert run(launch, replay=ran).differences(ran) == []


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("way", NOT_FOR_EVER)
def test_who_comes_to_an_end_does_not(program: Path, way: str, threads: str) -> None:
    launch = Launch.here([str(program), way, threads])
    for scheduler in SCHEDULERS:
        ran = run(launch, seed=1, scheduler=scheduler, detect=True)
        assert (ran.status, ran.out.beginning, kinds(ran)) == (0, b"done\n", [])


def test_nobody_who_does_not_look_for_races_ends_a_run(program: Path) -> None:
    ended = subprocess.run(
        [program, "memory"], env={"EITHERWAY_OPTIONS": "seed=1"}, stdout=subprocess.PIPE, check=True
    )
    assert ended.stdout == b"done\n"
