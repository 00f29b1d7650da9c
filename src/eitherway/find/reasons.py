# SPDX-License-Identifier: Apache-2.0
"""Why a race was not seen to do harm: told only where something could have refuted it.

Each sort has a control of its own: values and bits as both orders left them, what the threads did
behind the pair, or branches in which something else is put where the two meet.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from eitherway.find.states import States
from eitherway.judge.trial import Trial, same_output
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import STORES, Arm
from eitherway.worlds.threads.live_out import Access, Region


class Put(Protocol):
    """Runs one order with these bits turned round where the two meet."""

    def __call__(self, arm: Arm, bits: int, *, patient: bool = False) -> Outcome:
        """Stopped soon after it would have ended without that; `patient`: when a hang would be."""


REDUNDANT = "redundant write: in either order the same value is stored and seen"
DOUBLE_CHECK = "double check: who may have seen an old value takes a lock and looks again"
AD_HOC = "ad-hoc synchronisation: who sees the old value looks again until it is the new one"
STATISTICS = "statistics only: when other values are put there, nothing else is seen from outside"
DISJOINT = "disjoint bits: who loads looks at bits that the other side leaves as they are"
BOTH_VALID = "both values are valid: one side sees another value, and goes on as well with it"
OF_ALL_VALUES = (REDUNDANT, STATISTICS)  # of which one says more than the next
_SEES_ANOTHER = {BOTH_VALID, DOUBLE_CHECK, DISJOINT}
OF_ONE = ("", BOTH_VALID, AD_HOC)  # another instance would not say more
_SINGLE = 16  # bits that are turned round one by one
_BITS = (1, 0xFF, 0x7FFFFFFFFFFFFFFF)  # turned round, to see whether anybody minds


def reason_of(states: States, put: Put, trial: Trial) -> str:
    """The first that holds; nothing when none was shown. `trial` is what the same branches did."""
    return next((words for words, holds in _REASONS.items() if holds(states, put, trial)), "")


def weakest(reasons: Iterable[str]) -> str:
    """Of several instances of a race: what is not said of all that may be stored there, or less.

    Where each needs another one, they have in common at most that another value is seen.
    """
    different = set(reasons)
    special = different.difference(OF_ALL_VALUES)
    if len(special) > 1:
        return BOTH_VALID if BOTH_VALID in special <= _SEES_ANOTHER else ""
    return special.pop() if special else max(different, key=OF_ALL_VALUES.index)


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
    """Who comes first sees the old value; the other has the lock under which it looks again."""
    flip, control = states.flip, states.control
    return _looks_again(control.first, flip.first, control.second) or _looks_again(
        flip.second, control.second, flip.first
    )


def _is_ad_hoc(states: States, put: Put, _: Trial) -> bool:
    """Whichever of the orders shows the old value first; who never sees the new one waits for ever.

    Else it gives up some day, and goes on without what it waited for: that must be proven.
    """
    arms = {Arm.CONTROL: _regions(states), Arm.FLIP: [pair[::-1] for pair in _regions(states)]}
    waits = [(arm, pair) for arm, pairs in arms.items() for pair in pairs if _looks_until(*pair)]
    return bool(waits) and all(
        put(arm, _seen(*pair), patient=True).ending in (Ending.HANG, Ending.DEADLOCK)
        for arm, pair in waits
    )


def _is_statistics(states: States, put: Put, trial: Trial) -> bool:
    """In either order: who loads first may go on with anything, and who loads last not."""
    arms = {Arm.CONTROL: trial.control, Arm.FLIP: trial.flip}
    return _sides(states) is not None and all(
        _does_the_same(put(arm, bits), outcome) for arm, outcome in arms.items() for bits in _BITS
    )


def _is_disjoint(states: States, put: Put, trial: Trial) -> bool:
    """Who loads does the same whatever bits the other side has changed; the others do matter.

    Those that were changed are turned round for good, too: a flag may be looked at again. Each of
    them is, by itself: who knows both values may know no third. And they say nothing whatever the
    others are: who compares the whole may need only one of those to mind.
    """
    changed = next(filter(None, (_unused(one, other) for one, other in _regions(states))), 0)
    others = _BITS[-1] & ~changed
    return (
        changed != 0
        and all(
            _does_the_same(put(Arm.CONTROL, bits), trial.control)
            and _does_the_same(put(Arm.FLIP, bits), trial.flip)
            for bits in dict.fromkeys((changed, *_each(changed)))
        )
        and not _does_the_same(put(Arm.CONTROL, others), trial.control)
        and all(
            _does_the_same(put(Arm.CONTROL, bits), put(Arm.CONTROL, bits | changed))
            for bits in (others, *_single(others))
        )
    )


def _each(bits: int) -> list[int]:
    """The lowest ones that are set, each by itself."""
    found = [1 << number for number in range(bits.bit_length()) if bits >> number & 1]
    return found[:_SINGLE]


def _single(bits: int) -> list[int]:
    """Those among the lowest of all, each by itself."""
    return [1 << number for number in range(_SINGLE) if bits >> number & 1]


def _are_both_valid(states: States, put: Put, _: Trial) -> bool:
    """Who sees the old value does not wait for the new one: without that it comes to its end."""
    if _sides(states) is None:
        return False
    arms = zip((Arm.FLIP, Arm.CONTROL), _regions(states), strict=True)  # that show the new one
    bits = [(arm, _seen(*pair)) for arm, pair in arms if _sees_another(*pair)]
    return bool(bits) and all(put(*one).ending not in _GOES_ON for one in bits)


_GOES_ON = (Ending.HANG, Ending.DEADLOCK, Ending.BUDGET)


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


def _looks_again(old: Region | None, new: Region | None, writer: Region | None) -> bool:
    """It loaded another value in the other order, and makes sure of the old one."""
    if old is None or new is None or writer is None:
        return False
    access, twin = old.accesses[old.racing], new.accesses[new.racing]
    return access[0] not in STORES and access[3] != twin[3] and old.again in writer.locks


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


def _sees_another(one: Region | None, other: Region | None) -> bool:
    """It loads, and another value in the other order."""
    loads = one is not None and one.accesses[one.racing][0] not in STORES
    return loads and _seen(one, other) != 0


def _does_the_same(one: Outcome, other: Outcome) -> bool:
    ends = (one.ending, one.code, one.complaints) == (other.ending, other.code, other.complaints)
    return ends and same_output(one, other)
