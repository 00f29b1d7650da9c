# SPDX-License-Identifier: Apache-2.0
"""The races of one traced run, each as often as the run shows it."""

from collections import defaultdict
from typing import NamedTuple

from eitherway.detect import detect_all
from eitherway.detect.instances import instances
from eitherway.find.confirm import ACCESSES, Traced
from eitherway.model.finding import FoundOperation, Frame
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.worlds.threads.branch import Pair
from eitherway.worlds.threads.places import places_of

_FAR = 1 << 20  # steps: every access between the two is looked at in each branch


class Instance(NamedTuple):
    """Where a run shows a race."""

    pair: Pair
    sides: tuple[FoundOperation, ...]

    @property
    def places(self) -> tuple[Frame, ...]:
        """In the code, of both sides."""
        return tuple(side.place for side in self.sides)


Told = tuple[Race, tuple[FoundOperation, ...]]


class Racing:
    """Found once for all findings of the run."""

    def __init__(self, traced: Traced) -> None:
        races = detect_all(traced.trace, ACCESSES)
        self._traced = traced
        self.events = traced.events
        self._order = Order.of(traced.trace)
        self._of: defaultdict[str, list[Told]] = defaultdict(list)
        self._proofs: dict[str, tuple[str, ...]] = {}
        for race, finding in zip(races, traced.findings(races, history=False), strict=True):
            if len(race.operations) == 2:
                self._of[finding.id].append((race, finding.operations))
                self._proofs.setdefault(finding.id, finding.explanation)
        self.operations = {operation for race in races for operation in race.operations}
        self.places = places_of(traced.events, self.operations)

    @property
    def numbers(self) -> list[str]:
        """Ids of the races, in the order in which they are told."""
        return list(self._of)

    def proof(self, number: str) -> tuple[str, ...]:
        """That nothing orders the two of the race of that id; empty when the run has none."""
        return self._proofs.get(number, ())

    def instances(self, number: str, limit: int, *, of_stores: bool = False) -> list[Instance]:
        """Of the race of that id; first one for each pair of places, then more of them in turn.

        Behind the first, those that are very far apart are left out; `of_stores`: and those in
        which the earlier access does not store.
        """
        told = [
            [Instance(Pair.of(self._traced.events, *pair), sides) for pair in pairs]
            for race, sides in self._of[number]
            if (pairs := instances(self._order, race, limit, of_stores=of_stores))
        ]
        in_turn = [each[turn] for turn in range(limit) for each in told if turn < len(each)]
        return [*in_turn[:1], *(one for one in in_turn[1:limit] if one.pair.apart <= _FAR)]
