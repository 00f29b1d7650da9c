# SPDX-License-Identifier: Apache-2.0
"""Runs all schedules of a program with so many preemptions, each once, and says when it has.

Each run follows the choices that it is given, then lets whoever runs go on; what it notes of its
decisions shows the runs that are still to be done. When one shows a new shared place, more accesses
are decision points, and all begins again. So all schedules were run only when none since the last
beginning showed anything new.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import numpy as np

from eitherway.model.text import counted
from eitherway.model.trace import Table
from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.course import Ended
from eitherway.worlds.threads.decisions import Branch, Frontier, does_not_repeat, read
from eitherway.worlds.threads.guide import End, Guidance
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import DEPTH_FIRST
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import SwitchKind

SCHEDULER = DEPTH_FIRST
LIMIT = 10_000  # decisions of one run

Run = Callable[[Guidance], Ran]  # under SCHEDULER, looking for races
Sides = Callable[[Ran], Places]  # of all accesses that race in a run, from its trace


@dataclass(frozen=True, slots=True)
class Pass:
    """What was run with at most so many preemptions."""

    bound: int
    schedules: int
    places: Places
    others: bool = False  # there are schedules with more preemptions
    doubts: tuple[str, ...] = ()  # why there may be others within the bound

    @property
    def complete(self) -> bool:
        """Whether there is no other schedule within the bound."""
        return not self.doubts

    def words(self) -> str:
        """For people."""
        within = f" with at most {counted(self.bound, 'preemption')}" if self.others else ""
        one = self.schedules == 1
        schedules, were = counted(self.schedules, "schedule"), "was" if one else "were"
        if self.complete:
            return f"{'the only schedule' if one else f'all {schedules}'}{within} {were} run"
        return f"{schedules}{within} {were} run, which may not be all: {', '.join(self.doubts)}"


class Search:
    """A search of one program; what it has run and learnt stays for the next bound."""

    def __init__(
        self, run: Run, sides: Sides, *, places: Places = NOWHERE, limit: int = LIMIT
    ) -> None:
        """`sides` is asked when a run touched shared memory where nothing was decided before."""
        self._run = run
        self._sides = sides
        self._limit = limit
        self.places = places
        self._begin()

    def _begin(self) -> None:
        self._frontier = Frontier()
        self._schedules = 0
        self._doubts: dict[str, None] = {}  # in the order in which they came
        self._asked: Counter[tuple[int, bytes]] | None = None  # of the outside, by the first run

    def learn(self, places: Places) -> bool:
        """Of shared places; whether they are new, so that all begins again."""
        known = len(self.places)
        self.places |= places
        if len(self.places) > known:
            self._begin()
        return len(self.places) > known

    def bounded(self, bound: int) -> Generator[Ran, None, Pass]:
        """All schedules with at most so many preemptions that were not run before.

        After a new place, those that were run before come again.
        """
        while (branch := self._frontier.take(bound)) is not None:
            frontier = self._frontier
            ran = self._run(Guidance(self.places, prefix=branch.prefix, limit=self._limit))
            if ran.shown.end is End.REFUSED:
                raise does_not_repeat()
            yield ran
            if frontier is self._frontier and not self._learns_of(ran):
                self._note(branch, ran)
        others = self._frontier.has_more(bound)
        lacks = ("there were more than are kept in mind",) if self._frontier.lacks(bound) else ()
        return Pass(bound, self._schedules, self.places, others, (*self._doubts, *lacks))

    def _learns_of(self, ran: Ran) -> bool:
        """A race without a new place is one whose sides are both decision points already."""
        if self.learn(ran.shown.places):
            return True
        return bool(ran.shown.uncovered and ran.found.races and self.learn(self._sides(ran)))

    def _note(self, branch: Branch, ran: Ran) -> None:
        self._schedules += 1
        self._frontier.add(branch, read(ran.shown.noted))
        self._doubts.update(dict.fromkeys(self._doubts_of(ran)))

    def _doubts_of(self, ran: Ran) -> Iterator[str]:
        """Why a run may hide others."""
        if ran.shown.end is End.CUT_OFF:
            yield f"some came to the limit of {self._limit:,} decisions"
        if ran.shown.tired:
            yield "some accesses came too often to decide at each"
        if ran.course.ended is not Ended.ITSELF or len(ran.found.given_up):
            yield "some had to be stopped"
        if len(ran.members) > 1:
            yield "the program has several processes, and only the first one's were searched"
        if ran.shown.looks:
            yield "the program looks at the clock, which may go otherwise"
        if _has(ran.schedule.switches, SwitchKind.TIME, choice=0):
            yield "deadlines passed while threads ran"
        if ran.found.forgotten:
            yield "races across a past that was forgotten are missed"
        asked = Counter(item[::2] for m in ran.members for item in inputs.from_outside(m.inputs))
        if self._asked is None:
            self._asked = asked
        if asked != self._asked or any(_has(ran.schedule.switches, kind) for kind in _OUTSIDE):
            yield "what comes from outside is not the same every time"


_OUTSIDE = (SwitchKind.OUTSIDE, SwitchKind.WAITED, SwitchKind.SIGNAL)


def _has(switches: Table, kind: SwitchKind, choice: int | None = None) -> bool:
    found = switches["kind"] == kind
    return bool(np.any(found if choice is None else found & (switches["choice"] == choice)))


def growing(search: Search, bounds: range) -> Iterator[Ran | Pass]:
    """Bound after bound, as long as there are more: the runs, and what those so far amount to."""
    for bound in bounds:
        done = yield from search.bounded(bound)
        yield done
        if not done.others:
            return
