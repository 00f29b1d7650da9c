# SPDX-License-Identifier: Apache-2.0
"""Why a race was not seen to do harm: told only where something could have refuted it.

Each sort has a control of its own: values and bits as both orders left them, what the threads did
behind the pair, or branches in which something else is put where the two meet.
"""

from collections.abc import Callable, Iterable

from eitherway.find.states import States
from eitherway.judge.trial import Trial
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import STORES, Arm
from eitherway.worlds.threads.live_out import Access, Region

Put = Callable[[Arm, int], Outcome]  # one order, with these bits turned round where the two meet

REDUNDANT = "redundant write: in either order the same value is stored and seen"
DOUBLE_CHECK = "double check: who may have seen an old value takes a lock and looks again"
AD_HOC = "ad-hoc synchronisation: who sees the old value looks again until it is the new one"
STATISTICS = "statistics only: whatever is put there, nothing else is seen from outside"
DISJOINT = "disjoint bits: who loads looks at bits that the other side leaves as they are"
BOTH_VALID = "both values are valid: one side sees another value, and goes on as well with it"
OF_ALL_VALUES = (REDUNDANT, STATISTICS)  # of which one says more than the next
_BITS = (1, 0xFF, 0x7FFFFFFFFFFFFFFF)  # turned round, to see whether anybody minds


def reason_of(states: States, put: Put, trial: Trial) -> str:
    """The first that holds; nothing when none was shown. `trial` is what the same branches did."""
    return next((words for words, holds in _REASONS.items() if holds(states, put, trial)), "")


def weakest(reasons: Iterable[str]) -> str:
    """Of several instances of a race: what is not said of all that may be stored there, or less."""
    return max(reasons, key=lambda reason: [*OF_ALL_VALUES, reason].index(reason))


def _regions(states: States) -> list[tuple[Region | None, Region | None]]:
    flip, control = states.flip, states.control
    return [(flip.first, control.first), (flip.second, control.second)]


def _sides(states: States) -> tuple[Access, Access, Access, Access] | None:
    """The accesses of the pair: flip's first and second, control's first and second."""
    regions = (states.flip.first, states.flip.second, states.control.first, states.control.second)
    racing = [region.accesses[region.racing] for region in regions if region is not None]
    return (racing[0], racing[1], racing[2], racing[3]) if len(racing) == len(regions) else None


def _is_redundant(states: States, *_: object) -> bool:
    """Each side has the same value in both orders, and it is the one of the other side."""
    sides = _sides(states)
    if sides is None or not states.is_same:
        return False
    one, other, first, second = sides
    same_bytes = one[1:3] == other[1:3]
    return same_bytes and one == first and other == second and one[3] == other[3]


def _is_checked_twice(states: States, *_: object) -> bool:
    return any(_looks_again(one, other) for one, other in _regions(states))


def _is_ad_hoc(states: States, put: Put, _: Trial) -> bool:
    """Whichever of the orders shows the old value first; who never sees the new one waits for ever.

    Else it gives up some day, and goes on without what it waited for.
    """
    arms = {Arm.CONTROL: _regions(states), Arm.FLIP: [pair[::-1] for pair in _regions(states)]}
    waits = [(arm, pair) for arm, pairs in arms.items() for pair in pairs if _looks_until(*pair)]
    return bool(waits) and all(put(arm, _seen(*pair)).ending in _NEVER_ENDS for arm, pair in waits)


_NEVER_ENDS = (Ending.HANG, Ending.DEADLOCK, Ending.BUDGET)


def _is_statistics(states: States, put: Put, trial: Trial) -> bool:
    """In either order: who loads first may go on with anything, and who loads last not."""
    arms = {Arm.CONTROL: trial.control, Arm.FLIP: trial.flip}
    return _sides(states) is not None and all(
        _does_the_same(put(arm, bits), outcome) for arm, outcome in arms.items() for bits in _BITS
    )


def _is_disjoint(states: States, put: Put, trial: Trial) -> bool:
    """Who loads does the same whatever bits the other side has changed; the others do matter.

    Those that were changed are turned round for good, too: a flag may be looked at again.
    """
    changed = next(filter(None, (_unused(one, other) for one, other in _regions(states))), 0)
    others = _BITS[-1] & ~changed
    return (
        changed != 0
        and _does_the_same(put(Arm.CONTROL, changed), trial.control)
        and _does_the_same(put(Arm.FLIP, changed), trial.flip)
        and not _does_the_same(put(Arm.CONTROL, others), trial.control)
    )


def _are_both_valid(states: States, *_: object) -> bool:
    sides = _sides(states)
    return sides is not None and _sees_another(*sides)


_REASONS: dict[str, Callable[[States, Put, Trial], bool]] = {
    REDUNDANT: _is_redundant,
    DOUBLE_CHECK: _is_checked_twice,
    AD_HOC: _is_ad_hoc,
    STATISTICS: _is_statistics,
    DISJOINT: _is_disjoint,
    BOTH_VALID: _are_both_valid,
}


# --- of one thread in both orders


def _unused(one: Region | None, other: Region | None) -> int:
    """Bits of the same bytes that were loaded otherwise, when all else that it does is the same."""
    if one is None or other is None:
        return 0
    old, new = one.accesses[one.racing], other.accesses[other.racing]
    rest, twin = list(one.accesses), list(other.accesses)
    del rest[one.racing], twin[other.racing]
    same_bytes = old[1:3] == new[1:3]  # of a text, how far it is read depends on what is there
    return old[3] ^ new[3] if old[0] not in STORES and same_bytes and rest == twin else 0


def _looks_again(one: Region | None, other: Region | None) -> bool:
    """It loaded another value in the other order, and in one of them made sure."""
    if one is None or other is None:
        return False
    access, twin = one.accesses[one.racing], other.accesses[other.racing]
    return access[0] not in STORES and access[3] != twin[3] and (one.again or other.again)


def _looks_until(one: Region | None, other: Region | None) -> bool:
    """In one order it loads these bytes until they are as in the other, and goes on as there."""
    if one is None or other is None:
        return False
    looks, then = one.accesses[one.racing :], other.accesses[other.racing :]
    turned = next((n for n, access in enumerate(looks) if access == then[0]), 0)
    only_looks = looks[0][0] not in STORES and set(looks[:turned]) == {looks[0]}
    return turned > 0 and only_looks and looks[turned:] == then


def _seen(one: Region | None, other: Region | None) -> int:
    """Bits that tell the old value from the new."""
    values = [region.accesses[region.racing][3] for region in (one, other) if region is not None]
    return values[0] ^ values[-1]


def _sees_another(one: Access, other: Access, first: Access, second: Access) -> bool:
    pairs = ((one, first), (other, second))
    return any(a[0] not in STORES and a[3] != b[3] for a, b in pairs)


def _does_the_same(one: Outcome, other: Outcome) -> bool:
    ends = (one.ending, one.code, one.complaints) == (other.ending, other.code, other.complaints)
    return ends and dict(one.output) == dict(other.output)
