# SPDX-License-Identifier: Apache-2.0
"""From a run to why it does what it does: fewer switches, and the pair whose order decides."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, takewhile
from time import monotonic
from typing import NamedTuple

import numpy as np

from eitherway.detect import INHERENT_EDGES
from eitherway.errors import Unavailable
from eitherway.explain.critical import Critical, critical_pair
from eitherway.explain.meetings import meetings, moments
from eitherway.explain.shrink import shrunk
from eitherway.find.confirm import Traced, Tracer
from eitherway.find.ended import ending_of, finding_of
from eitherway.find.failures import operations_of
from eitherway.find.lost import Lost, tried
from eitherway.model.finding import Finding, FoundOperation
from eitherway.model.history import Moment
from eitherway.model.identity import own_frame
from eitherway.model.order import Order
from eitherway.model.outcome import Ending, Forced, Outcome, signal_name
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import HANDLER_CALLED, OP_WORDS, Arm, Kind, OpFlag, OpKind
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of, why_not
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import TURNS
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import Schedule, SwitchKind
from eitherway.worlds.threads.turns import Turn, Turns, joined

PAIRS = 200  # that are tried, the last of the run first
_SEEDS = 16  # schedules that are tried until one goes well

Tell = Callable[[str], None]


class Met(NamedTuple):
    """Two operations of a traced run, by number and as a branch knows them."""

    first: int
    second: int
    pair: Pair
    moment: bool = False  # one of them sends a signal, and the other is the receiver's
    race: bool = False  # they are accesses, and nothing orders them


@dataclass(frozen=True, slots=True)
class Short:
    """A run with as few switches as do the same."""

    ran: Ran
    outcome: Outcome
    runs: int  # that were needed to find it
    whole: bool  # nothing more can be left out: there was time to try
    well: Ran | None = None  # the last that was tried and did nothing wrong


@dataclass(frozen=True, slots=True)
class Cause:
    """What decides what the short run does."""

    critical: Critical[Met]
    traced: Traced
    ran: Ran  # that the pair is of
    fails: bool  # that one does; else it goes well, and fails when the two are turned round

    @property
    def sides(self) -> tuple[FoundOperation, FoundOperation]:
        """The two, in the order seen in that run."""
        met = self.critical.pair
        first, second = self.traced.side(met.first), self.traced.side(met.second)
        return (_as_sent(first), _as_sent(second)) if met.moment else (first, second)

    @property
    def race(self) -> Finding | None:
        """The two as the data race that they are, by the id that it has in every run."""
        met = self.critical.pair
        if not met.race:
            return None
        (finding,) = self.traced.findings([Race(Kind.DATA_RACE, (met.first, met.second))])
        return finding


_SIGNAL = re.compile(r"signals\[(\d+)\]")  # where the runtime tells that one is sent or taken


def taken(moment: Moment) -> Moment:
    """The begin of a handler, by the name of its signal."""
    found = _SIGNAL.search(moment.touched)
    if not found or moment.place.function != HANDLER_CALLED:
        return moment
    return replace(moment, op=f"signal {signal_name(int(found[1]))}", touched="")


def _as_sent(side: FoundOperation) -> FoundOperation:
    """The one that sends, by the name of the signal."""
    found = _SIGNAL.fullmatch(side.variable)
    if not found or side.op != OP_WORDS[OpKind.WAKE]:
        return side
    return replace(side, op=f"sending of {signal_name(int(found[1]))}", object="", variable="")


@dataclass(frozen=True, slots=True)
class Sought:
    """What came of looking for a cause."""

    cause: Cause | None  # None: no single pair decides
    pairs: int  # that were tried
    whole: bool  # those are all
    avoided: bool  # some run did nothing wrong
    runs: int  # others, each with another schedule, all of which failed when it was not avoided


class Explainer:
    """Explains runs of one program."""

    def __init__(
        self, explorer: Explorer, *, fixed: bool, places: Places = NOWHERE, tell: Tell
    ) -> None:
        """`fixed`: addresses are the same in every run; `places` that are known to be shared."""
        self._explorer = explorer
        self._fixed = fixed
        self._places = places
        self._tracer = Tracer(explorer, fixed=fixed)
        self.tell = tell

    def finding_of(self, ran: Ran) -> Finding:
        """What a run shows of which no finding tells."""
        again = self._explorer.run(replay=ran, detect=True)
        return finding_of(again, self._tracer)

    def fails(self, ran: Ran) -> bool:
        """Whether a recorded run does what no specification would have."""
        return outcome_of(self._explorer.run(replay=ran, detect=True)).fails

    def lost(self, finding: Finding, ran: Ran, seconds: float) -> Lost:
        """Whether the wake-up of a finding is lost, when it comes first."""
        branches = Branches(self._explorer, ran, self._places)
        return tried(finding, ran, self._tracer, branches, monotonic() + seconds)

    def shorten(self, ran: Ran, seconds: float) -> Short:
        """Leave out what is not needed. Raises Unavailable when the run does not come again."""
        if reason := why_not(ran):
            raise Unavailable(f"the run cannot be shortened: {reason}")
        turns = Turns.of(ran.schedule)
        first = self.run(ran, turns)
        if (first.status, first.out, first.err) != (ran.status, ran.out, ran.err):
            raise Unavailable(
                "the run cannot be shortened: with the same turns of its threads the program does "
                "something else, so it depends on something from outside as well"
            )
        trials = _Trials(self, ran, first, monotonic() + seconds)
        shrunk(turns.turns, trials.hold, joined)
        outcome = outcome_of(trials.best)
        return Short(trials.best, outcome, trials.count, trials.in_time(), trials.well)

    def cause(self, short: Short, seconds: float) -> Sought:
        """The pair whose order decides.

        Looked for in the run itself, and then in one that goes well: what never came in the first,
        because it crashed or hung, came in that one.
        """
        until = monotonic() + seconds
        if not self._fixed:
            raise Unavailable(
                "addresses are other ones in every run on this machine: eitherway doctor"
            )
        found, tried = self._cause_in(short.ran, short, until)
        whole = tried < PAIRS
        if found is not None:
            return Sought(found, tried, whole, avoided=True, runs=short.runs)
        well, fail = (short.well, 0) if short.well else self._going_well()
        if well is not None:
            found, more = self._cause_in(well, short, until)
            whole = whole and more < PAIRS and monotonic() < until
            return Sought(found, tried + more, whole, avoided=True, runs=short.runs)
        whole = whole and monotonic() < until
        return Sought(None, tried, whole, avoided=fail < _SEEDS, runs=short.runs + fail)

    def _going_well(self) -> tuple[Ran | None, int]:
        """Some other run that does nothing wrong; else how many others fail.

        One that had to be stopped does neither.
        """
        fail = 0
        for seed in range(_SEEDS):
            ran = self._explorer.run(seed=seed, detect=True)
            outcome = outcome_of(ran)
            if outcome.ending is Ending.EXIT and not outcome.fails and not why_not(ran):
                return ran, fail
            fail += outcome.fails
        return None, fail

    def _cause_in(self, ran: Ran, short: Short, until: float) -> tuple[Cause | None, int]:
        traced = self._tracer.accesses(ran)
        branches = Branches(self._explorer, ran, self._places)
        tried = 0

        def branch(met: Met, arm: Arm, continuation: int) -> Outcome:
            nonlocal tried
            tried += arm is Arm.FLIP and continuation == 0
            return branches.branch(Spec(met.pair, arm, continuation))

        pairs = takewhile(lambda _: monotonic() < until, _met(traced))
        happens = partial(_alike, other=short.outcome)
        fails = ran is short.ran
        found = critical_pair(
            pairs, branch, happens, when_recorded=fails, races=lambda met: met.race
        )
        return (None if found is None else Cause(found, traced, ran, fails)), tried

    def turned_round(self, cause: Cause) -> Ran:
        """The run in which the two come the other way round."""
        return self._arm(cause, Arm.FLIP)

    def recorded(self, cause: Cause) -> Ran:
        """The one in which they come as in the run that they are of, and that goes on alike."""
        control = self._arm(cause, Arm.CONTROL)
        had = outcome_of(control).forced is Forced.AS_ASKED
        return control if had else self._arm(cause, Arm.PREFIX)

    def _arm(self, cause: Cause, arm: Arm) -> Ran:
        critical = cause.critical
        branches = Branches(self._explorer, cause.ran, self._places)
        return branches.run(Spec(critical.pair.pair, arm, critical.continuation))

    def run(self, ran: Ran, turns: Turns) -> Ran:
        """With what came from outside in a run, other turns."""
        guidance = turns.guidance(self._places)
        return self._explorer.run(replay=ran, scheduler=TURNS, guidance=guidance, detect=True)

    def where(self, ran: Ran, outcome: Outcome) -> frozenset[tuple[str, int]]:
        """Where it ended badly: two crashes in different places are not the same."""
        if outcome.ending is not Ending.SIGNAL:
            return frozenset()
        sides = operations_of(ending_of(outcome), ran, self._tracer)
        frames = [own_frame(side.stack) for side in sides]
        return frozenset((frame.file or frame.function, frame.line) for frame in frames)


class _Trials:
    """Whether fewer turns still do what the run did, while there is time."""

    def __init__(self, explainer: Explainer, given: Ran, first: Ran, until: float) -> None:
        """`first` is the given run, by its turns alone."""
        self._explainer = explainer
        self._given = given
        self._turns = Turns.of(given.schedule)
        self._outcome = outcome_of(first)
        self._where = explainer.where(first, self._outcome)
        self._until = until
        self.best = first
        self.well: Ran | None = None
        self.count = 0

    def in_time(self) -> bool:
        """Whether more may be tried."""
        return monotonic() < self._until

    def hold(self, turns: list[Turn]) -> bool:
        """A run that has to be stopped does something else."""
        if not self.in_time():
            return False
        self.count += 1
        ran = self._explainer.run(self._given, self._turns.only(turns))
        outcome = outcome_of(ran)
        held = _alike(outcome, self._outcome)
        held = held and self._explainer.where(ran, outcome) == self._where
        if outcome.ending is Ending.EXIT and not outcome.fails:
            self.well = ran
        if held and switches(ran.schedule) <= switches(self.best.schedule):
            self.best = ran
            self._explainer.tell(f"{switches(ran.schedule):,} switches still do it")
        return held


def switches(schedule: Schedule) -> int:
    """How often another thread went on."""
    return int(np.count_nonzero(schedule.switches["kind"] == SwitchKind.THREAD))


def _alike(one: Outcome, other: Outcome) -> bool:
    """As the same failure; what does not fail is known by its output."""
    ends = (one.ending, one.code, one.complaints) == (other.ending, other.code, other.complaints)
    return ends and (other.fails or dict(one.output) == dict(other.output))


def _met(traced: Traced) -> Iterator[Met]:
    """Pairs that the program itself does not order, by how a thread begins or ends.

    Who reads what another has written could have read it earlier: such orders are tried too.
    """
    trace = traced.trace
    order = Order.of(_with_lives_alone(trace), INHERENT_EDGES)
    races = partial(_race, trace, Order.of(trace))
    for pairs, apart in ((meetings(trace), False), (moments(trace), True)):
        open_pairs = ((one, two) for one, two in pairs if not order.before([one], [two])[0])
        for one, two in islice(open_pairs, PAIRS):
            pair = Pair.of(traced.events, one, two, apart=apart)
            yield Met(one, two, pair, apart, not apart and races(one, two))


_ACCESSES = (OpKind.LOAD, OpKind.STORE, OpKind.UPDATE, OpKind.FREE)


def _race(trace: Trace, order: Order, one: int, two: int) -> bool:
    """Whether two operations that met are a data race: not all races are told as findings."""
    both = trace.operation(one), trace.operation(two)
    accesses = all(operation.kind in _ACCESSES for operation in both)
    atomic = all(operation.flags & OpFlag.ATOMIC for operation in both)
    return accesses and not atomic and bool(order.concurrent([one], [two])[0])


_LIVES = [int(kind) for kind in (OpKind.START, OpKind.BEGIN, OpKind.END, OpKind.JOIN)]


def _with_lives_alone(trace: Trace) -> Trace:
    kinds, edges = trace.operations["kind"], trace.edges
    of_lives = np.isin(kinds[edges["source"]], _LIVES) & np.isin(kinds[edges["target"]], _LIVES)
    return replace(trace, edges=edges[of_lives])
