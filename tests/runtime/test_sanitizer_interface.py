# SPDX-License-Identifier: Apache-2.0
"""What programs ask of any sanitizer is answered, and their callbacks are called."""

from pathlib import Path

import pytest

from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran, run

PROGRAM = Path(__file__).parent / "asks_sanitizer.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("sanitizer") / "program"
    build(PROGRAM, built)
    return built


@pytest.fixture(scope="module")
def ran(program: Path) -> Ran:
    return run(Launch.here([str(program)]))


def test_questions_are_answered(ran: Ran) -> None:
    assert ran.status == 0
    assert ran.out.beginning.decode().splitlines() == [
        "initialized 1",
        "allocated 1 1",
        "unaligned 1020304 4",
        "module 1 program",
        "symbol 1",
    ]


def test_a_stack_trace_names_the_callers_innermost_first(ran: Ran) -> None:
    frames = [line.split()[0] for line in ran.err.beginning.decode().splitlines() if line]
    assert frames[:2] == ["#0", "#1"]
    assert all("program+0x" in line for line in ran.err.beginning.decode().splitlines()[:2])


def test_options_come_with_the_run(ran: Ran) -> None:
    assert inputs.default_options(ran.members[0].inputs) == "history_size=7"


def test_a_program_may_end_itself_as_if_something_was_found(program: Path) -> None:
    assert run(Launch.here([str(program), "fails"])).status == 66
