# SPDX-License-Identifier: Apache-2.0
"""Runs the arms of an experiment, and stops when its answer is decided."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from eitherway.judge.trial import Trial
from eitherway.model.outcome import Forced, Outcome
from eitherway.model.words import Arm, Class

Branch = Callable[[Arm, int], Outcome]
CONTINUATIONS = 16  # of each order: ways to go on after the two


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an experiment says."""

    klass: Class
    trials: tuple[Trial, ...] = ()
    reason: str = ""

    @property
    def decisive(self) -> Trial:
        """The first that shows the class."""
        return next(trial for trial in self.trials if trial.klass is self.klass)

    @property
    def witnesses(self) -> int:
        """Continuations in which both orders happened."""
        return sum(trial.flipped and not trial.doubt for trial in self.trials)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """That were run."""
        compared = any(trial.prefix is not None for trial in self.trials)
        return (Arm.FLIP, Arm.CONTROL, *((Arm.PREFIX,) if compared else ()))


def judge(branch: Branch, continuations: int = CONTINUATIONS) -> Verdict:
    """The class of one pair of operations of one run."""
    trials: list[Trial] = []
    for number in range(continuations):
        trials.append(_trial(branch, number))
        if trials[-1].klass is Class.SPEC_VIOLATED:
            break
    telling = [trial for trial in trials if not trial.says_nothing] or trials
    klass = _worst(trial.klass for trial in telling)
    return Verdict(klass, tuple(trials), _reason(klass, telling))


def _trial(branch: Branch, number: int) -> Trial:
    trial = Trial(number, branch(Arm.FLIP, number), branch(Arm.CONTROL, number))
    return replace(trial, prefix=branch(Arm.PREFIX, number)) if trial.differs else trial


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several instances of one race, the most severe; what all of them tried counts."""
    everything = list(verdicts)
    klass = _worst(verdict.klass for verdict in everything)
    first = next(verdict for verdict in everything if verdict.klass is klass)
    trials = tuple(trial for verdict in everything for trial in verdict.trials)
    return Verdict(klass, trials, first.reason)


def _worst(classes: Iterable[Class]) -> Class:
    return max(classes, key=lambda klass: klass.weight)


_WHY_SINGLE = {
    Forced.BLOCKED: "the second thread waits until the first has gone on",
    Forced.ENDED: "the second thread does not come there unless the first has been there before",
    Forced.WAITS: "the second thread looks again and again until the first has gone on",
}


def _reason(klass: Class, trials: list[Trial]) -> str:
    """Why, where the class alone does not say it."""
    if klass is Class.INCONCLUSIVE:
        return next(trial.doubt for trial in trials if trial.doubt)
    if klass is Class.SINGLE_ORDERING:
        return _WHY_SINGLE[trials[0].flip.forced]
    return ""
