# SPDX-License-Identifier: Apache-2.0
"""Runs the arms of an experiment, and stops when its answer is decided."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace

from eitherway.judge.loose import loosened
from eitherway.judge.trial import Trial
from eitherway.judge.why import Why
from eitherway.model.outcome import Forced, Outcome
from eitherway.model.words import Arm, Class

Branch = Callable[[Arm, int], Outcome]
Begin = Callable[[Arm, int], Future[Outcome]]  # a branch that others run
CONTINUATIONS = 16  # of each order: ways to go on after the two
STOPPED = 4  # continuations in which a branch had to be stopped, until no more are tried


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an experiment says."""

    klass: Class
    trials: tuple[Trial, ...] = ()
    why: Why | None = None  # where the class alone does not say it

    @property
    def reason(self) -> str:
        """The same in words."""
        return self.why.told() if self.why else ""

    @property
    def decisive(self) -> Trial:
        """The first that shows the class."""
        return next(trial for trial in self.trials if trial.klass is self.klass)

    @property
    def witnesses(self) -> int:
        """Continuations in which both orders happened."""
        return sum(trial.flipped and not trial.doubt for trial in self.trials)

    @property
    def doubts(self) -> Mapping[Why, int]:
        """Why other continuations say nothing, and of how many."""
        return Counter(trial.doubt for trial in self.trials if trial.doubt)

    @property
    def is_stopped(self) -> bool:
        """Whether it was not gone on with, as too many branches had to be stopped."""
        return _are_stopped(self.trials)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """That were run."""
        more = {
            Arm.PREFIX: any(trial.prefix is not None for trial in self.trials),
            Arm.SERIAL: any(trial.serial is not None for trial in self.trials),
        }
        return (Arm.FLIP, Arm.CONTROL, *(arm for arm, ran in more.items() if ran))


def judge(branch: Branch, continuations: int = CONTINUATIONS) -> Verdict:
    """The class of one pair of operations of one run."""

    def begin(arm: Arm, continuation: int) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(branch(arm, continuation))
        return future

    return judge_among(begin, continuations)


def judge_among(
    begin: Begin,
    continuations: int = CONTINUATIONS,
    at_once: int = 1,
    *,
    first: int = 0,
    between: Arm | None = None,
    serial: bool = False,
    refute: int = 0,
) -> Verdict:
    """The same with so many continuations under way at a time, from that number on.

    `between`: of three operations, the arm in which one comes between two that belong together;
    `serial`: there is another order in which it does not.
    `refute`: where only some continuations show a difference, how many more of the better order are
    tried: if one of them does the same, it is not the order that decides.
    """
    trials: list[Trial] = []
    for found in _trials(begin, range(first, first + continuations), at_once):
        trial = _compared(found, begin, between, serial=serial) if found.differs else found
        trials.append(trial)
        if trial.klass is Class.SPEC_VIOLATED or _are_stopped(trials):
            break
    trials = _sifted(loosened(trials), begin, range(continuations, continuations + refute))
    telling = [trial for trial in trials if not trial.says_nothing] or trials
    klass = _worst(trial.klass for trial in telling)
    return Verdict(klass, tuple(trials), _why(klass, telling))


def _are_stopped(trials: Iterable[Trial]) -> bool:
    """Each takes all the time that a branch may have: the others would hardly be better."""
    return sum(trial.was_stopped for trial in trials) >= STOPPED


def _trials(begin: Begin, continuations: range, at_once: int) -> Iterator[Trial]:
    """In their order; when nobody wants more, those that were not begun are not.

    Those that were are waited for: who ran them may be asked for something else next.
    """
    under_way: deque[tuple[Future[Outcome], Future[Outcome]]] = deque()
    left = deque(continuations)
    try:
        for number in continuations:
            while left and len(under_way) < at_once:
                under_way.append((begin(Arm.FLIP, left[0]), begin(Arm.CONTROL, left[0])))
                left.popleft()
            flip, control = under_way.popleft()
            yield Trial(number, flip.result(), control.result())
    except KeyboardInterrupt:
        under_way.clear()  # whoever runs them is closed next, and they with it
        raise
    finally:
        wait([future for pair in under_way for future in pair if not future.cancel()])


_LOUD = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)


def _sifted(trials: list[Trial], begin: Begin, more: Iterable[int]) -> list[Trial]:
    """Without the differences that are of the continuation."""
    loud = [trial for trial in trials if trial.klass in _LOUD]
    quiet = any(trial.klass is Class.K_WITNESS_HARMLESS for trial in trials)
    if not loud or not quiet:
        return trials
    left = dict.fromkeys(map(trials.index, loud))
    for number in more:
        for at in list(left):
            better = Arm.FLIP if trials[at].worse is Arm.CONTROL else Arm.CONTROL
            if trials[at].is_done_by(begin(better, number).result()):
                trials[at] = replace(trials[at], refuted=True)
                del left[at]
    return trials


def _compared(trial: Trial, begin: Begin, between: Arm | None, *, serial: bool) -> Trial:
    """With what the recorded order does besides, and the other one without anything between."""
    number = trial.continuation
    trial = replace(trial, prefix=begin(Arm.PREFIX, number).result(), between=between)
    return replace(trial, serial=begin(Arm.SERIAL, number).result()) if serial else trial


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several instances of one race, the most severe; what all of them tried counts."""
    everything = list(verdicts)
    klass = _worst(verdict.klass for verdict in everything)
    first = next(verdict for verdict in everything if verdict.klass is klass)
    trials = tuple(trial for verdict in everything for trial in verdict.trials)
    return Verdict(klass, trials, first.why)


def _worst(classes: Iterable[Class]) -> Class:
    return max(classes, key=lambda klass: klass.weight)


_WHY_SINGLE = {
    Forced.BLOCKED: Why.BLOCKED,
    Forced.ENDED: Why.ENDED,
    Forced.WAITS: Why.WAITS,
}


def _why(klass: Class, trials: list[Trial]) -> Why | None:
    if klass is Class.INCONCLUSIVE:
        return next(trial.doubt for trial in trials if trial.doubt)
    if klass is Class.SINGLE_ORDERING:
        return _WHY_SINGLE[trials[0].flip.forced]
    return None
