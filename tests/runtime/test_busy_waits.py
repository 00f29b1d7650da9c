# SPDX-License-Identifier: Apache-2.0
"""A thread that spins lets others run, and time pass, under every scheduler; and it replays."""

import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.policies import POLICIES
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "busy_wait.c"
SCHEDULERS = sorted(POLICIES)  # test_policies.py sees that these are all that can be chosen
WAYS = ["at_once", "plain", "volatile", "yield", "pause", "usleep", "atomic", "lock", "alarm"]


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("busy") / "program"
    command = [sys.executable, "-m", "eitherway", "cc", request.param, "-g"]
    subprocess.run([*command, str(PROGRAM), "-o", str(built)], check=True)
    return built


def test_there_are_schedulers() -> None:
    assert {"random-walk", "round-robin"} <= set(SCHEDULERS)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("how", WAYS)
def test_whoever_spins_comes_to_an_end(program: Path, how: str, scheduler: str) -> None:
    launch = Launch.here([str(program), how])
    for seed in range(3):
        first = run(launch, seed=seed, scheduler=scheduler)
        assert (first.status, first.out.beginning) == (0, b"done\n"), first.err.beginning
        assert run(launch, replay=first).differences(first) == []
