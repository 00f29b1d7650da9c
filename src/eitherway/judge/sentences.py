# SPDX-License-Identifier: Apache-2.0
"""What an experiment showed, in sentences."""

from collections.abc import Mapping
from dataclasses import dataclass

from eitherway.judge.experiment import Verdict
from eitherway.judge.trial import Trial
from eitherway.judge.why import Names
from eitherway.model.finding import FoundOperation
from eitherway.model.identity import own_frame
from eitherway.model.outcome import Ending, Outcome, signal_name
from eitherway.model.shortened import shortened
from eitherway.model.words import Class

_LINES = 2  # that a sentence names


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
    if verdict.klass is Class.SPEC_VIOLATED and not verdict.decisive.flipped:
        orders = orders or _slow(operations[0])
    orders = orders or Orders(
        f"When the {second} comes before the {first}", f"When the {first} comes before the {second}"
    )
    if verdict.klass is Class.SPEC_VIOLATED:
        return _violation(verdict.decisive, orders)
    if verdict.klass is Class.OUTPUT_DIFFERS:
        return f"{orders.other}, {_written(verdict.decisive)} than {orders.instead}."
    if verdict.klass is Class.K_WITNESS_HARMLESS:
        return f"{orders.other}, {_nothing(verdict, orders.instead)}."
    if verdict.klass is Class.SINGLE_ORDERING:
        return f"The {second} did not come before the {first}: {why_single(verdict, operations)}."
    return f"What both orders do could not be told: {verdict.reason}."


def _slow(first: FoundOperation) -> Orders:
    instead = "while it is held on the other side of that,"
    return Orders(f"While {held_before(first)}", f"While {held_behind(first)}", instead)


def held_before(operation: FoundOperation) -> str:
    """What a branch does to who comes first: "thread T1 is held right before its write of ..."."""
    return f"{operation.actor} is held right before its {_done(operation)}"


def held_behind(operation: FoundOperation) -> str:
    """The same once it has been let make its access."""
    return f"{operation.actor} is held right behind its {_done(operation)}"


def why_single(verdict: Verdict, operations: tuple[FoundOperation, ...]) -> str:
    """The reason with the actors' names."""
    first, second = (operation.actor for operation in operations[:2])
    return verdict.why.told(Names(first, second)) if verdict.why else ""


def _violation(trial: Trial, orders: Orders) -> str:
    flip, control = (
        does(mine, theirs)
        for mine, theirs in ((trial.flip, trial.control), (trial.control, trial.flip))
    )
    alone = set(trial.control.said) - set(trial.flip.said)
    if alone and not _goes_wrong(trial):  # what goes wrong comes first
        return f"{orders.recorded}, {control}; {orders.instead} {flip}."
    return f"{orders.other}, {flip}; {orders.instead} {control}."


def _goes_wrong(trial: Trial) -> bool:
    """Whether the other order does, by how it ends or by what it says."""
    flip, control = trial.flip, trial.control
    ends = (flip.code, flip.complaints) != (control.code, control.complaints)
    worse = flip.breaks or (flip.code != 0 and ends)
    return worse or not set(control.said) >= set(flip.said)


def _written(trial: Trial) -> str:
    """What is written otherwise, and whether only the order of it is another one."""
    flip, control = trial.flip, trial.control
    names = sorted(
        name
        for name in {*flip.output, *control.output}
        if flip.output.get(name) != control.output.get(name)
    )
    more = " and more" if len(names) > _LINES else ""
    where = f"{', '.join(names[:_LINES])}{more}"
    if not all(name.startswith("standard ") for name in names):
        return f"the program leaves something else in {where}"
    if _is_same(names, flip.writers, control.writers):
        return f"what threads write to {where} comes in another order"
    if _is_same(names, flip.lines, control.lines):
        return f"the lines of {where} come in another order"
    return f"the program writes something else to {where}"


def _is_same(names: list[str], one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(name in one and one[name] == other.get(name) for name in names)


def _nothing(verdict: Verdict, instead: str) -> str:
    if verdict.decisive.refuted:
        return f"nothing is seen that is not seen {instead} as well"
    if verdict.decisive.is_of_two:
        return "nothing goes wrong that does not without anything between"
    ways = "1 way" if verdict.witnesses == 1 else f"{verdict.witnesses} ways"
    doubts = "".join(
        f"; {count} more told nothing: {why.told()}" for why, count in verdict.doubts.items()
    )
    return f"nothing else is seen from outside: {ways} to go on from there were tried{doubts}"


def slowly(operations: tuple[FoundOperation, ...]) -> str:
    """That it takes a thread that is slow: who stores, and who loads."""
    stores, loads = (operation.actor for operation in operations[:2])
    return f"This is seen where {stores} is slow: it is held for as long as {loads} looks again."


def opened_by(operations: tuple[FoundOperation, ...]) -> str:
    """That it takes another race as well."""
    first, second = map(side, operations[:2])
    return (
        "What differs is seen when another race is turned round as well, which the recorded run "
        f"does not have: the {first} and the {second}."
    )


def opened_in_vain(races: int, *, lacks: bool) -> str:
    """That other races were looked at too, and whether all were."""
    there = "a race" if races == 1 else f"{races} races"
    most = "; there may be more of them, which were not" if lacks else ""
    turned = f"{'it was' if races == 1 else 'they were'} turned round as well{most}"
    return f"Branches lead to {there} that the recorded run does not have: {turned}."


def side(operation: FoundOperation) -> str:
    """Who does what where: "write of size 4 by thread T1 at app.c:12"."""
    return f"{operation.op} by {operation.actor}{_where(operation)}"


def _done(operation: FoundOperation) -> str:
    return f"{operation.op}{_where(operation)}"


def _where(operation: FoundOperation) -> str:
    place = own_frame(operation.stack)
    where = f" in {shortened(place.function)}" if place.function else ""
    if place.file and place.line:
        where = f" at {place.file.rpartition('/')[2]}:{place.line}"
    return where


def does(outcome: Outcome, other: Outcome | None = None) -> str:
    """How a run ended; what it said that the other did not."""
    heard = () if other is None else other.said
    lines = [line for line in outcome.said if line not in heard]
    words = [*outcome.complaints, *lines[:_LINES]]
    if len(lines) > _LINES:
        words.append(f"{len(lines) - _LINES} more lines are written to standard error")
    return f"{'; '.join(words)} and {_ends(outcome)}" if words else _ends(outcome)


def _ends(outcome: Outcome) -> str:
    if outcome.ending is Ending.SIGNAL:
        return f"the program is killed by {signal_name(outcome.code)}"
    if outcome.ending is Ending.EXIT:
        return f"the program ends with exit status {outcome.code}"
    if outcome.ending is Ending.HANG and outcome.code:
        return f"the program stops itself by {signal_name(outcome.code)}, and nobody lets it go on"
    return _WORDS[outcome.ending]


_WORDS = {
    Ending.DEADLOCK: "nothing in the program can go on",
    Ending.HANG: "the program goes round in circles and never ends",
    Ending.SERVES: "the program waits for who connects to it",
    Ending.BUDGET: "the program had to be stopped",
    Ending.BEYOND: "the program goes where the recording does not lead",
}
