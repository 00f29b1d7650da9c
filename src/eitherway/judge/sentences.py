# SPDX-License-Identifier: Apache-2.0
"""What an experiment showed, in sentences."""

from dataclasses import replace

from eitherway.judge.experiment import Verdict
from eitherway.model.finding import FoundOperation
from eitherway.model.outcome import Ending, Outcome, signal_name
from eitherway.model.words import Class

_ERRORS = 2  # that a sentence names


def consequence(verdict: Verdict, operations: tuple[FoundOperation, ...], other: str = "") -> str:
    """One sentence: what the other order does; `other` says which, if not that of the first two."""
    first, second = map(side, operations[:2])
    other = other or f"When the {second} comes before the {first}"
    trial = verdict.decisive
    if verdict.klass is Class.SPEC_VIOLATED:
        flip, control = _without_common_errors(trial.flip, trial.control)
        if control.errors and not flip.fails:  # what goes wrong comes first
            recorded = f"When the {first} comes before the {second}"
            return f"{recorded}, {does(control)}; the other way round {does(flip)}."
        return f"{other}, {does(flip)}; the other way round {does(control)}."
    if verdict.klass is Class.OUTPUT_DIFFERS:
        return f"{other}, the program writes something else than the other way round."
    if verdict.klass is Class.K_WITNESS_HARMLESS:
        ways = "1 way" if verdict.witnesses == 1 else f"{verdict.witnesses} ways"
        return f"{other}, nothing else is seen from outside: {ways} to go on from there were tried."
    if verdict.klass is Class.SINGLE_ORDERING:
        return f"The {second} did not come before the {first}: {verdict.reason}."
    return f"What both orders do could not be told: {verdict.reason}."


def side(operation: FoundOperation) -> str:
    """Who does what where: "write of size 4 by thread T1 at app.c:12"."""
    place = operation.place
    where = f" at {place.file.rpartition('/')[2]}:{place.line}" if place.file else ""
    return f"{operation.op} by {operation.actor}{where}"


def _without_common_errors(one: Outcome, other: Outcome) -> tuple[Outcome, Outcome]:
    """What both say does not tell them apart."""
    first, second = (
        replace(mine, errors=tuple(line for line in mine.errors if line not in theirs.errors))
        for mine, theirs in ((one, other), (other, one))
    )
    return first, second


def does(outcome: Outcome) -> str:
    """How a run ended."""
    words = [*outcome.complaints, *outcome.errors[:_ERRORS]]
    if len(outcome.errors) > _ERRORS:
        words.append(f"{len(outcome.errors) - _ERRORS} more errors are told")
    return f"{'; '.join(words)} and {_ends(outcome)}" if words else _ends(outcome)


def _ends(outcome: Outcome) -> str:
    if outcome.ending is Ending.SIGNAL:
        return f"the program is killed by {signal_name(outcome.code)}"
    if outcome.ending is Ending.EXIT:
        return f"the program ends with exit status {outcome.code}"
    return _WORDS[outcome.ending]


_WORDS = {
    Ending.DEADLOCK: "no thread of the program can go on",
    Ending.HANG: "the program goes round in circles and never ends",
    Ending.BUDGET: "the program had to be stopped",
    Ending.BEYOND: "the program goes where the recording does not lead",
}
