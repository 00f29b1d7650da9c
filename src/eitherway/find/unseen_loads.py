# SPDX-License-Identifier: Apache-2.0
"""Stores that keep some bits of what was there, though no load of them is seen.

gcc tells a store to a bit-field by one call, and then loads, changes and stores all of its word:
nobody can be let in between. But what such an order leaves is known, and can be put there: the
store is the one that its thread makes where it comes first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product

from eitherway.find.states import States
from eitherway.judge.experiment import Verdict
from eitherway.judge.sentences import Orders, consequence, side
from eitherway.judge.trial import Trial
from eitherway.model.finding import Finding, FoundOperation
from eitherway.model.outcome import Outcome
from eitherway.model.words import Class, OpKind
from eitherway.worlds.threads.branch import Pair
from eitherway.worlds.threads.live_out import Region

Put = Callable[[int, int], Outcome]  # bits turned round behind both stores, and the continuation
_WORD = 8  # bytes: of longer values there is only a hash
_HARMFUL = (Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS)
NOT_RUN = (
    "The program loads, changes and stores these bits without telling of the load, as gcc has it "
    "for bit-fields. So no run can be kept in which the other thread comes between; what it would "
    "leave was put in memory."
)


def both_store(pair: Pair) -> bool:
    """The same bytes, so that one may undo what the other does."""
    first, second = pair.first, pair.second
    same_bytes = (first.low, first.high) == (second.low, second.high)
    both = first.op == second.op == OpKind.STORE
    return both and same_bytes and first.high - first.low <= _WORD


def with_lost(
    finding: Finding,
    sides: tuple[FoundOperation, ...],
    states: States,
    continuations: Iterable[int],
    put: Put,
) -> Finding:
    """The finding with what comes of it when one of the stores is lost, if that does harm."""
    lost = list(_lost(states, *sides[:2]))
    for number, (loser, keeper, bits) in product(continuations, lost):
        usual = put(0, number)
        tried = Trial(number, put(bits, number), usual, usual)
        if tried.klass in _HARMFUL:
            words = consequence(Verdict(tried.klass, (tried,)), sides, _words(loser, keeper))
            return replace(
                finding,
                klass=tried.klass,
                reason="",
                consequence=words,
                explanation=(*finding.explanation, NOT_RUN),
            )
    return finding


def _lost(
    states: States, first: FoundOperation, second: FoundOperation
) -> Iterator[tuple[FoundOperation, FoundOperation, int]]:
    """Whose store may be lost by whose, and the bits in which memory is another one then.

    Where each keeps the bits of the other, both orders leave the same; what stores something else
    for another reason, such as the address of a block, does not.
    """
    flip, control = states.flip, states.control
    both = _stored(control.second)
    of_first, of_second = both ^ _stored(flip.second), both ^ _stored(control.first)
    if _stored(flip.first) != both or of_first & of_second:
        return
    if keeps_bits(flip.second, control.second):
        yield first, second, of_first
    if keeps_bits(flip.first, control.first):
        yield second, first, of_second


def keeps_bits(one: Region | None, other: Region | None) -> bool:
    """It stores another value in the other order, though it has seen nothing else before."""
    if one is None or other is None:
        return False
    seen, twin = one.accesses[: one.racing], other.accesses[: other.racing]
    return seen == twin and _stored(one) != _stored(other)


def _stored(region: Region | None) -> int:
    return region.accesses[region.racing][3] if region else 0


def _words(loser: FoundOperation, keeper: FoundOperation) -> Orders:
    begins = f"When the {side(keeper)} loads what it keeps before the {side(loser)}"
    lost = f"{begins} and stores it after, so that the latter is lost"
    return Orders(lost, lost, instead="otherwise")
