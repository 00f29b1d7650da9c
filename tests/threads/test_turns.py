# SPDX-License-Identifier: Apache-2.0
"""Schedules as turns: the same turns make the same run, and one can be left out."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.corpus.checked import addresses_as_before, build

from eitherway.errors import Unavailable
from eitherway.model.outcome import Ending
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.decisions import TIME_PASSES
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.policies import TURNS
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import SWITCH, Schedule, SwitchKind
from eitherway.worlds.threads.turns import Turn, Turns, joined

PROGRAMS = Path(__file__).parent.parent / "programs"
END = 2**32 - 1


@pytest.fixture(autouse=True)
def _fixed() -> Iterator[None]:
    with addresses_as_before():
        fix_addresses()
        yield


def explored(name: str, folder: Path) -> Iterator[Explorer]:
    (source,) = PROGRAMS.glob(f"{name}.c*")
    build(source, folder / name)
    launch = Launch.here([str(folder / name)])
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=30)) as explorer:
        yield explorer


def by_turns(explorer: Explorer, ran: Ran, turns: Turns) -> Ran:
    return explorer.run(replay=ran, scheduler=TURNS, guidance=turns.guidance(), detect=True)


NAMES = (
    "two_variables",
    "deadlock_three",
    "cond_timed_right",
    "cond_broadcast_right",
    "adhoc_flag_right",
    "mutex_timed_right",
    "cpp_atomic_wait_right",
    "signal_right",
    "semaphore_right",
)


def test_a_hang_is_one_again(tmp_path: Path) -> None:
    """Where it is seen to be one need not be the same."""
    for explorer in explored("paper_pfscan", tmp_path):
        runs = (explorer.run(seed=seed, detect=True) for seed in range(300))
        ran = next(ran for ran in runs if has_hung(ran))
        assert has_hung(by_turns(explorer, ran, Turns.of(ran.schedule)))


def has_hung(ran: Ran) -> bool:
    return outcome_of(ran).ending is Ending.HANG


@pytest.mark.parametrize("name", NAMES)
def test_the_same_turns_make_the_same_run(name: str, tmp_path: Path) -> None:
    for explorer in explored(name, tmp_path):
        for seed, policy in enumerate(("random-walk", "pct", "pos", "surw", "round-robin") * 2):
            ran = explorer.run(seed=seed, scheduler=policy, detect=True)
            again = by_turns(explorer, ran, Turns.of(ran.schedule))
            assert again.differences(ran) == [], (seed, policy)


def test_a_turn_that_is_left_out_is_done_in_the_next(tmp_path: Path) -> None:
    """Without any turn each thread runs until it cannot go on: no switch that is not needed."""
    for explorer in explored("mutex_right", tmp_path):
        ran = explorer.run(seed=3, detect=True)
        turns = Turns.of(ran.schedule)
        alone = by_turns(explorer, ran, turns.only([]))
        assert alone.status == ran.status == 0
        assert alone.out == ran.out
        assert len(alone.schedule.switches) < len(ran.schedule.switches)
        replayed = explorer.run(replay=alone)
        assert replayed.differences(alone) == []


def test_turns_of_threads_that_are_not_there_are_over(tmp_path: Path) -> None:
    for explorer in explored("mutex_right", tmp_path):
        ran = explorer.run(seed=3, detect=True)
        odd = Turns((Turn(77, 5), Turn(TIME_PASSES), Turn(0, 0), Turn(1, END)), picks=(9, 9))
        assert by_turns(explorer, ran, odd).out == ran.out


def test_how_turns_are_read_from_a_schedule() -> None:
    rows = [
        (4, 1, SwitchKind.THREAD),
        (6, 0, SwitchKind.THREAD),
        (7, 1, SwitchKind.WAITER),
        (9, 1, SwitchKind.TIME),
        (9, 1, SwitchKind.THREAD),
    ]
    schedule = Schedule(switches=np.array(rows, dtype=SWITCH), reached=12)
    assert Turns.of(schedule) == Turns(
        (Turn(0, 4), Turn(1, 2), Turn(0, 7), Turn(TIME_PASSES), Turn(0, 7), Turn(1, 6)), (1,)
    )


def test_two_turns_of_a_thread_become_one() -> None:
    turns = [Turn(0, 4), Turn(1, 2), Turn(0, 7), Turn(TIME_PASSES), Turn(0, 9)]
    assert joined(turns, 0) == [Turn(0, 7), Turn(1, 2), Turn(TIME_PASSES), Turn(0, 9)]
    assert joined(turns, 1) is None
    assert joined(turns, 3) is None


def test_a_run_of_more_steps_than_can_be_told_is_refused() -> None:
    """A loop of some seconds has as many."""
    rows = np.array([(4, 1, SwitchKind.THREAD)], dtype=SWITCH)
    largest = Turns.of(Schedule(switches=rows, reached=END - 1))
    assert largest.turns[-1].until < END
    with pytest.raises(Unavailable, match="4,294,967,295 steps"):
        Turns.of(Schedule(switches=rows, reached=END))
