# SPDX-License-Identifier: Apache-2.0
"""Reasons are data, and told with the names of those that they are about."""

import pytest

from eitherway.judge.why import PROCESSES, Names, Why


@pytest.mark.parametrize("why", Why)
def test_between_processes_no_threads_are_meant(why: Why) -> None:
    assert "thread" not in why.told(PROCESSES)
    assert "twos" not in why.told(PROCESSES)


def test_who_waits_is_named() -> None:
    told = Why.BLOCKED.told(Names("process 3", "process 4"))
    assert told == "process 4 waits until process 3 has gone on"
