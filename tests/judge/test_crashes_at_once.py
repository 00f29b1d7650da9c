# SPDX-License-Identifier: Apache-2.0
"""A recorded run may crash behind its second access before anything is decided again."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.model.words import Class
from eitherway.worlds.threads.run import Ran


@pytest.mark.usefixtures("fixed")
@pytest.mark.parametrize(
    ("how", "number"), [("crash", signal.SIGSEGV), ("invariant", signal.SIGABRT)]
)
def test_a_crash_right_behind_the_second_access_is_told_of_the_pair(
    how: str, number: signal.Signals, program: Callable[[str], str], tmp_path: Path
) -> None:
    """All of the recorded run is done again too, although its last decision was earlier."""
    with bench([program("crashes_at_once"), how]) as made:
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        assert ran.status == -number
        (race,) = made.races_in(ran).values()
        finding = made.judge.judged(race, ran, lambda _: tmp_path)
    assert (finding.klass, finding.reason) == (Class.SPEC_VIOLATED, "")
    assert number.name in finding.consequence


@pytest.mark.usefixtures("fixed")
def test_a_race_that_was_judged_is_judged_alike_by_its_own_evidence(
    program: Callable[[str], str], tmp_path: Path
) -> None:
    """Its evidence crashes behind the first access; held there, it does before the second comes."""
    kept: dict[str, Ran] = {}

    def keep(ran: Ran) -> Path:
        path = tmp_path / str(len(kept))
        kept[str(path)] = ran
        return path

    with bench([program("used_too_early")], continuations=2) as made:
        runs = (made.explorer.run(seed=seed, detect=True) for seed in range(64))
        ran = next(ran for ran in runs if ran.status == 0)
        (finding,) = made.races_in(ran).values()
        first = made.judge.judged(finding, ran, keep)
        second = made.judge.judged(first, kept[first.evidence], keep)
        third = made.judge.judged(second, kept[second.evidence], keep)
    for told in (first, second, third):
        assert (told.klass, told.reason) == (Class.SPEC_VIOLATED, "")
        assert kept[told.evidence].status == -signal.SIGSEGV
        assert [order.does for order in told.orders] == [
            "the program is killed by SIGSEGV",
            "the program ends with exit status 0",
        ]
    assert third.explanation == second.explanation
