# SPDX-License-Identifier: Apache-2.0
"""The critical pair of a run: turn these two round, and it does not happen any more.

It is named only when both were run: with one order it happens, with the other it does not, and the
two runs go on in the same way from there. The pair may be looked for in a run in which it happens,
or in one that goes well: what never came in the first, came in the second.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm

Pair = TypeVar("Pair")
Branch = Callable[[Pair, Arm, int], Outcome]
Happens = Callable[[Outcome], bool]
CONTINUATIONS = 4


@dataclass(frozen=True, slots=True)
class Critical(Generic[Pair]):
    """Two operations whose order decides, and the first continuation that shows it."""

    pair: Pair
    continuation: int
    other: Outcome  # what the order does that was not recorded
    shown: int  # continuations in which the order decides
    tried: int


def critical_pair(
    pairs: Iterable[Pair],
    branch: Branch[Pair],
    happens: Happens,
    *,
    when_recorded: bool = True,
    races: Callable[[Pair], bool] = lambda _: False,
) -> Critical[Pair] | None:
    """The first of the pairs whose order decides in every continuation, or else in most.

    `when_recorded`: it happens in the run that the pairs are of; else with the other order.
    `races`: whether nothing orders the two. One of those that decides at all goes before all
    others: the order of two locks may decide what two accesses do behind them, but what is to be
    mended is that these are not ordered.
    """
    best: Critical[Pair] | None = None
    decides = _mends if when_recorded else _breaks
    for pair in pairs:
        if best is not None and best.shown == CONTINUATIONS and not races(pair):
            continue
        found = _decides(pair, branch, lambda *orders: decides(happens, *orders))
        if found is not None and (best is None or _rank(found, races) > _rank(best, races)):
            best = found
        if best is not None and _rank(best, races) == (True, CONTINUATIONS):
            break
    return best


def _rank(found: Critical[Pair], races: Callable[[Pair], bool]) -> tuple[bool, int]:
    return races(found.pair), found.shown


Recorded = Callable[[], Outcome]  # what the recorded order does: run when it is asked for
Decides = Callable[[Outcome, Recorded], bool]


def _decides(pair: Pair, branch: Branch[Pair], decides: Decides) -> Critical[Pair] | None:
    shown: list[tuple[int, Outcome]] = []
    for number in range(CONTINUATIONS):
        other = branch(pair, Arm.FLIP, number)
        if decides(other, partial(_recorded, pair, branch, number)):
            shown.append((number, other))
        elif not shown and number:
            return None  # neither of the two goes on first and has it so
    if not shown:
        return None
    return Critical(pair, *shown[0], shown=len(shown), tried=CONTINUATIONS)


def _recorded(pair: Pair, branch: Branch[Pair], number: int) -> Outcome:
    """The recorded order; what one has cannot be held until the other has it, if it is a lock."""
    control = branch(pair, Arm.CONTROL, number)
    if control.forced is Forced.AS_ASKED:
        return control
    return branch(pair, Arm.PREFIX, number)


def _mends(happens: Happens, other: Outcome, recorded: Recorded) -> bool:
    had = other.forced is Forced.AS_ASKED
    return had and _goes_well(other, happens) and happens(recorded())


def _breaks(happens: Happens, other: Outcome, recorded: Recorded) -> bool:
    had = other.forced is Forced.AS_ASKED
    return had and happens(other) and _goes_well(recorded(), happens)


def _goes_well(outcome: Outcome, happens: Happens) -> bool:
    """It did something else, and nothing that is bad by itself."""
    return outcome.ending is not Ending.BUDGET and not happens(outcome) and not outcome.breaks
