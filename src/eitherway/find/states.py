# SPDX-License-Identifier: Apache-2.0
"""The states that both orders of a pair lead to, compared and named.

Near the pair this is the criterion of Narayanasamy et al. (2007): what both threads have stored and
what they hold when each has come to its next synchronisation. At the end it is what stands in
memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, groupby, islice
from typing import NamedTuple

from eitherway.find.confirm import Traced, Tracer
from eitherway.find.held_words import words_of
from eitherway.judge.trial import Trial
from eitherway.model.described import Described
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Arm
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of
from eitherway.worlds.threads.held import Apart, apart
from eitherway.worlds.threads.left_compared import Compared, Spot, compared
from eitherway.worlds.threads.left_memory import WORD
from eitherway.worlds.threads.live_out import Access, Left, Region, differing, left_by
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

NAMED = 3  # places that differ, in a sentence
_STEPS = 1 << 14  # behind the cut, that are looked at of a branch that has more
_TO_END = (1 << 64) - 1
_CELL = 4  # bytes of variables that are named together: most fields have so many, or more
_ASKED = 1000  # times, until names are given up: one variable may have many bytes


@dataclass(frozen=True)
class States:
    """What differs between the orders; names take longer than the branches, and are found late."""

    arms: "tuple[_Arm, _Arm]"  # flip and control
    stored: Sequence[Spot] | None  # bytes that differ at the end by stores; None: too many
    unseen: Sequence[int] | None  # and in memory where no store says why; None: not compared
    is_known: bool  # memory itself, at the end of both

    @property
    def flip(self) -> Left:
        """What it left."""
        return self.arms[0].left

    @property
    def control(self) -> Left:
        """What it left."""
        return self.arms[1].left

    @property
    def is_same(self) -> bool:
        """Near the pair, and in memory that nobody was seen to store to."""
        near = self._near
        return near is not None and not any((near.spots, near.seen, near.held, self.unseen))

    @cached_property
    def _near(self) -> "_Near | None":
        return _near(*self.arms)

    @property
    def has_seen_the_same(self) -> bool:
        """Both threads, near the pair."""
        return self._near is not None and not self._near.seen

    @property
    def by_loads(self) -> bool:
        """What the threads loaded stands near the pair for what they hold.

        Something of it may be where nobody looks: where code without hooks has stored it, in what
        libc is about to write, in the kernel.
        """
        near = self._near
        if near is None or near.held or not near.seen:
            return False
        return near.held is None or self.unseen != [] or not self._go_on_alike

    @property
    def _go_on_alike(self) -> bool:
        one, other = (arm.outcome for arm in self.arms)
        return (_ends(one), one.output, one.steps) == (_ends(other), other.output, other.steps)

    @cached_property
    def near(self) -> tuple[str, ...] | None:
        """Some names; None: it could not be compared."""
        flip, control = self.arms
        found = self._near
        if found is None:
            return None
        loaded = found.seen if self.by_loads else ()
        names = (_named_at(flip.traced, access[1]) for access in loaded)
        held = map(words_of, found.held or ())
        return _few(chain(flip.names(found.spots), control.names(found.spots), names, held))

    @cached_property
    def end(self) -> tuple[str, ...] | None:
        """The same of the end."""
        flip, control = self.arms
        if self.stored is None and self.unseen is None:
            return None
        stored = self.stored or ()
        return _few(
            chain(flip.names(stored), control.names(stored), flip.names_at(self.unseen or ()))
        )


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
        left = left_by(traced.events, pair, cut, whole=stop == _TO_END)
        return _Arm(traced, left, outcome)

    flip = ran(Arm.FLIP)
    control = flip and ran(Arm.CONTROL)
    if flip is None or control is None:
        return None
    memory = compared(flip.left.memory, control.left.memory)
    stored = _stored(flip, control, memory)
    unseen = None
    # What an exit does, and a crash does not, is not what the two have stored.
    if memory and _ends(trial.flip) == _ends(trial.control):
        unseen = _unseen(flip, control, memory, stored or (), partial(ran, Arm.CONTROL))
    return States((flip, control), stored, unseen, is_known=memory is not None)


def _ends(outcome: Outcome) -> tuple[Ending, int]:
    return outcome.ending, outcome.code


class _Arm(NamedTuple):
    traced: Traced
    left: Left
    outcome: Outcome

    def names(self, spots: Iterable[Spot]) -> Iterator[str]:
        """Of those that were stored here."""
        stored = self.left.stored
        for event in sorted({stored[s] for s in spots if s in stored}):
            yield _words(self.traced.about(event))

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


class _Near(NamedTuple):
    """What differs behind both regions."""

    spots: list[Spot]
    seen: list[Access]  # of the two threads
    held: list[Apart] | None  # None: it is not known


def _near(flip: _Arm, control: _Arm) -> _Near | None:
    """None: a region has no end."""
    one, other = flip.left, control.left
    regions = (one.first, one.second, other.first, other.second)
    if any(region is None or region.open for region in regions):
        return None
    pairs = ((one.first, other.first), (one.second, other.second))
    seen = [access for mine, theirs in pairs for access in _apart(mine, theirs)]
    held = [_held(mine, theirs) for mine, theirs in pairs if mine and theirs]
    known = [apart for each in held for apart in each or ()]
    return _Near(differing(one.near, other.near), seen, None if None in held else known)


def _held(one: Region, other: Region) -> list[Apart] | None:
    """The innermost frame first."""
    if one.held is None or other.held is None:
        return None
    return list(apart(one.held, other.held, (*one.stored, *other.stored)))[::-1]


def _apart(one: Region | None, other: Region | None) -> list[Access]:
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


def _named_at(traced: Traced, address: int) -> str:
    rows = traced.events.events
    for number in (rows["address"] == address).nonzero()[0].tolist():
        return _words(traced.about(number))
    return "memory"


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
    near = (
        NOTHING_LEFT
        if states.near == () and not states.has_seen_the_same
        else _near_words(states.near)
    )
    lines = [near, BY_LOADS if states.by_loads else "", _end_words(states.end)]
    if states.stored is not None and not states.is_known:
        lines.append(BY_STORES)
    return tuple(filter(None, lines))


SAME_NEAR = "When both threads have come to their next synchronisation, the state is the same."
DIFFERS_NEAR = "When both threads have come to their next synchronisation, the state differs: "
NOTHING_LEFT = (
    "When both threads have come to their next synchronisation, nothing is left of values that "
    "were loaded otherwise: memory, registers and stacks are the same."
)
BY_LOADS = "Not all of that state can be compared: what the threads loaded stands for the rest."
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
