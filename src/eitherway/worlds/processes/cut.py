# SPDX-License-Identifier: Apache-2.0
"""Consistent cuts: which calls a branch makes again before those whose order is tried."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from eitherway.model.order import Order
from eitherway.model.race import INTERRUPTED, Race
from eitherway.model.sections import begins, first_of
from eitherway.model.trace import Table
from eitherway.model.words import Arm, EdgeKind, Kind, OpKind
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import CallFlag
from eitherway.worlds.processes.operations import NO_CALL
from eitherway.worlds.processes.plan import Turns
from eitherway.worlds.processes.traced import Traced

_TWO = 2
_STORES = 256  # calls that others are found to need by what they saw: each costs a look at all
_LOOKS = {"clock_gettime", "gettimeofday", "time"}
POLLS = {call.name for call in CALLS.values() if "load readiness" in call.does}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two calls of a log, in the order seen."""

    first: int
    second: int
    by_memory: bool = field(default=False, kw_only=True)  # whether nothing else orders them
    # The call at which the thread of the first is held: at that itself it has a lock in memory.
    held: int | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Choice:
    """A wait that ended with one child, and could have ended with another: calls, and children."""

    wait: int
    ends: tuple[int, int]  # the calls by which the two children ended
    found: int
    instead: int


@dataclass(frozen=True, slots=True)
class Unended:
    """The same wait, which finds the other child while the one that it found still goes on."""

    choice: Choice


class Came(Enum):
    """When a change comes, beside a check and a use that belong together."""

    BEFORE = "before both"
    BETWEEN = "between them"
    AFTER = "after both"


@dataclass(frozen=True, slots=True)
class Between:
    """A call that looks, one that uses what was looked at, and the change of another.

    Of sections of a lock these are the calls that take it; `begin` then takes it for the first of
    those that lead to the change.
    """

    check: int
    change: int
    use: int
    first: bool  # whether the change can come before the check
    begin: int | None = None

    @property
    def seen(self) -> Came:
        """In the recorded run."""
        if self.change < self.check:
            return Came.BEFORE
        begin = self.change if self.begin is None else self.begin
        return Came.BETWEEN if begin < self.use else Came.AFTER

    @property
    def between(self) -> Arm:
        """The arm in which it comes between."""
        return Arm.CONTROL if self.seen is Came.BETWEEN else Arm.FLIP

    def came(self, arm: Arm) -> Came:
        """When it comes in an arm."""
        if arm is Arm.CONTROL:
            return self.seen
        if arm is Arm.FLIP:
            return Came.AFTER if self.seen is Came.BETWEEN else Came.BETWEEN
        return Came.AFTER if self.seen is Came.BEFORE else Came.BEFORE

    @property
    def has_serial(self) -> bool:
        """Whether there is an order without anything between besides."""
        return self.first or self.came(Arm.SERIAL) is Came.AFTER


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A call that a signal interrupted, the one that sent it, and one that would have ended it."""

    wait: int
    signal: int
    wake: int


@dataclass(frozen=True, slots=True)
class Alone:
    """A poll that one call ended; another would have, with something else ready instead."""

    poll: int
    ended: int  # the call that did
    instead: int


@dataclass(frozen=True, slots=True)
class Ring:
    """Calls that each want a lock, by processes that each have the one that the next wants."""

    holds: tuple[int, ...]  # the calls by which they have them, in the order of those that want
    wants: tuple[int, ...]
    met: bool  # in the recorded run: none of them came to an end

    @property
    def meet(self) -> Arm:
        """The arm in which all wait."""
        return Arm.CONTROL if self.met else Arm.FLIP


Anchors = Pair | Choice | Unended | Between | Interrupted | Alone | Ring


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
        return self._several(race, calls) or self._choice(calls) or self._of_stream(race)

    def _several(self, race: Race, calls: list[int]) -> Anchors | None:
        """Whose order is not that of two."""
        if race.pattern == INTERRUPTED:
            return Interrupted(*calls)
        if race.kind is Kind.TOCTOU:
            check, change, use = calls
            return Between(check, change, use, first=not self._before(change)[check])
        if race.kind is Kind.ATOMICITY:
            return self._of_sections(race)
        if race.kind is Kind.DEADLOCK and len(calls) > _TWO:
            wants, holds = zip(*sorted(zip(calls[1::2], calls[::2], strict=True)), strict=True)
            never = self._traced.log.calls["flags"][list(wants)] & CallFlag.NEVER_RETURNED
            return Ring(holds, wants, met=bool(never.all()))
        return None

    def _of_sections(self, race: Race) -> Between | None:
        taken = begins(self._inherent, race.operations)
        if taken is None:
            return None
        first = first_of(self._inherent, taken[1], (taken[0], taken[2]))
        if first is None:
            return None
        calls = (int(self._traced.call[number]) for number in (*taken, first))
        check, change, use, begin = calls
        return Between(check, change, use, first=True, begin=begin)

    def others(self, race: Race) -> list[Anchors]:
        """What can be tried of the same race besides."""
        alone = self._alone(race) if race.kind is Kind.LOAD_STORE else None
        return [] if alone is None else [alone]

    def _alone(self, race: Race) -> Alone | None:
        """Of what is polled: nothing was ready but by one call, and another's was not yet."""
        kinds = self._column("kind")
        loads = [number for number in race.operations if kinds[number] == int(OpKind.LOAD)]
        stores = [number for number in race.operations if kinds[number] == int(OpKind.STORE)]
        if len(loads) != 1 or len(stores) != 1:
            return None
        poll, instead = (int(self._traced.call[number]) for number in (*loads, *stores))
        if self._traced.name(poll) not in POLLS or instead < poll:
            return None
        sources = self._into(np.flatnonzero(self._traced.call == poll))
        ended = {int(self._traced.call[source]) for source in sources}
        if len(ended) != 1 or NO_CALL in ended:
            return None
        apart = self._order.concurrent(np.array(sources[:1]), np.array(stores))
        return Alone(poll, ended.pop(), instead) if apart[0] else None

    def held_earlier(self, pair: Pair) -> Pair | None:
        """The same with the first held where it has not yet come to what it is under way with.

        Who has a lock in memory makes no call for it where it finds it free; what it does under
        it are calls on one object, and asking for the time.
        """
        calls = self._traced.log.calls
        objects, thread = calls["object"], calls["thread"][pair.first]
        mine = np.flatnonzero(calls["thread"][: pair.first] == thread)[::-1]
        for call in mine.tolist():
            under_way = objects[call] == objects[pair.first] or self._traced.name(call) in _LOOKS
            if not under_way:
                return replace(pair, by_memory=True, held=call)
        return None

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
        waits = [call for call in calls if self._traced.name(call) in ("wait4", "waitid")]
        ends = [call for call in calls if self._traced.name(call) == "exit_group"]
        if len(waits) != 1 or len(ends) != 2:
            return None
        found = self._traced.waited_for(waits[0])
        first, second = map(self._ended, ends)
        instead = second if found == first else first
        return Choice(waits[0], (ends[0], ends[1]), found, instead)

    def turns(self, anchors: Anchors, arm: Arm) -> Turns:
        """The calls of one arm.

        Kept are those without which the anchors could not have happened; the rest is left to what
        comes then.
        """
        of: dict[type, Callable[..., Turns]] = {
            Pair: self._of_pair,
            Between: self._of_three,
            Interrupted: self._of_interrupted,
            Alone: self._of_alone,
            Ring: self._of_ring,
            Choice: self._of_choice,
            Unended: self._of_unended,
        }
        return of[type(anchors)](anchors, arm)

    def _of_choice(self, anchors: Choice, arm: Arm) -> Turns:
        if arm is Arm.PREFIX:
            return Turns(range(anchors.wait + 1))
        needed = self._before(anchors.wait)
        for end in anchors.ends:
            needed |= self._before(end)
            needed[end] = True
        needed[anchors.wait] = False
        child = anchors.instead if arm is Arm.FLIP else anchors.found
        return Turns([*np.flatnonzero(needed).tolist(), anchors.wait], (anchors.wait,), child)

    def _of_pair(self, pair: Pair, arm: Arm) -> Turns:
        if arm is Arm.PREFIX:
            return Turns(range(pair.second + 1))
        first = pair.first if pair.held is None else pair.held
        ends = (pair.second, first) if arm is Arm.FLIP else (first, pair.second)
        if pair.by_memory:  # what leads to the second without the first is left to what comes then
            needed = self._before(pair.second) & ~self._behind(first)
        else:
            needed = self._before_without(pair.second, first)
        return _ending(needed | self._before(first), ends)

    def _of_unended(self, unended: Unended, arm: Arm) -> Turns:
        choice = unended.choice
        if arm is Arm.PREFIX:
            return Turns(range(choice.wait + 1))
        if arm is Arm.CONTROL:
            before = np.flatnonzero(self._before(choice.wait))
            calls = [call for call in before.tolist() if call != choice.wait]
            return Turns([*calls, choice.wait], (choice.wait,), choice.found)
        found, other = sorted(choice.ends, key=lambda end: self._ended(end) == choice.instead)
        needed = self._before(other) | self._before_without(choice.wait, found)
        needed[other] = True
        needed = self._with_what_was_found(needed, found)
        needed[[found, choice.wait]] = False
        return Turns(
            [*np.flatnonzero(needed).tolist(), choice.wait], (choice.wait,), choice.instead
        )

    def _ended(self, end: int) -> int:
        return self._traced.process(int(self._traced.log.calls["thread"][end]))

    def _of_three(self, three: Between, arm: Arm) -> Turns:
        """A change that comes before the check leaves open whether there will be a use."""
        if arm is Arm.PREFIX:
            return Turns(range(max(three.change, three.use) + 1))
        came, order = three.came(arm), self._order
        change, other = three.change, three.check if came is Came.BEFORE else three.use
        late = came is Came.AFTER
        if three.begin is not None:  # which section came first is what is tried
            order, change = self._inherent, three.begin if late else change
        needed = self._before(change, order) | self._before(other, order)
        if came is Came.BEFORE:
            return _ending(needed, (change, three.check))
        ends = (three.use, change) if late else (change, three.use)
        return _ending(needed, ends, (three.check,))

    def _of_alone(self, alone: Alone, arm: Arm) -> Turns:
        """It finds what one of the two made ready; the other comes behind."""
        if arm is Arm.PREFIX:
            return Turns(range(max(alone.poll, alone.instead) + 1))
        needed = self._before(alone.ended) | self._before(alone.instead)
        needed |= self._before_without(alone.poll, alone.ended)
        flip = alone.instead, alone.poll, alone.ended
        return _ending(needed, flip if arm is Arm.FLIP else flip[::-1])

    def _of_ring(self, ring: Ring, arm: Arm) -> Turns:
        """All have come as far as they can before one of them goes on."""
        if arm is Arm.PREFIX:
            return Turns(range(max(ring.wants) + 1))
        order = self._order if arm is Arm.CONTROL and not ring.met else self._inherent
        ends = ring.wants if arm is ring.meet else ring.wants[-1:]
        if arm is Arm.FLIP and ring.met:  # one has both before another has the first
            ends = ring.wants[0], ring.holds[1]
        needed = np.zeros(len(self._traced.first), dtype=bool)
        for call in ends if arm is Arm.FLIP else ring.wants:
            needed |= self._before(call, order)
        return _ending(needed, ends)

    def _of_interrupted(self, three: Interrupted, arm: Arm) -> Turns:
        """It waits in either order; the signal comes behind it when it was ended before."""
        every = three.wait, three.signal, three.wake
        if arm is Arm.PREFIX:
            return Turns(range(max(every) + 1))
        needed = self._before(three.wait) | self._before(three.signal) | self._before(three.wake)
        late = three.wait, three.wake, three.signal
        return _ending(needed, late if arm is Arm.FLIP else every)

    def _before_without(self, call: int, other: int) -> Table:
        """The same; where the other is what ended a wait, only what it needs besides."""
        before = self._before(call)
        if not before[other]:
            return before
        operations = np.flatnonzero(self._traced.call == call)
        previous = self._previous(int(operations[0]))
        sources = [n for n in self._into(operations) if self._traced.call[n] != other]
        needed = np.zeros(len(before), dtype=bool)
        for operation in [*previous, *sources]:
            firsts = self._traced.first
            needed |= self._order.before(firsts, np.full(len(firsts), operation))
            needed[self._traced.call[operation]] |= self._traced.call[operation] != NO_CALL
        return needed

    def _with_what_was_found(self, needed: Table, without: int) -> Table:
        """These calls, and those that stored what they found, unless one had to end before.

        Who looks until something is there is in no order with who makes it, and goes on only then.
        """
        calls, kinds = self._traced.call, self._column("kind")
        known = calls != NO_CALL
        late, room = self._behind(without), _STORES
        while True:
            mine = known & needed[calls]
            loads = np.flatnonzero(mine & (kinds == int(OpKind.LOAD)))
            stores = np.flatnonzero(known & ~mine & (kinds == int(OpKind.STORE)) & ~late[calls])
            found = {int(calls[number]) for number in self._seen_by(loads, stores)}
            for call in sorted(found, reverse=True):
                if not needed[call] and room:
                    needed |= self._before(call)
                    needed[call] = True
                    room -= 1
            if not found or not room:
                return needed

    def _seen_by(self, loads: Table, stores: Table) -> Iterator[int]:
        """Stores of what a later load looks at."""
        ranges, touched = self._traced.trace.ranges, self._column("range")
        last: dict[int, int] = dict(zip(touched[loads].tolist(), loads.tolist(), strict=True))
        looked: dict[int, list[int]] = defaultdict(list)
        for number in last:
            looked[int(ranges["object"][number])].append(number)
        for store in stores.tolist():
            row = ranges[touched[store]]
            for number in looked.get(int(row["object"]), ()):
                other = ranges[number]
                meets = other["lo"] < row["hi"] and row["lo"] < other["hi"]
                if meets and store < last[number]:
                    yield store
                    break

    def _behind(self, call: int) -> Table:
        """Which calls could only happen after one, and that one itself."""
        firsts = self._traced.first
        own = int(np.flatnonzero(self._traced.call == call)[-1])
        behind = self._order.before(np.full(len(firsts), own), firsts)
        behind[call] = True
        return behind

    def _into(self, operations: Table) -> list[int]:
        """What put these in order with others."""
        edges = self._traced.trace.edges
        return [int(source) for source in edges["source"][np.isin(edges["target"], operations)]]

    def _previous(self, operation: int) -> list[int]:
        """What its actor did before it, if anything."""
        actors = self._column("actor")
        found = np.flatnonzero(actors[:operation] == actors[operation])
        return [int(number) for number in found[-1:]]

    def _before(self, call: int, order: Order | None = None) -> Table:
        """Which calls happened before one of them."""
        firsts = self._traced.first
        last = int(np.flatnonzero(self._traced.call == call)[-1])
        return (order or self._order).before(firsts, np.full(len(firsts), last))

    @cached_property
    def _inherent(self) -> Order:
        """Without what only happened to come first: which of two had a lock."""
        return Order.of(self._traced.trace, (EdgeKind.INHERENT,))


def _ending(needed: Table, ends: tuple[int, ...], also: tuple[int, ...] = ()) -> Turns:
    """What is needed, in the order seen, then these; anchors are these, and some before."""
    needed[list(ends)] = False
    return Turns([*np.flatnonzero(needed).tolist(), *ends], (*also, *ends))
