# SPDX-License-Identifier: Apache-2.0
"""What threads hold in registers and on stacks when they come to their next synchronisation."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from tests.judge.bench import bench

from eitherway.find.held_words import words_of
from eitherway.find.states import BY_LOADS, DIFFERS_NEAR, NOTHING_LEFT, SAME_NEAR
from eitherway.model.words import Class
from eitherway.symbols.unwinding import Stack
from eitherway.worlds.threads.held import Apart, Held, Values

pytestmark = pytest.mark.usefixtures("fixed")

SOURCE = Path(__file__).parent / "programs" / "held.c"
Built = Callable[[str], str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The path of the program, by how it is optimised."""
    folder = tmp_path_factory.mktemp("held")

    @cache
    def path(level: str) -> str:
        command = [sys.executable, "-m", "eitherway", "cc", "-g", level, str(SOURCE)]
        subprocess.run([*command, "-o", str(folder / level)], check=True)
        return str(folder / level)

    return path


def states(program: str, mode: str, folder: Path) -> list[str]:
    """What is said of the state near the pair."""
    with bench([program, mode]) as made:
        ran = made.explorer.run(seed=0, detect=True)
        (race,) = made.races_in(ran).values()
        finding = made.judge.judged(race, ran, lambda _: folder)
    assert finding.klass is (Class.OUTPUT_DIFFERS if mode == "prints" else Class.K_WITNESS_HARMLESS)
    told = (SAME_NEAR, NOTHING_LEFT, DIFFERS_NEAR, BY_LOADS)
    return [words for words in finding.explanation if words.startswith(told)]


def test_a_register_that_is_read_later_differs(built: Built, tmp_path: Path) -> None:
    (words,) = states(built("-O2"), "needs", tmp_path)
    assert words.startswith(f"{DIFFERS_NEAR}'seen' of needs (in r")


def test_a_register_of_a_caller_differs(built: Built, tmp_path: Path) -> None:
    (words,) = states(built("-O2"), "calls", tmp_path)
    assert words.startswith(f"{DIFFERS_NEAR}'seen' of calls (in r")


@pytest.mark.parametrize("mode", ["is_done", "leaves"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_nobody_reads_any_more_is_no_difference(
    built: Built, mode: str, level: str, tmp_path: Path
) -> None:
    assert states(built(level), mode, tmp_path) == [NOTHING_LEFT]


@pytest.mark.parametrize("mode", ["needs", "calls"])
def test_what_a_thread_has_on_its_own_stack_differs(
    built: Built, mode: str, tmp_path: Path
) -> None:
    assert states(built("-O0"), mode, tmp_path) == [f"{DIFFERS_NEAR}'seen' of {mode}."]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_is_stored_on_another_threads_stack_differs(
    built: Built, level: str, tmp_path: Path
) -> None:
    """Optimised, its function is inlined into `main`."""
    assert states(built(level), "stores", tmp_path) == [f"{DIFFERS_NEAR}'result'."]


def test_what_a_thread_returns_differs(built: Built, tmp_path: Path) -> None:
    assert states(built("-O2"), "returns", tmp_path) == [f"{DIFFERS_NEAR}what thread T2 returns."]


def test_the_main_thread_is_called_so() -> None:
    over = Held(0, 0, (), (), cast(Stack, None), cast(Values, None))
    assert words_of(Apart(over, None)) == "what main thread returns"


def test_where_a_thread_goes_on_differs(built: Built, tmp_path: Path) -> None:
    lines = [number for number, text in _lines() if text.startswith("        synchronise()")]
    places = " or ".join(f"held.c:{number}" for number in sorted(lines, reverse=True))
    expected = f"{DIFFERS_NEAR}where thread T2 goes on: {places}."
    assert states(built("-O2"), "turns", tmp_path) == [expected]


def _lines() -> list[tuple[int, str]]:
    return list(enumerate(SOURCE.read_text(encoding="utf-8").splitlines(), start=1))


@pytest.mark.parametrize("mode", ["gives", "prints"])
def test_what_is_not_known_may_differ(built: Built, mode: str, tmp_path: Path) -> None:
    """An argument of the call that ends the region; what libc is about to write."""
    assert states(built("-O2"), mode, tmp_path) == [f"{DIFFERS_NEAR}'level'.", BY_LOADS]
