# SPDX-License-Identifier: Apache-2.0
"""All schedules of a program, run one after the other; and what may be said of them."""

from collections.abc import Iterator
from functools import partial

from eitherway.errors import Problem
from eitherway.find.confirm import Tracer
from eitherway.find.sides import racing_places
from eitherway.find.ways import Batch
from eitherway.worlds.threads.exhaustive import LIMIT, SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.explorer import Explorer, surveyed
from eitherway.worlds.threads.guide import UNGUIDED, End, Guidance
from eitherway.worlds.threads.places import Places
from eitherway.worlds.threads.policies import Turn
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Surveyed

_BOUND = 1 << 20  # preemptions: more than there is time for
_USUAL = 50  # decisions of a run: of longer ones there are too many to try many of them
_NOTED = 24  # bytes of one, about


class Space:
    """What is still to be run, and what was."""

    def __init__(
        self, explorer: Explorer, tracer: Tracer, why_not: str = "", limit: int = LIMIT
    ) -> None:
        """`why_not`: the program's schedules cannot be counted."""
        self._explorer = explorer
        self._search = Search(self._run, partial(racing_places, tracer), limit=limit)
        self._items: Iterator[Ran | Pass] | None = None
        self._given = UNGUIDED  # to the last run
        self._count = self._unused = 0
        self._passed: Pass | None = None
        self._why_not = why_not
        self.over = bool(why_not)  # nothing is left to be run

    @property
    def exhausted(self) -> bool:
        """There is no other schedule."""
        return self.over and bool(self._valid and self._valid.complete and not self._valid.others)

    def runs(self, turn: Turn) -> Iterator[tuple[Batch, Surveyed]]:
        """The next ones, as many as it is the turn of, or fewer when they have many decisions.

        The first turn says with which bound.
        """
        if self._items is None:
            bound = turn.tuning.get("bound", _BOUND)
            self._items = growing(self._search, range(bound + 1))
        left = len(turn.seeds) * _USUAL
        self._unused += len(turn.seeds)
        while left > 0:
            ran = self._next(self._items)
            if ran is None:
                return
            left -= max(len(ran.shown.noted) // _NOTED, _USUAL)
            self._unused -= 1
            if ran.shown.end is End.ITSELF:  # else it is no run of the program's
                at = self._count
                yield Batch(SCHEDULER, range(at, at + 1), self._given), surveyed(at, ran)

    def unused(self) -> int:
        """How many runs fewer there were than it was the turn of, since this was asked last."""
        unused, self._unused = self._unused, 0
        return unused

    def learn(self, places: Places) -> None:
        """What others have found out."""
        if len(places) > len(self._search.places):
            self._search.learn(places)

    def words(self) -> str:
        """What can be said of all schedules."""
        if self._why_not:
            return f"not all schedules can be counted: {self._why_not}"
        if self._valid is None:
            return "not even all schedules without a preemption were run"
        return self._valid.words()

    def _next(self, items: Iterator[Ran | Pass]) -> Ran | None:
        while not self.over:
            try:
                item = next(items, None)
            except Problem as problem:
                self._why_not, item = str(problem), None
            self.over = item is None
            if isinstance(item, Ran):
                return item
            self._passed = item or self._passed
        return None

    def _run(self, guidance: Guidance) -> Ran:
        """The number of the run is its seed, which changes nothing."""
        self._given = guidance
        self._count += 1
        return self._explorer.run(
            seed=self._count, scheduler=SCHEDULER, guidance=guidance, detect=True
        )

    @property
    def _valid(self) -> Pass | None:
        """Of the places that are known now."""
        passed = self._passed
        return passed if passed and passed.places == self._search.places else None
