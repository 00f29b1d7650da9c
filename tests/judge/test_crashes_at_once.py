# SPDX-License-Identifier: Apache-2.0
"""A recorded run may crash behind its second access before anything is decided again."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.model.words import Class


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
