# SPDX-License-Identifier: Apache-2.0
"""Runs all schedules of a program with so many preemptions, and says when it has.

Each run follows the choices that it is given, then lets whoever runs go on; what it notes of its
decisions gives the choices of the next. A pass with one set of shared places ends early when a run
shows a new one: then more accesses are decision points, and all begins again. So all schedules were
run only when a whole pass showed nothing new.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from eitherway.errors import Unavailable
from eitherway.worlds.threads.decisions import following, has_others, read
from eitherway.worlds.threads.guide import End, Guidance
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.run import Ran

SCHEDULER = "depth-first"
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
    cut_off: int = 0  # of those that were run, at the limit
    several: bool = False  # processes: only the first one's schedules are searched

    @property
    def complete(self) -> bool:
        """Whether there is no other schedule within the bound."""
        return not self.cut_off and not self.several

    def words(self) -> str:
        """For people."""
        counted = _counted(self.schedules, "schedule")
        within = f" with at most {_counted(self.bound, 'preemption')}" if self.others else ""
        if self.complete:
            return f"all {counted}{within} were run"
        why = f"{self.cut_off} came to the limit of decisions"
        if self.several:
            why = "the program has several processes, and only the first one's were searched"
        return f"{counted}{within} were run, which may not be all: {why}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


class Search:
    """A search of one program; what it has learnt of shared places stays for the next bound."""

    def __init__(
        self, run: Run, sides: Sides, *, places: Places = NOWHERE, limit: int = LIMIT
    ) -> None:
        """`sides` is asked when a run touched shared memory where nothing was decided before."""
        self._run = run
        self._sides = sides
        self._limit = limit
        self.places = places

    def bounded(self, bound: int) -> Generator[Ran, None, Pass]:
        """All schedules with at most so many preemptions; those of passes that ended early too."""
        while True:
            result = yield from self._pass(bound)
            if result is not None:
                return result

    def _pass(self, bound: int) -> Generator[Ran, None, Pass | None]:
        """None when it showed a new place."""
        schedules = cut_off = 0
        others = several = False
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            ran = self._run(Guidance(self.places, prefix=prefix, limit=self._limit))
            if ran.shown.end is End.REFUSED:
                raise Unavailable(
                    "the program does not repeat: what it does depends on something that is not"
                    " controlled, so its schedules cannot be counted"
                )
            yield ran
            if self._learns(ran):
                return None
            schedules += 1
            cut_off += ran.shown.end is End.CUT_OFF
            several |= len(ran.members) > 1
            decisions = read(ran.shown.noted)
            others |= has_others(decisions, bound)
            prefix = following(decisions, bound)
        return Pass(bound, schedules, self.places, others, cut_off, several)

    def _learns(self, ran: Ran) -> bool:
        """Whether the run showed a new shared place."""
        known = self.places
        self.places = known | ran.shown.places
        if ran.shown.uncovered:
            self.places |= self._sides(ran)
        return len(self.places) > len(known)


def growing(search: Search, bounds: range) -> Iterator[Ran | Pass]:
    """Bound after bound, as long as there are more: the runs, and what those of each amount to."""
    for bound in bounds:
        done = yield from search.bounded(bound)
        yield done
        if not done.others:
            return
