# SPDX-License-Identifier: Apache-2.0
"""What an experiment showed, in sentences."""

from dataclasses import dataclass, replace

from eitherway.judge.experiment import Verdict
from eitherway.judge.trial import Trial
from eitherway.model.finding import FoundOperation
from eitherway.model.outcome import Ending, Outcome, signal_name
from eitherway.model.words import Class

_ERRORS = 2  # that a sentence names


@dataclass(frozen=True, slots=True)
class Orders:
    """When what happens, in words: "When the write comes before the read"."""

    other: str
    recorded: str
    instead: str = "the other way round"


def consequence(
    verdict: Verdict, operations: tuple[FoundOperation, ...], orders: Orders | None = None
) -> str:
    """One sentence: what the other order does; `orders`, if not those of the first two."""
    first, second = map(side, operations[:2])
    orders = orders or Orders(
        f"When the {second} comes before the {first}", f"When the {first} comes before the {second}"
    )
    if verdict.klass is Class.SPEC_VIOLATED:
        return _violation(verdict.decisive, orders)
    if verdict.klass is Class.OUTPUT_DIFFERS:
        return f"{orders.other}, the program writes something else than {orders.instead}."
    if verdict.klass is Class.K_WITNESS_HARMLESS:
        return f"{orders.other}, {_nothing(verdict)}."
    if verdict.klass is Class.SINGLE_ORDERING:
        return f"The {second} did not come before the {first}: {verdict.reason}."
    return f"What both orders do could not be told: {verdict.reason}."


def _violation(trial: Trial, orders: Orders) -> str:
    flip, control = _without_common_errors(trial.flip, trial.control)
    if control.errors and not flip.fails:  # what goes wrong comes first
        return f"{orders.recorded}, {does(control)}; {orders.instead} {does(flip)}."
    return f"{orders.other}, {does(flip)}; {orders.instead} {does(control)}."


def _nothing(verdict: Verdict) -> str:
    if verdict.decisive.is_serial:
        return "nothing is seen that is not seen without anything between"
    ways = "1 way" if verdict.witnesses == 1 else f"{verdict.witnesses} ways"
    return f"nothing else is seen from outside: {ways} to go on from there were tried"


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
