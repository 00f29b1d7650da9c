# SPDX-License-Identifier: Apache-2.0
"""Races that only a branch opens: they are turned round too, before a pair is called harmless.

One order of a pair may lead to code that the recorded run never came to, and what that does may
race in its turn. A branch is a run like any other: it is traced, and where it shows races that the
recorded run does not have, branches of it are made. Each is a way to go on which both orders of the
pair are given, so that they still differ in nothing else: who does not come to the race that is
turned round goes on as before.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from eitherway.find.confirm import Tracer
from eitherway.find.racing import Instance, Racing
from eitherway.judge.loose import loosened
from eitherway.judge.trial import Trial
from eitherway.model.finding import FoundOperation, Frame
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm, Class
from eitherway.worlds.threads.branch import Branches, Pair, Spec, why_not
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.places import Places
from eitherway.worlds.threads.run import Ran

WAYS = 8  # to go on that are traced, of one finding
TURNED = 24  # of them with a race turned round that are tried
_EACH = 2  # ways in which one race is turned round, for each order in which it comes
_SOME = 8  # instances of one that are looked at for those that come behind the pair
_ELSEWHERE = 4  # other ways in which the better order is asked whether it does the same
_ARMS = (Arm.FLIP, Arm.CONTROL)
_ON = (0, 1)  # who goes on when a race is turned round: its first thread, its second one

Met = tuple[int, int]  # where in the code an access raced with an earlier one, and its address
Seen = dict[tuple[Arm, int], frozenset[Met]]  # by the branches of a pair, to race
OutcomeOf = Callable[[Ran], Outcome]


class Turning(NamedTuple):
    """A race that is turned round in the run that a way has led to so far, if that shows it."""

    number: str  # its id
    first: Frame  # where the access is that is to come first
    ordinal: int  # which of its instances behind what was decided
    continuation: int
    places: Places


@dataclass(frozen=True, slots=True)
class Way:
    """A way to go on behind a pair: the same for both of its orders."""

    continuation: int
    turned: tuple[Turning, ...] = ()


def met(ran: Ran) -> frozenset[Met]:
    """What the runtime saw to race."""
    rows = ran.found.rows
    own = rows[(rows["slot"] == 0) & (rows["kind"] == int(FoundKind.RACE))]
    return frozenset(zip(own["pc"].tolist(), own["address"].tolist(), strict=True))


@dataclass(slots=True)
class Budget:
    """Of one finding, for all of its instances."""

    ways: int = WAYS
    turned: int = TURNED
    races: set[str] = field(default_factory=set)  # ids of those that were turned round
    met: set[tuple[Met, frozenset[Arm]]] = field(default_factory=set)  # and who met it so far
    lacks: bool = False  # there may be more than were


@dataclass(frozen=True, slots=True)
class Led:
    """Where a way leads in one arm."""

    ran: Ran
    asked: tuple[Spec, ...]  # orders, in the order of time
    forced: Forced  # what became of the last one


@dataclass(frozen=True, slots=True)
class Opening:
    """A way with a race turned round that no recorded run has, and what came of it."""

    way: Way
    trial: Trial
    sides: tuple[FoundOperation, ...]  # of that race


@dataclass
class Opened:
    """Ways to go on behind one pair of one run, beyond those that follow from a number."""

    tracer: Tracer
    explorer: Explorer
    branches: Branches
    pair: Pair
    places: Places  # that are decision points already
    racing: Racing  # of the run
    outcome_of: OutcomeOf
    budget: Budget
    _led: dict[tuple[Arm, Way], Led | None] = field(default_factory=dict)
    _shown: dict[tuple[Arm, Way], Racing | None] = field(default_factory=dict)

    def openings(self, seen: Seen, trials: Iterable[Trial]) -> Iterator[Opening]:
        """What comes of each; `seen` by the branches of these trials to race."""
        known = list(trials)
        ways = deque(Way(number) for number in self._opening(seen))
        often: Counter[tuple[object, ...]] = Counter()
        while ways:
            if not self.budget.ways:
                self.budget.lacks = True
                return
            self.budget.ways -= 1
            for child, instance in self._children(ways.popleft()):
                key = child.turned[-1].number, instance.places, child.turned[-1].continuation
                if often[key] == _EACH:
                    continue
                if not self.budget.turned:
                    self.budget.lacks = True
                    return
                often[key] += 1
                self.budget.turned -= 1
                self.budget.races.add(child.turned[-1].number)
                if trial := self._trial(child):
                    known.append(self._sifted(child, trial, known, seen))
                    yield Opening(child, known[-1], instance.sides)
                    if self._is_news({arm: self._met(arm, child) for arm in _ARMS}):
                        ways.append(child)

    def run(self, arm: Arm, way: Way, kept_from: tuple[int, int] = (0, 0)) -> Ran:
        """What a way leads to, to be kept."""
        turning = self._turning(arm, way)
        if turning is None:
            kept = Way(way.continuation, way.turned[:-1])
            if way.turned:
                return self.run(arm, kept, kept_from)
            return self.branches.run(Spec(self.pair, arm, way.continuation), kept_from=kept_from)
        branches, spec = turning
        return branches.run(spec, kept_from=kept_from)

    def _opening(self, seen: Seen) -> Iterator[int]:
        """Continuations in which something races that does not in others, nor in the run."""
        for number in sorted({number for _, number in seen}):
            if self._is_news({arm: seen.get((arm, number), frozenset()) for arm in _ARMS}):
                yield number

    def _is_news(self, by_arm: Mapping[Arm, frozenset[Met]]) -> bool:
        """That both orders meet something is other news than that one of them does."""
        everything = frozenset().union(*by_arm.values())
        news = {
            (one, frozenset(arm for arm in by_arm if one in by_arm[arm]))
            for one in everything
            if self._is_new(one)
        } - self.budget.met
        self.budget.met |= news
        return bool(news)

    def _is_new(self, one: Met) -> bool:
        pc, address = one
        return pc not in self._known_code or address not in self._known_bytes

    @cached_property
    def _known_code(self) -> set[int]:
        events = self.racing.events
        return set(events.names.sites["pc"][events.events["site"][self._racing_rows]].tolist())

    @cached_property
    def _known_bytes(self) -> set[int]:
        return set(self.racing.events.events["address"][self._racing_rows].tolist())

    @property
    def _racing_rows(self) -> list[int]:
        return sorted(self.racing.operations)

    def _met(self, arm: Arm, way: Way) -> frozenset[Met]:
        led = self._lead(arm, way)
        return met(led.ran) if led else frozenset()

    # --- where ways lead

    def _lead(self, arm: Arm, way: Way) -> Led | None:
        """None: the order of the pair could not be had, or it is not known what became of it."""
        key = arm, way
        if key not in self._led:
            self._led[key] = self._turned(arm, way) if way.turned else self._begin(arm, way)
        return self._led[key]

    def _begin(self, arm: Arm, way: Way) -> Led | None:
        ran = self.branches.run(Spec(self.pair, arm, way.continuation))
        outcome = self.outcome_of(ran)
        if outcome.forced is not Forced.AS_ASKED or _says_nothing(ran, outcome):
            return None
        return Led(ran, (Spec(self.pair, arm, way.continuation),), outcome.forced)

    def _turned(self, arm: Arm, way: Way) -> Led | None:
        before = self._lead(arm, Way(way.continuation, way.turned[:-1]))
        if before is None:
            return None
        turning = self._turning(arm, way)
        if turning is None:
            return before
        branches, spec = turning
        ran = branches.run(spec)
        outcome = self.outcome_of(ran)
        if outcome.forced is Forced.NOT_REACHED or _says_nothing(ran, outcome):
            return None
        return Led(ran, (*before.asked, spec), outcome.forced)

    def _turning(self, arm: Arm, way: Way) -> tuple[Branches, Spec] | None:
        """The last branch of a way; None: there is nothing that it could turn round."""
        if not way.turned:
            return None
        before, last = Way(way.continuation, way.turned[:-1]), way.turned[-1]
        led = self._lead(arm, before)
        instances = list(islice(self._behind(arm, before, last.number), last.ordinal + 1))
        if led is None or len(instances) <= last.ordinal:
            return None
        instance = instances[last.ordinal]
        arm = Arm.CONTROL if instance.places[0] == last.first else Arm.FLIP
        branches = Branches(self.explorer, led.ran, last.places)
        return branches, Spec(instance.pair, arm, last.continuation)

    # --- what they show

    def _children(self, way: Way) -> Iterator[tuple[Way, Instance]]:
        """With one more race turned round."""
        shown = [self._races(arm, way) for arm in _ARMS]
        places = self.places
        for each in filter(None, shown):
            places |= each.places
        for arm, racing in zip(_ARMS, shown, strict=True):
            for number in racing.numbers if racing else ():
                if number in self.racing.numbers:
                    continue
                instances = islice(self._behind(arm, way, number), _EACH)
                for ordinal, instance in enumerate(instances):
                    for on in _ON:
                        turning = Turning(number, instance.places[1], ordinal, on, places)
                        yield Way(way.continuation, (*way.turned, turning)), instance

    def _races(self, arm: Arm, way: Way) -> Racing | None:
        key = arm, way
        if key not in self._shown:
            led = self._lead(arm, way)
            traced = self.tracer.accesses(led.ran) if led else None
            self._shown[key] = Racing(traced) if traced and not traced.differs else None
        return self._shown[key]

    def _behind(self, arm: Arm, way: Way, number: str) -> Iterator[Instance]:
        """Instances of a race behind all that was decided: else that would be undone."""
        led, racing = self._lead(arm, way), self._races(arm, way)
        if led is None or racing is None or led.forced is not Forced.AS_ASKED:
            return
        steps = [_decided_at(racing.events, spec) for spec in led.asked]
        if None in steps:
            return
        decided = max(step for step in steps if step is not None)
        for instance in racing.instances(number, _SOME):
            if instance.pair.first.step > decided:
                yield instance

    # --- what comes of them

    def _trial(self, way: Way) -> Trial | None:
        flip, control = (self._outcome(arm, way) for arm in _ARMS)
        if flip is None or control is None:
            return None
        trial = Trial(way.continuation, flip, control)
        if not trial.differs:
            return trial
        prefix = self._outcome(Arm.PREFIX, way)
        return None if prefix is None else replace(trial, prefix=prefix)

    def _outcome(self, arm: Arm, way: Way) -> Outcome | None:
        """Of a run in which the two came as asked."""
        led = self._lead(arm, way)
        return replace(self.outcome_of(led.ran), forced=Forced.AS_ASKED) if led else None

    def _sifted(
        self,
        way: Way,
        trial: Trial,
        known: list[Trial],
        seen: Seen,
    ) -> Trial:
        """Refuted where the better order does the same in another way."""
        trial = loosened([*known, trial])[-1]
        if trial.klass not in (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS):
            return trial
        if trial.klass is Class.OUTPUT_DIFFERS and _is_same_text(trial):
            return replace(trial, refuted=True)
        better = Arm.FLIP if trial.worse is Arm.CONTROL else Arm.CONTROL
        outcomes = [one.flip if better is Arm.FLIP else one.control for one in known]
        others = (n for arm, n in sorted(seen) if arm is better and n != way.continuation)
        meet = (n for n in others if any(map(self._is_new, seen[better, n])))
        for number in islice(meet, _ELSEWHERE):
            outcome = self._outcome(better, Way(number, way.turned))
            outcomes += [outcome] if outcome else []
        return replace(trial, refuted=any(map(trial.is_done_by, outcomes)))


def _says_nothing(ran: Ran, outcome: Outcome) -> bool:
    """Whether it had to be stopped, or no branch can be made of it."""
    return outcome.ending in (Ending.BUDGET, Ending.BEYOND) or bool(why_not(ran))


def _is_same_text(trial: Trial) -> bool:
    """Whether only the order of lines is another one: a thread that is held writes later."""
    flip, control = trial.flip, trial.control
    differing = [
        name
        for name in {*flip.output, *control.output}
        if flip.output.get(name) != control.output.get(name)
    ]
    return all(
        name in flip.lines and flip.lines[name] == control.lines.get(name) for name in differing
    )


def _decided_at(events: Events, spec: Spec) -> int | None:
    """The step at which the one came that was to come first; None: it never does."""
    pair = spec.pair
    rows = events.events[events.events["step"] >= pair.first.step]
    low, high = max(pair.first.low, pair.second.low), min(pair.first.high, pair.second.high)
    side, times = (pair.second, pair.times) if spec.arm is Arm.FLIP else (pair.first, 1)
    own = (rows["thread"] == side.thread) & (rows["op"] == side.op)
    own &= (rows["address"] < high) & (rows["address"] + rows["size"] > low)
    there = np.flatnonzero(own)
    return int(rows["step"][there[times - 1]]) if len(there) >= times else None
