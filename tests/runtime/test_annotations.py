# SPDX-License-Identifier: Apache-2.0
"""What a program says about its own order is in the trace, and races that it rules out are gone."""

from pathlib import Path

import pytest

from eitherway.detect import CERTAIN, detect_all
from eitherway.model.words import Kind
from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.traced import traced

PROGRAM = Path(__file__).parent / "annotated.c"

RACING = ["nothing", "mutex_for_readers", "memset", "external"]
ORDERED = ["mutex", "rwlock", "acquire", "happens", "fiber"]
NOT_TOLD = ["ignored", "ignored_writes", "benign"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("annotated") / "program"
    build(PROGRAM, built)
    return built


def races_on_shared(program: Path, how: str, seed: int) -> bool:
    launch = Launch.here([str(program), how])
    ran = run(launch, seed=seed)
    assert ran.status == 0, ran.err.beginning
    trace, again = traced(Recorded(launch, ran))
    assert again.differences(ran) == []
    found = detect_all(trace, CERTAIN)
    names = {
        trace.strings[
            trace.objects["name"][trace.ranges["object"][trace.operations["range"][index]]]
        ]
        for race in found
        if race.kind is Kind.DATA_RACE
        for index in race.operations
    }
    return "shared" in names


@pytest.mark.parametrize("how", RACING)
def test_without_words_that_order_it_there_is_a_race(program: Path, how: str) -> None:
    assert races_on_shared(program, how, seed=1)


@pytest.mark.parametrize("how", [*ORDERED, *NOT_TOLD])
def test_there_is_no_race_with_words_that_rule_it_out(program: Path, how: str) -> None:
    for seed in range(3):
        assert not races_on_shared(program, how, seed)


def test_default_suppressions_come_with_the_run(program: Path) -> None:
    launch = Launch.here([str(program)])
    ran = run(launch)
    assert inputs.default_suppressions(ran.members[0].inputs) == "race:not_shared\n"
    assert run(launch, replay=ran).differences(ran) == []


def test_a_run_without_default_suppressions_has_none() -> None:
    assert inputs.default_suppressions(b"") == ""
