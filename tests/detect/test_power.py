# SPDX-License-Identifier: Apache-2.0
"""The comparison with the oracle has power: it notices each of these mistakes within few traces.

A mutant takes the place of a function or constant of the code under test. One that lives would mean
that the random traces never reach what it gets wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.detect import agreement
from tests.detect.programs import (
    ACCESSES,
    CONDITIONS,
    LOCKED,
    LOCKS,
    PROCESSES,
    TWO_ACTORS,
    TWO_LOCKS,
    WAKES,
    Recipe,
    seeded,
)

from eitherway.detect import (
    atomicity,
    deadlock,
    load_store,
    locks,
    lost_wakeup,
    meet,
    overlap,
    predicates,
    requests,
    wakes,
)
from eitherway.model.trace import Trace
from eitherway.model.words import OpFlag

TRACES = 400


@dataclass(frozen=True)
class Mutant:
    name: str
    module: ModuleType | type
    attribute: str
    value: Any
    check: Callable[[Trace], None]
    recipe: Recipe


def _search_equal(self: Any, seen: Any) -> None:
    for actor, latest in seen.by_actor.items():
        for side, item in latest.items():
            known = self.settled.setdefault(self.side, set())
            if actor != self.actor and self.number[item] >= self.clock[actor] and side not in known:
                self._settle(side, item)


def _never_open(front: dict[int, int], actor: int, clock: memoryview) -> bool:
    return any(n > clock[a] + 1 and a != actor for a, n in front.items())


def _whole_objects(ranges: Any) -> overlap.Overlaps:
    slots: list[overlap.Slots] = [(int(number),) for number in ranges["object"]]
    return overlap.Overlaps(slots, slots, int(ranges["object"].max(initial=0)) + 1)


def _equal_ranges(ranges: Any) -> overlap.Overlaps:
    slots: list[overlap.Slots] = [(i,) for i in range(len(ranges))]
    return overlap.Overlaps(slots, slots, len(ranges))


def _search_only_the_open(self: Any, slot: Any) -> None:
    for rival in self.sorts.meets[self.sorts.of_side[self.side]]:
        if rival in slot and meet._any_open(slot[rival].front, self.actor, self.clock):
            self._search(slot[rival])


def _first_number_wins(self: Any, seen: Any, actor: int) -> None:
    seen.front.setdefault(actor, self.number[self.item])
    seen.sides.add(self.side)
    seen.by_actor.setdefault(actor, {}).setdefault(self.side, self.item)


def _never_exclude(one: Any, other: Any) -> bool:
    return False


def _shared_excludes(one: Any, other: Any) -> bool:
    return bool({held.lock for held in one} & {held.lock for held in other})


def _no_repeats(group: Any, side: Any) -> Any:
    return np.zeros(len(group), dtype=bool)


def _any_call(trace: Any, one: Any, other: Any) -> Any:
    return np.ones(len(one), dtype=bool)


def _both_ends(one: Any, other: Any) -> Any:
    return other


def _at_most_once(takes: Any, group: Any) -> Any:
    before = np.r_[False, takes[:-1]] & (np.diff(group, prepend=-1) == 0)
    return before.astype(np.int64)


def _without_order(self: Any, one: int, other: int) -> bool:
    return True


def _one_is_enough(self: Any, steps: Any) -> bool:
    return steps not in self._touched


def _any_gates(locks: Any, operations: Any) -> Any:
    first = locks.at(operations[:1]).tolist()
    return np.zeros(len(operations), dtype=np.int64), dict(enumerate(first))


def _no_tree(nodes: Any, leaves: int) -> Any:
    return nodes[:0], nodes[:0]


def _no_partners(self: Any, operations: Any, since: Any, object_: Any) -> Any:
    return np.ones(len(operations), dtype=bool)


def _one_window(self: Any, begin: Any, end: Any, without: Any) -> Any:
    return iter([(begin, end)])


def _all_ranges(self: Any, one: Any, other: Any) -> bool:
    return True


def _never_noticed(self: Any, wake: int, begin: int) -> bool:
    return False


def _always_noticed(self: Any, wake: int, begin: int) -> bool:
    return self._mutex(begin) is not None


def _none_within(self: Any, slot: int, actor: int, wake: int, mutex: Any, theirs: Any) -> bool:
    first: int = self._first.get((actor, slot), wake)
    return bool(theirs) and first < wake


def _nothing_handed(self: Any, mutex: Any) -> Any:
    return ()


def _flag_ignored(trace: Any, operations: Any, flag: OpFlag) -> Any:
    return operations


LOAD_STORE, ATOMICITY = agreement.check_load_store, agreement.check_atomicity
DEADLOCK, LOST = agreement.check_deadlock, agreement.check_lost_wakeup
WAIT_WAKEUPS, WAKEUP_WAITS = agreement.check_wait_wakeups, agreement.check_wakeup_waits
EVERYTHING_MEETS = ((0, 1, 2, 3),) * 4
NO_ATOMICS = ((1, 3), (0, 1, 2, 3), (1, 3), (0, 1, 2, 3))
FAR_TOO_MUCH = ((0, 1, 2, 3),) * 4

MUTANTS = [
    Mutant("two loads race", load_store, "_MEETS", EVERYTHING_MEETS, LOAD_STORE, PROCESSES),
    Mutant("atomics race", load_store, "_MEETS", NO_ATOMICS, LOAD_STORE, ACCESSES),
    Mutant("loads replace stores", load_store, "_REPLACES", FAR_TOO_MUCH, LOAD_STORE, ACCESSES),
    Mutant("<= for <", meet._Walk, "_search", _search_equal, LOAD_STORE, ACCESSES),
    Mutant("off by one segment", meet, "_any_open", _never_open, LOAD_STORE, ACCESSES),
    Mutant("one front only", meet._Walk, "_look", _search_only_the_open, LOAD_STORE, ACCESSES),
    Mutant("first, not latest", meet._Walk, "_keep", _first_number_wins, LOAD_STORE, ACCESSES),
    Mutant("whole objects", meet, "overlaps", _whole_objects, LOAD_STORE, TWO_ACTORS),
    Mutant("equal ranges only", meet, "overlaps", _equal_ranges, LOAD_STORE, TWO_ACTORS),
    Mutant("no locks", atomicity, "exclude", _never_exclude, ATOMICITY, LOCKED),
    Mutant("readers exclude", atomicity, "exclude", _shared_excludes, ATOMICITY, LOCKED),
    Mutant("loops go on", atomicity, "_repeats", _no_repeats, ATOMICITY, LOCKED),
    Mutant("any function", atomicity, "_share_a_call", _any_call, ATOMICITY, LOCKED),
    Mutant("lock at the end only", atomicity, "_common", _both_ends, ATOMICITY, LOCKED),
    Mutant("locks do not nest", locks, "_depths", _at_most_once, ATOMICITY, LOCKED),
    Mutant("no gate locks", deadlock, "exclude", _never_exclude, DEADLOCK, LOCKS),
    Mutant("readers are gates", deadlock, "exclude", _shared_excludes, DEADLOCK, LOCKS),
    Mutant("no order", deadlock._Pairwise, "concurrent", _without_order, DEADLOCK, LOCKS),
    Mutant("short rings", deadlock, "LONGEST", 2, DEADLOCK, LOCKS),
    Mutant("told too early", deadlock._Told, "leaves_open", _one_is_enough, DEADLOCK, LOCKS),
    Mutant("gates of the first", requests, "_gates", _any_gates, DEADLOCK, LOCKS),
    Mutant("no inner nodes", requests, "_tree", _no_tree, DEADLOCK, LOCKS),
    Mutant("used up is there", wakes.Clocks, "not_before", _no_partners, WAIT_WAKEUPS, WAKES),
    Mutant("its own rival", wakes.Line, "_windows", _one_window, WAIT_WAKEUPS, WAKES),
    Mutant("had its own", wakes.Clocks, "not_before", _no_partners, WAKEUP_WAITS, WAKES),
    Mutant("any queue range", wakes.Board, "overlap", _all_ranges, WAKEUP_WAITS, WAKES),
    Mutant("no mutex", predicates.Predicates, "noticed", _never_noticed, LOST, CONDITIONS),
    Mutant("any mutex", predicates.Predicates, "noticed", _always_noticed, LOST, CONDITIONS),
    Mutant("store first only", predicates.Predicates, "_stored", _none_within, LOST, CONDITIONS),
    Mutant("one lock", predicates.Predicates, "_handed", _nothing_handed, LOST, TWO_LOCKS),
    Mutant("kept is lost", lost_wakeup, "_not_flagged", _flag_ignored, LOST, WAKES),
]


def killed(mutant: Mutant) -> bool:
    for seed in range(TRACES):
        try:
            mutant.check(seeded(mutant.recipe, seed, size=200))
        except (AssertionError, KeyError, IndexError):
            return True
    return False


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant.module, mutant.attribute, mutant.value)
    assert killed(mutant)


SOUND = {m.check.__name__: m for m in MUTANTS}


@pytest.mark.parametrize("name", sorted(SOUND))
def test_without_a_mistake_nothing_is_noticed(name: str) -> None:
    for seed in range(50):
        SOUND[name].check(seeded(SOUND[name].recipe, seed))
