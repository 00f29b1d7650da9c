# SPDX-License-Identifier: Apache-2.0
"""The states that both orders of a pair lead to, compared and named.

Near the pair this is the criterion of Narayanasamy et al. (2007): what both threads have seen and
stored when each has come to its next synchronisation. At the end it is what stands in memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby, islice
from typing import NamedTuple

from eitherway.find.confirm import Traced, Tracer
from eitherway.judge.trial import Trial
from eitherway.model.described import Described
from eitherway.model.outcome import Ending
from eitherway.model.words import Arm
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of
from eitherway.worlds.threads.left_compared import Compared, Spot, compared
from eitherway.worlds.threads.left_memory import WORD
from eitherway.worlds.threads.live_out import Left, Region, differing, left_by
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

NAMED = 3  # places that differ, in a sentence
_STEPS = 1 << 14  # behind the cut, that are looked at of a branch that has more
_TO_END = (1 << 64) - 1
_CELL = 4  # bytes of variables that are named together: most fields have so many, or more
_ASKED = 1000  # times, until names are given up: one variable may have many bytes


@dataclass(frozen=True, slots=True)
class States:
    """What differs between the orders, some of it by name; None: it could not be compared."""

    near: tuple[str, ...] | None
    end: tuple[str, ...] | None
    flip: Left
    control: Left
    unseen: bool = False  # memory differs at the end where no access says why
    by_stores: bool = False  # at the end only what was seen being stored was compared


def states_of(tracer: Tracer, branches: Branches, pair: Pair, trial: Trial) -> States | None:
    """Of the continuation in which the first thread goes on; None: a branch does not repeat, or
    had to be stopped.

    `trial` is what it did before. Of long branches only the beginning is looked at.
    """
    cut = pair.first.step
    stop = cut + _STEPS if max(trial.flip.steps, trial.control.steps) - cut > _STEPS else _TO_END
    request = TraceRequest(Depth.VALUES, start=cut, stop=stop, left=stop == _TO_END)

    def ran(arm: Arm) -> _Arm | None:
        """None: it does not do what it did before, or had to be stopped."""
        before = trial.flip if arm is Arm.FLIP else trial.control
        if before.ending is Ending.BUDGET:
            return None
        done, traced = tracer.traced(partial(branches.traced, Spec(pair, arm, 0), request))
        outcome = outcome_of(done)
        if (outcome.ending, outcome.steps) != (before.ending, before.steps):
            return None
        if traced.events.values is None:  # something ended it before they were written
            return None
        return _Arm(traced, left_by(traced.events, pair, cut, whole=stop == _TO_END))

    flip = ran(Arm.FLIP)
    control = flip and ran(Arm.CONTROL)
    if flip is None or control is None:
        return None
    memory = compared(flip.left.memory, control.left.memory)
    spots = _stored(flip, control, memory)
    alike = (trial.flip.ending, trial.flip.code) == (trial.control.ending, trial.control.code)
    twin = partial(ran, Arm.CONTROL)
    # What an exit does, and a crash does not, is not what the two have stored.
    unseen = _unseen(flip, control, memory, spots or (), twin) if memory and alike else []
    near = _near(flip, control)
    end = None if spots is None and memory is None else _end(flip, control, spots or (), unseen)
    by_stores = spots is not None and memory is None
    return States(near, end, flip.left, control.left, unseen=bool(unseen), by_stores=by_stores)


class _Arm(NamedTuple):
    traced: Traced
    left: Left

    def names(self, spots: Iterable[Spot]) -> Iterator[str]:
        """Of those that were stored here."""
        stored = self.left.stored
        for event in sorted({stored[s] for s in spots if s in stored}):
            yield _name(self.traced, event)

    def bytes(self, spots: Iterable[Spot]) -> set[int]:
        """Addresses of all that those who stored there stored."""
        stores = sorted({self.left.stored[s] for s in spots if s in self.left.stored})
        rows = self.traced.events.events[stores]
        ranges = zip(rows["address"].tolist(), rows["size"].tolist(), strict=True)
        return {byte for at, size in ranges for byte in range(at, at + size)}

    def names_at(self, addresses: Iterable[int]) -> Iterator[str]:
        """Of what lies there at the end: of variables each part, which may be of several."""
        for low, high in islice(_stretches(addresses), _ASKED):
            described = self.traced.at_end(low, high - low)
            if not described.variable:
                yield _words(described)
                continue
            for at in islice(range(low & -_CELL, high, _CELL), _ASKED):
                first, last = max(low, at), min(high, at + _CELL)
                yield _words(self.traced.at_end(first, last - first))


def _stretches(addresses: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Bytes that lie side by side, in order."""
    for _, each in groupby(enumerate(sorted(addresses)), key=lambda pair: pair[1] - pair[0]):
        part = [address for _, address in each]
        yield part[0], part[-1] + 1


def _words(described: Described) -> str:
    if described.variable:
        return f"'{described.variable}'"
    part = f"{described.part} of " if described.part else ""
    return f"{part}{described.object}" if described.object else "memory"


def _near(flip: _Arm, control: _Arm) -> tuple[str, ...] | None:
    one, other = flip.left, control.left
    regions = (one.first, one.second, other.first, other.second)
    if any(region is None or region.open for region in regions):
        return None
    pairs = ((one.first, other.first), (one.second, other.second))
    seen = [access for mine, theirs in pairs for access in _apart(mine, theirs)]
    spots = differing(one.near, other.near)
    names = (_named_at(flip.traced, access[1]) for access in seen)
    return _few(chain(flip.names(spots), control.names(spots), names))


def _apart(one: Region | None, other: Region | None) -> list[tuple[int, int, int, int]]:
    """The first access in which two regions are not the same."""
    mine, theirs = (one.accesses if one else ()), (other.accesses if other else ())
    for access, twin in zip(mine, theirs, strict=False):
        if access != twin:
            return [access]
    longer = max(mine, theirs, key=len)
    return [longer[min(len(mine), len(theirs))]] if len(mine) != len(theirs) else []


def _stored(flip: _Arm, control: _Arm, memory: Compared | None) -> list[Spot] | None:
    """Bytes that differ at the end by what was stored; None: that is too much.

    Memory itself knows better: to store what was there already changes nothing.
    """
    one, other = flip.left.end, control.left.end
    if one is None or other is None:
        return None
    spots = differing(one, other)
    if memory is None:
        return spots
    return [spot for spot in spots if spot in memory.differs or not memory.knows(spot)]


def _unseen(
    flip: _Arm,
    control: _Arm,
    memory: Compared,
    spots: Sequence[Spot],
    again: Callable[[], _Arm | None],
) -> list[int]:
    """Where memory differs and no store that was seen says so.

    What the recorded order does not leave alike when it is done again says nothing.
    """
    mine, theirs = flip.bytes(spots), control.bytes(spots)
    found = {
        spot: one
        for spot, (one, other) in memory.differs.items()
        if one not in mine and other not in theirs
    }
    if not found:
        return []
    twin = again()
    noise = compared(control.left.memory, twin.left.memory) if twin else None
    if noise is None:
        return []
    words = {_word(spot) for spot in noise.differs}  # a random word may have a byte in common
    return [at for spot, at in found.items() if _word(spot) not in words]


def _word(spot: Spot) -> Spot:
    return spot[0], spot[1] // WORD


def _end(
    flip: _Arm, control: _Arm, spots: Sequence[Spot], unseen: Iterable[int]
) -> tuple[str, ...]:
    return _few(chain(flip.names(spots), control.names(spots), flip.names_at(unseen)))


def _named_at(traced: Traced, address: int) -> str:
    rows = traced.events.events
    for number in (rows["address"] == address).nonzero()[0].tolist():
        return _name(traced, number)
    return "memory"


def _name(traced: Traced, event: int) -> str:
    side = traced.side(event)
    if side.variable:
        return f"'{side.variable}'"
    return f"{side.part} of {side.object}" if side.part and side.object else side.object or "memory"


def _few(names: Iterable[str]) -> tuple[str, ...]:
    """One more than are told: to find a name takes longer than a branch."""
    few: dict[str, None] = {}
    for name in names:
        few[name] = None
        if len(few) > NAMED:
            break
    return tuple(few)


def told(states: States | None) -> tuple[str, ...]:
    """In sentences."""
    if states is None:
        return ()
    lines = (_near_words(states.near), _end_words(states.end), BY_STORES * states.by_stores)
    return tuple(filter(None, lines))


SAME_NEAR = "When both threads have come to their next synchronisation, the state is the same."
DIFFERS_NEAR = "When both threads have come to their next synchronisation, the state differs: "
BY_STORES = "At the end, memory itself could not be compared: only stores that were seen are."


def _near_words(names: tuple[str, ...] | None) -> str:
    if names is None:
        return ""
    return DIFFERS_NEAR + _listed(names) if names else SAME_NEAR


def _end_words(names: tuple[str, ...] | None) -> str:
    if names is None:
        return "What is in memory at the end was not compared: too much was stored."
    return f"At the end, memory differs: {_listed(names)}" if names else ""


def _listed(names: tuple[str, ...]) -> str:
    rest = " and more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{rest}."
