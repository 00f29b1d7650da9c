# SPDX-License-Identifier: Apache-2.0
"""Pools of workers, as Python has them: who takes which job is chance, also where one took all."""

from pathlib import Path

import pytest
from tests.processes.harness import PROGRAMS, ran
from tests.processes.test_kinds_of_races import checked, loud

from eitherway.detect import detect_all
from eitherway.find.trees import Checked
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.traced import traced

pytestmark = pytest.mark.usefixtures("box")
WAYS = [("queue", "fork"), ("pool", "fork"), ("executor", "fork")]


def pool(work: Path, *words: str) -> Checked:
    return checked(work, "/usr/bin/python3", str(PROGRAMS / "pool.py"), *words)


@pytest.mark.parametrize(("way", "start"), WAYS)
def test_jobs_of_two_workers_lose_an_update(work: Path, way: str, start: str) -> None:
    (finding,) = loud(pool(work, way, start, "unlocked"))
    assert {operation.variable for operation in finding.operations} == {str(work / "count")}


@pytest.mark.parametrize(("way", "start"), WAYS)
def test_jobs_under_a_lock_do_not(work: Path, way: str, start: str) -> None:
    assert loud(pool(work, way, start, "locked")) == []


def test_in_the_recorded_run_one_worker_did_all(work: Path, box: Sandbox) -> None:
    """Nothing of it shows that another could have."""
    words = "/usr/bin/python3", str(PROGRAMS / "pool.py"), "queue", "fork", "unlocked"
    trace = traced(ran(box, work, *words).log, str(work))
    racing = [number for race in detect_all(trace.trace) for number in race.operations]
    assert str(work / "count") not in {trace.describe(number).variable for number in racing}
