# SPDX-License-Identifier: Apache-2.0
"""Output that comes in any order: threads that print without an order of their own.

Where the recorded order of a pair alone shows the same in several orders, another one says nothing
of the pair. What each thread writes for itself still counts; unless that differs as well, as when
threads share out their work, and only the lines of all are the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from eitherway.judge.trial import BY_LINE, BY_WRITER, Trial
from eitherway.model.outcome import Outcome

View = Callable[[Outcome, str], str]  # an output by its name, as far as it counts


def loosened(trials: Sequence[Trial]) -> list[Trial]:
    """The same trials, in which such output is equal when what counts of it is."""
    recorded = [outcome for trial in trials for outcome in (trial.control, trial.prefix) if outcome]
    views = _views(recorded)
    if not views:
        return list(trials)
    seen = {name: {o.output[name] for o in recorded if name in o.lines} for name in views}
    return [_loosened(trial, views, seen) for trial in trials]


def _exact(outcome: Outcome, name: str) -> str:
    return outcome.output[name]


def _by_writer(outcome: Outcome, name: str) -> str:
    return BY_WRITER + outcome.writers.get(name, outcome.output[name])


def _by_line(outcome: Outcome, name: str) -> str:
    return BY_LINE + outcome.lines[name]


def _views(outcomes: Sequence[Outcome]) -> dict[str, View]:
    """Of outputs whose order is open, how they are compared."""
    found: dict[str, View] = {}
    for name in dict.fromkeys(name for outcome in outcomes for name in outcome.lines):
        if _moves(outcomes, name, _by_writer, _by_line):
            found[name] = _by_line
        elif _moves(outcomes, name, _exact, _by_writer):
            found[name] = _by_writer
    return found


def _moves(outcomes: Iterable[Outcome], name: str, finer: View, coarser: View) -> bool:
    """Whether it was seen in several ways that are one way when it is looked at less closely."""
    ways: defaultdict[str, set[str]] = defaultdict(set)
    for outcome in outcomes:
        if name in outcome.lines:
            ways[coarser(outcome, name)].add(finer(outcome, name))
    return any(len(several) > 1 for several in ways.values())


def _loosened(trial: Trial, views: dict[str, View], seen: dict[str, set[str]]) -> Trial:
    """Lines in an order that the recorded one shows too, somewhere, are not the other one's."""

    def is_shown(outcome: Outcome, name: str) -> bool:
        same_lines = outcome.lines[name] == trial.control.lines.get(name)
        return same_lines and outcome.output[name] in seen[name]

    def of(outcome: Outcome, *, recorded: bool) -> Outcome:
        known = {}
        for name, view in views.items():
            if name in outcome.lines:
                shown = not recorded and is_shown(outcome, name)
                known[name] = view(trial.control if shown else outcome, name)
        return replace(outcome, output={**outcome.output, **known})

    return replace(
        trial,
        flip=of(trial.flip, recorded=False),
        control=of(trial.control, recorded=True),
        prefix=trial.prefix and of(trial.prefix, recorded=True),
        serial=trial.serial and of(trial.serial, recorded=False),
    )
