# SPDX-License-Identifier: Apache-2.0
"""Consistent cuts: which calls a branch makes again before those whose order is tried."""

from dataclasses import dataclass

import numpy as np

from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Table
from eitherway.model.words import Arm, Kind, OpKind
from eitherway.worlds.processes.plan import Turns
from eitherway.worlds.processes.traced import NO_CALL, Traced

_TWO = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls of a log, in the order seen."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A wait that ended with one child, and could have ended with another: calls, and children."""

    wait: int
    ends: tuple[int, int]  # the calls by which the two children ended
    found: int
    instead: int


Anchors = Pair | Choice


class Cuts:
    """Of one run."""

    def __init__(self, traced: Traced) -> None:
        self._traced = traced
        self._order = Order.of(traced.trace)

    def anchors(self, race: Race) -> Anchors | None:
        """The calls of a race that can be tried; None for one that cannot."""
        calls = [int(self._traced.call[number]) for number in race.operations]
        if NO_CALL in calls or len(set(calls)) != len(calls):
            return None
        if race.kind is Kind.LOAD_STORE:
            return Pair(*sorted(calls))
        if race.kind is Kind.WAKEUP_WAITS:
            return self._two_waits(race)
        return self._choice(calls) or self._of_stream(race)

    def _two_waits(self, race: Race) -> Pair | None:
        """Who waits first; one actor that waits twice has one order only."""
        kinds, actors = self._column("kind"), self._column("actor")
        waits = [number for number in race.operations if kinds[number] == int(OpKind.WAIT)]
        if len(waits) != _TWO or actors[waits[0]] == actors[waits[1]]:
            return None
        return Pair(*sorted(int(self._traced.call[number]) for number in waits))

    def _of_stream(self, race: Race) -> Pair | None:
        """Two that write: who is first. One that writes twice: what is there when it is read."""
        kinds, actors = self._column("kind"), self._column("actor")
        wakes = [number for number in race.operations if kinds[number] == int(OpKind.WAKE)]
        waits = [number for number in race.operations if kinds[number] == int(OpKind.WAIT)]
        if len(wakes) != _TWO or len(waits) != 1:
            return None
        together = bool(self._order.concurrent(np.array(wakes[:1]), np.array(wakes[1:]))[0])
        chosen = wakes if together else [max(wakes), waits[0]]
        if actors[chosen[0]] == actors[chosen[1]]:
            return None
        return Pair(*sorted(int(self._traced.call[number]) for number in chosen))

    def _column(self, name: str) -> Table:
        column: Table = self._traced.trace.operations[name]
        return column

    def _choice(self, calls: list[int]) -> Choice | None:
        """Of children; which of several writes a read finds is not tried."""
        rows = {call: self._traced.log.calls[call] for call in calls}
        waits = [call for call in calls if self._traced.name(call) in ("wait4", "waitid")]
        ends = [call for call in calls if self._traced.name(call) == "exit_group"]
        if len(waits) != 1 or len(ends) != 2:
            return None
        found = self._traced.waited_for(waits[0])
        first, second = (self._traced.process(int(rows[end]["thread"])) for end in ends)
        instead = second if found == first else first
        return Choice(waits[0], (ends[0], ends[1]), found, instead)

    def turns(self, anchors: Anchors, arm: Arm) -> Turns:
        """The calls of one arm.

        Kept are those without which the anchors could not have happened; the rest is left to what
        comes then.
        """
        if isinstance(anchors, Pair):
            return self._of_pair(anchors, arm)
        if arm is Arm.PREFIX:
            return Turns(range(anchors.wait + 1))
        needed = self._before(anchors.wait)
        for end in anchors.ends:
            needed |= self._before(end)
            needed[end] = True
        needed[anchors.wait] = False
        child = anchors.instead if arm is Arm.FLIP else anchors.found
        return Turns([*np.flatnonzero(needed).tolist(), anchors.wait], 1, child)

    def _of_pair(self, pair: Pair, arm: Arm) -> Turns:
        if arm is Arm.PREFIX:
            return Turns(range(pair.second + 1))
        ends = [pair.second, pair.first] if arm is Arm.FLIP else [pair.first, pair.second]
        needed = self._before(pair.first) | self._before_without(pair.second, pair.first)
        needed[ends] = False
        return Turns([*np.flatnonzero(needed).tolist(), *ends], 2)

    def _before_without(self, call: int, other: int) -> Table:
        """The same; where the other is what ended a wait, only what it needs besides."""
        before = self._before(call)
        if not before[other]:
            return before
        operations = np.flatnonzero(self._traced.call == call)
        previous = self._previous(int(operations[0]))
        edges = self._traced.trace.edges
        into = edges["source"][np.isin(edges["target"], operations)]
        sources = [int(source) for source in into if self._traced.call[source] != other]
        needed = np.zeros(len(before), dtype=bool)
        for operation in [*previous, *sources]:
            firsts = self._traced.first
            needed |= self._order.before(firsts, np.full(len(firsts), operation))
            needed[self._traced.call[operation]] |= self._traced.call[operation] != NO_CALL
        return needed

    def _previous(self, operation: int) -> list[int]:
        """What its actor did before it, if anything."""
        actors = self._column("actor")
        found = np.flatnonzero(actors[:operation] == actors[operation])
        return [int(number) for number in found[-1:]]

    def _before(self, call: int) -> Table:
        """Which calls happened before one of them."""
        firsts = self._traced.first
        last = int(np.flatnonzero(self._traced.call == call)[-1])
        return self._order.before(firsts, np.full(len(firsts), last))
