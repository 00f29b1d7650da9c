# SPDX-License-Identifier: Apache-2.0
"""What is true of a program: the outcomes of its schedules, enumerated.

When all schedules do the same, no race is worse than harmless; when some end otherwise, one of the
races, or something that is no race, is the cause. `races.py` tells which.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from time import monotonic

from eitherway.find.confirm import Tracer
from eitherway.find.sides import racing_places
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.exhaustive import SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.guide import End, Guidance
from eitherway.worlds.threads.run import Ran

LIMIT = 240  # decisions of a run: beyond that, somebody spins


@dataclass(slots=True)
class Outcomes:
    """Of several runs: their ways to end, and what is written as well."""

    ways: set[object] = field(default_factory=set)
    outputs: set[object] = field(default_factory=set)

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.ways.add(way_of(outcome))
        self.outputs.add(output_of(outcome))

    @property
    def worst(self) -> Class:
        """When only the order can be the reason for what differs."""
        if len(self.ways) > 1:
            return Class.SPEC_VIOLATED
        return Class.OUTPUT_DIFFERS if len(self.outputs) > 1 else Class.K_WITNESS_HARMLESS


def way_of(outcome: Outcome) -> object:
    """How a run ended."""
    return outcome.ending, outcome.code, outcome.complaints


def output_of(outcome: Outcome) -> object:
    """The same with what it wrote."""
    return way_of(outcome), *sorted(outcome.output.items())


def told(ran: Ran) -> Outcome | None:
    """What a run did; nothing when it was cut off."""
    outcome = outcome_of(ran) if ran.shown.end is End.ITSELF else None
    return None if outcome is None or outcome.ending is Ending.BUDGET else outcome


class Enumeration:
    """The schedules of one program with few preemptions."""

    def __init__(self, explorer: Explorer, tracer: Tracer) -> None:
        self._explorer = explorer
        self._search = Search(self.run, partial(racing_places, tracer), limit=LIMIT)
        self.outcomes = Outcomes()
        self.bound = -1  # preemptions up to which all were run
        self.complete = False  # there are no others

    def run(self, guidance: Guidance) -> Ran:
        """One schedule."""
        return self._explorer.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

    @property
    def guidance(self) -> Guidance:
        """All that the search has learnt."""
        return Guidance(self._search.places, limit=LIMIT)

    def runs(self, bounds: range, seconds: float = float("inf")) -> Iterator[Ran]:
        """Bound after bound, as far as there is time."""
        until = monotonic() + seconds
        for item in growing(self._search, bounds):
            if isinstance(item, Pass):
                self.bound = item.bound
                self.complete = item.complete and not item.others
            else:
                if outcome := told(item):
                    self.outcomes.add(outcome)
                yield item
            if monotonic() > until:
                return


def truth_of(
    explorer: Explorer, tracer: Tracer, bounds: range, seconds: float = float("inf")
) -> Class:
    """The worst that schedules with so many preemptions show, as far as there is time."""
    enumeration = Enumeration(explorer, tracer)
    for _ in enumeration.runs(bounds, seconds):
        pass
    return enumeration.outcomes.worst
