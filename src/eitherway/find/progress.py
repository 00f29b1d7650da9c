# SPDX-License-Identifier: Apache-2.0
"""When a search stops, and how far it has come."""

from collections.abc import Collection
from dataclasses import dataclass, field

from eitherway.find.clock import Clock
from eitherway.find.coverage import Coverage
from eitherway.find.endings import Endings
from eitherway.model.finding import Finding
from eitherway.recording.token import Token
from eitherway.worlds.threads.places import NOWHERE, Places


@dataclass(frozen=True, slots=True)
class Budget:
    """When to stop."""

    schedules: int | None = None
    seconds: float | None = None
    at_first: bool = False  # finding
    wanted: str = ""  # the id of a finding: at that one

    def is_spent(self, clock: Clock, findings: Collection[str]) -> bool:
        """Whether it is time; schedules are not handed out beyond their number."""
        return clock.is_over or self.is_content(findings)

    def is_content(self, findings: Collection[str]) -> bool:
        """Whether what was looked for is there."""
        return (self.at_first and bool(findings)) or self.wanted in findings


@dataclass(slots=True)
class Progress:
    """How far a search has come."""

    schedules: int = 0
    different: set[int] = field(default_factory=set)  # hashes of schedules
    outputs: set[tuple[int, int]] = field(default_factory=set)
    endings: Endings = field(default_factory=Endings)
    findings: dict[str, Finding] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)  # of those that have one, by id
    notes: list[str] = field(default_factory=list)
    isolation: str = ""
    places: Places = NOWHERE  # plain accesses that are decision points
    coverage: Coverage = field(default_factory=Coverage)
    space: str = ""  # what can be said of all schedules
    exhausted: bool = False  # there is no other schedule
    interrupted: KeyboardInterrupt | None = None
    in_vain: bool = False  # nothing was tried: no run was over, or no driver content with any
    cut_off: int = 0  # runs that were not over when the time was; the others are `schedules`
