# SPDX-License-Identifier: Apache-2.0
"""Whoever is asked to end has its time for it: its own, not what others had of the processors."""

from collections.abc import Sequence

import pytest

from eitherway.worlds.threads import course
from eitherway.worlds.threads.captured import Capture, Captured
from eitherway.worlds.threads.course import Conductor, Course, Ended, Plan
from eitherway.worlds.threads.launch import Launch

LATE = 100.0  # seconds after its begin; it is asked to end long before


class Slow:
    """A run that ends late, and the clock that it is seen by."""

    process = 4711  # nobody asks the kernel

    def __init__(self) -> None:
        self.now = 0.0

    def wait(self, seconds: float | None, _also: Sequence[int]) -> bool:
        self.now += max(seconds or 0, 0.001)
        return self.now >= LATE or seconds is None  # nothing more is going to be done to it

    def waits(self) -> int:
        return 0

    def reached(self) -> int:
        return 1

    def leave_alone(self) -> None:
        pass

    def wrote(self) -> int:
        return 0

    def written(self) -> tuple[Captured, Captured]:
        return Capture().captured(), Capture().captured()

    def stored(self) -> int | None:
        return None

    def taken(self) -> int:
        return 0


def conducted(monkeypatch: pytest.MonkeyPatch, waits: float, works: float) -> Course:
    """Of all the time, so much is spent in waiting for a processor, and so much with one."""
    target = Slow()
    monkeypatch.setattr(course, "monotonic", lambda: target.now)
    monkeypatch.setattr(course, "kept_waiting", lambda _, seconds: waits * seconds)
    monkeypatch.setattr(course, "worked", lambda _: works * target.now)
    monkeypatch.setattr(course, "send", lambda _target, _number: None)
    plan = Plan(until=0.1, stopping=2.0)
    launch = Launch.here(["unused"])
    return Conductor(target, plan, launch, lambda *_, **__: None, replay=False).conduct()  # type: ignore[arg-type]


def test_who_gets_no_processor_is_not_killed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    done = conducted(monkeypatch, waits=0.999, works=0.001)
    assert (done.ended, done.killed) == (Ended.CUT_OFF, False)


@pytest.mark.parametrize(("waits", "works"), [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5)])
def test_who_had_its_time_is_killed(
    monkeypatch: pytest.MonkeyPatch, waits: float, works: float
) -> None:
    done = conducted(monkeypatch, waits, works)
    assert (done.ended, done.killed) == (Ended.CUT_OFF, True)
