# SPDX-License-Identifier: Apache-2.0
"""What an experiment showed, in sentences."""

from eitherway.judge.experiment import Verdict
from eitherway.model.finding import FoundOperation
from eitherway.model.outcome import Ending, Outcome, signal_name
from eitherway.model.words import Class


def consequence(verdict: Verdict, operations: tuple[FoundOperation, ...], other: str = "") -> str:
    """One sentence: what the other order does; `other` says which, if not that of the first two."""
    first, second = map(side, operations[:2])
    other = other or f"When the {second} comes before the {first}"
    trial = verdict.decisive
    if verdict.klass is Class.SPEC_VIOLATED:
        return f"{other}, {does(trial.flip)}; the other way round {does(trial.control)}."
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


def does(outcome: Outcome) -> str:
    """How a run ended."""
    if outcome.complaints:
        return f"{'; '.join(outcome.complaints)} and {_ends(outcome)}"
    return _ends(outcome)


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
