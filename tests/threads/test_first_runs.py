# SPDX-License-Identifier: Apache-2.0
"""From its first runs a server learns what code runs need: no program may notice."""

from collections.abc import Callable

import pytest

from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.server import Server

Program = Callable[[str], str]


@pytest.mark.parametrize(
    "what",
    [
        "mappings",
        "descriptors",
        "prctl",
        "syscall prctl",
        "syscall seccomp",
        "loader",
        "data",
    ],
)
def test_the_first_runs_are_as_the_others(program: Program, what: str) -> None:
    with Server(Launch.here([program("first_runs"), what]), threads=1) as server:
        runs = [server.run(seed=1) for _ in range(6)]
    assert [run.status for run in runs] == [0] * 6
    assert len({run.out.beginning for run in runs}) == 1
