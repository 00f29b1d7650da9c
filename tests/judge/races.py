# SPDX-License-Identifier: Apache-2.0
"""What is true of each race of a program: all that can come after either order of the two.

Enumerated schedules show the race. Where one thread stands before its access, the other is let go
on until it stands before its own; from there both orders are run, and after each of them every way
to go on with few preemptions. The race decides when one order leads where the other does not,
whatever comes after it, or when the same choices after it lead elsewhere. It decides nothing when
the same choices always lead to the same. In between, when both orders lead to each of several
ends, but by different choices, no enumeration says whose doing that is.

Nothing of how `judge` makes its branches is used for this.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from tests.judge.truth import Enumeration, output_of, told, way_of

from eitherway.detect import detect_all
from eitherway.detect.instances import instances
from eitherway.find.confirm import ACCESSES_TO_EACH, Tracer
from eitherway.model.order import Order
from eitherway.model.outcome import Outcome
from eitherway.model.trace import Table
from eitherway.model.words import Class, Kind
from eitherway.worlds.threads.branch import Side, side_of
from eitherway.worlds.threads.decisions import read
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.guide import End
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import TraceRequest

Choices = tuple[int, ...]
After = dict[Choices, Outcome]  # what comes of each way to go on

TRACED = 16  # runs that are looked at for races, of those that show one
TRIED = 3  # pairs of accesses for each pair of places of a race
EACH = 2  # of them in one run
RUNS = 120  # after each order: those with the fewest preemptions


@dataclass(slots=True)
class Truth:
    """Of one race."""

    pairs: Counter[object] = field(default_factory=Counter)  # that were looked at, by places
    both: int = 0  # of these: both orders were had
    klass: Class = Class.K_WITNESS_HARMLESS
    open: bool = False  # of some pairs it cannot be told
    why: str = ""

    def add(self, klass: Class | None, why: str) -> None:
        """Of one pair."""
        self.both += 1
        self.open |= klass is None
        if klass and klass.weight > self.klass.weight:
            self.klass, self.why = klass, why


@dataclass(slots=True)
class Truths:
    """Of one program."""

    enumeration: Enumeration
    tracer: Tracer
    races: defaultdict[str, Truth] = field(default_factory=lambda: defaultdict(Truth))

    def look(self, ran: Ran) -> None:
        """Try pairs of each race that a run shows."""
        traced = self.tracer.trace(ran, TraceRequest())
        races = detect_all(traced.trace, ACCESSES_TO_EACH)
        order = Order.of(traced.trace)
        for race, finding in zip(races, traced.findings(races), strict=True):
            if race.kind is not Kind.DATA_RACE:
                continue
            truth = self.races[finding.id]
            where = tuple((side.op, side.place.line) for side in finding.operations)
            for pair in instances(order, race, EACH):
                if truth.pairs[where] < TRIED and truth.klass is not Class.SPEC_VIOLATED:
                    truth.pairs[where] += 1
                    self._try(truth, ran, *(side_of(traced.events, event) for event in pair))

    def _try(self, truth: Truth, ran: Ran, first: Side, second: Side) -> None:
        before = self._meeting(ran, first, second)
        if before is None:
            return
        recorded, other = self._after(before, first, second), self._after(before, second, first)
        if recorded is not None and other is not None:
            truth.add(class_of(recorded, other), f"{_few(recorded)} / {_few(other)}")

    def _meeting(self, ran: Ran, first: Side, second: Side) -> Choices | None:
        """To where both threads stand before their accesses.

        The recorded way up to the first access; then the second thread goes on to its own.
        """
        before = self._choices_to(ran, first.step)
        if before is None:
            return None
        held = self._run((*before, second.thread))
        traced = self.tracer.trace(held, TraceRequest())
        rows = traced.events.events
        there = rows[(rows["step"] >= first.step) & (rows["thread"] == first.thread)]
        came = rows[(rows["step"] >= first.step) & _is(rows, second)]
        if not len(came) or (len(there) and there["step"][0] < came["step"][0]):
            return None
        return self._choices_to(held, int(came["step"][0]))

    def _choices_to(self, ran: Ran, step: int) -> Choices | None:
        """The decisions before a step at which something was decided."""
        chosen = tuple(decision.chosen for decision in read(ran.shown.noted))
        low, high = 0, len(chosen)
        while low < high:
            middle = (low + high) // 2
            if self._step_of(chosen, middle) < step:
                low = middle + 1
            else:
                high = middle
        found = low < len(chosen) and self._step_of(chosen, low) == step
        return chosen[:low] if found else None

    def _step_of(self, chosen: Choices, number: int) -> int:
        """At which a decision comes: a run that may not have more of them ends there."""
        if number == 0:
            return 0
        guidance = replace(self.enumeration.guidance, prefix=chosen[:number], limit=number)
        return int(self.enumeration.run(guidance).schedule.reached)

    def _after(self, before: Choices, first: Side, second: Side) -> After | None:
        """All ways to go on when the two come in this order; None: they do not."""
        for base in ((first.thread, second.thread), (first.thread,)):
            begin = (*before, *base)
            ran = self._run(begin)
            if ran.shown.end is not End.REFUSED and self._is_order(ran, first, second):
                return self._outcomes(begin)
        return None

    def _is_order(self, ran: Ran, first: Side, second: Side) -> bool:
        """Whether the second thread does nothing else before its access, after the first."""
        rows = self.tracer.trace(ran, TraceRequest()).events.events
        began = np.flatnonzero(_is(rows, first))
        return any(_follows(rows[at:], second) for at in began.tolist())

    def _outcomes(self, begin: Choices) -> After | None:
        after: After = {}
        for ran in self._continuations(begin):
            if (outcome := told(ran)) is None:
                return None
            chosen = tuple(decision.chosen for decision in read(ran.shown.noted))
            after[chosen[len(begin) :]] = outcome
        return after

    def _continuations(self, begin: Choices) -> Iterator[Ran]:
        """Those with the fewest preemptions first."""
        waiting: list[list[Choices]] = [[begin]]
        runs = 0
        while any(waiting) and runs < RUNS:
            cost = next(number for number, some in enumerate(waiting) if some)
            prefix = waiting[cost].pop()
            ran = self._run(prefix)
            runs += 1
            yield ran
            decisions = read(ran.shown.noted)
            chosen = tuple(decision.chosen for decision in decisions)
            for at in range(len(prefix), len(decisions)):
                for choice in decisions[at].choices[1:]:
                    more = cost + decisions[at].cost(choice)
                    waiting.extend([] for _ in range(more + 1 - len(waiting)))
                    waiting[more].append((*chosen[:at], choice))

    def _run(self, prefix: Choices) -> Ran:
        return self.enumeration.run(replace(self.enumeration.guidance, prefix=prefix))


def _is(rows: Table, side: Side) -> Table:
    """Accesses of the thread, of its sort, to the same bytes."""
    there = (rows["thread"] == side.thread) & (rows["address"] == side.low)
    alike: Table = there & (rows["op"] == side.op)
    return alike


def _follows(rows: Table, second: Side) -> bool:
    """Whether the thread does that next, or nothing any more: the run may end before."""
    own = np.flatnonzero(rows["thread"] == second.thread)
    return len(own) == 0 or bool(_is(rows[own[:1]], second)[0])


def class_of(one: After, other: After) -> Class | None:
    """What the order decides; None: that cannot be told."""
    by_way, by_output = _decides(one, other, way_of), _decides(one, other, output_of)
    if by_way:
        return Class.SPEC_VIOLATED
    if by_way is None or by_output is None:
        return None
    return Class.OUTPUT_DIFFERS if by_output else Class.K_WITNESS_HARMLESS


def _decides(one: After, other: After, of: Callable[[Outcome], object]) -> bool | None:
    ends = {of(outcome) for outcome in one.values()}, {of(outcome) for outcome in other.values()}
    if ends[0] != ends[1]:
        return True
    if any(of(one[choices]) != of(other[choices]) for choices in one.keys() & other.keys()):
        return True
    return False if len(ends[0]) == 1 or one.keys() == other.keys() else None


def _few(after: After) -> str:
    return ", ".join(sorted({str(way_of(outcome)) for outcome in after.values()}))


def truths_of(
    explorer: Explorer, tracer: Tracer, bounds: range, seconds: float = float("inf")
) -> Truths:
    """Of all races that schedules with so many preemptions show, as far as there is time."""
    enumeration = Enumeration(explorer, tracer)
    racing = [ran for ran in enumeration.runs(bounds, seconds) if ran.found.races]
    truths = Truths(enumeration, tracer)
    spread = np.linspace(0, len(racing) - 1, min(TRACED, len(racing))).astype(int)
    for number in sorted(set(spread.tolist())):
        truths.look(racing[number])
    return truths
