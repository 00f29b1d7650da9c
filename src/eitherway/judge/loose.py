# SPDX-License-Identifier: Apache-2.0
"""Output whose lines come in any order: threads that print without an order of their own.

Where the recorded order of a pair alone shows the same lines in several orders, another one says
nothing of the pair.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from eitherway.judge.trial import Trial
from eitherway.model.outcome import Outcome


def loosened(trials: Sequence[Trial]) -> list[Trial]:
    """The same trials, in which such output is equal when its lines are."""
    recorded = (outcome for trial in trials for outcome in (trial.control, trial.prefix) if outcome)
    loose = _loose(recorded)
    return [_loosened(trial, loose) for trial in trials] if loose else list(trials)


def _loose(outcomes: Iterable[Outcome]) -> set[str]:
    orders: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for outcome in outcomes:
        for name, lines in outcome.lines.items():
            orders[name, lines].add(outcome.output[name])
    return {name for (name, _), seen in orders.items() if len(seen) > 1}


def _loosened(trial: Trial, loose: set[str]) -> Trial:
    def of(outcome: Outcome) -> Outcome:
        lines = {name: digest for name, digest in outcome.lines.items() if name in loose}
        return replace(outcome, output={**outcome.output, **lines})

    return replace(
        trial,
        flip=of(trial.flip),
        control=of(trial.control),
        prefix=trial.prefix and of(trial.prefix),
        serial=trial.serial and of(trial.serial),
    )
