# SPDX-License-Identifier: Apache-2.0
"""The critical pair of a run: turn these two round, and it does not happen any more.

It is named only when both were run: with the recorded order it happens, with the other it does not,
and the two runs go on in the same way from there.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
    other: Outcome  # what the other order does
    shown: int  # continuations in which the order decides
    tried: int


def critical_pair(
    pairs: Iterable[Pair], branch: Branch[Pair], happens: Happens
) -> Critical[Pair] | None:
    """The first of the pairs whose order decides in every continuation, or else in most."""
    best: Critical[Pair] | None = None
    for pair in pairs:
        found = _decides(pair, branch, happens)
        if found is not None and (best is None or found.shown > best.shown):
            best = found
        if best is not None and best.shown == CONTINUATIONS:
            break
    return best


def _decides(pair: Pair, branch: Branch[Pair], happens: Happens) -> Critical[Pair] | None:
    shown: list[tuple[int, Outcome]] = []
    for number in range(CONTINUATIONS):
        other = branch(pair, Arm.FLIP, number)
        if _is_another(other, happens) and happens(_recorded(pair, branch, number)):
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


def _is_another(other: Outcome, happens: Happens) -> bool:
    """The order was had, and it did something else: nothing that is bad by itself."""
    ends = other.forced is Forced.AS_ASKED and other.ending is not Ending.BUDGET
    return ends and not happens(other) and not other.breaks
