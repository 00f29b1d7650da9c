# SPDX-License-Identifier: Apache-2.0
"""Whether servers come so far that their driver is started."""

from eitherway.errors import UsageError
from eitherway.worlds.threads.course import Course, Ended
from eitherway.worlds.threads.driver import Driver


class Driving:
    """Of all schedules so far."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._started = False  # at least once
        self._content = False  # with one at least
        self._seen = False

    @property
    def in_vain(self) -> bool:
        """Whether no run did what it was driven to do: then nothing was tried."""
        return self._seen and not self._content

    def see(self, course: Course) -> str:
        """What is to be said of a run; one that is never ready has not hung: that is refused."""
        self._seen = True
        self._started |= course.driving
        self._content |= course.driven is not None and course.driven.status == 0
        if course.driven and course.driven.status:
            return "the driver failed after some schedules; its exit status is then told as theirs"
        if course.driving:
            return ""
        if not self._started and course.ended is Ended.TIMEOUT:
            raise UsageError(
                f"the driver was not started: the program was to {self._driver.ready} first, and "
                "did not in the time it was given",
                fix="--ready with another condition, or a longer --timeout",
            )
        return f"some schedules were over before they did {self._driver.ready}, and had no driver"
