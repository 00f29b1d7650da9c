# SPDX-License-Identifier: Apache-2.0
"""The states that both orders of a pair lead to, compared and named.

Near the pair this is the criterion of Narayanasamy et al. (2007): what both threads have seen and
stored when each has come to its next synchronisation. At the end it is what stands in memory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

from eitherway.find.confirm import Traced, Tracer
from eitherway.judge.trial import Trial
from eitherway.model.outcome import Ending
from eitherway.model.words import Arm
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of
from eitherway.worlds.threads.live_out import Left, Region, Spot, differing, left_by
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

NAMED = 3  # places that differ, in a sentence
_STEPS = 1 << 14  # behind the cut, that are looked at of a branch that has more
_TO_END = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class States:
    """What differs between the orders, some of it by name; None: it could not be compared."""

    near: tuple[str, ...] | None
    end: tuple[str, ...] | None
    flip: Left
    control: Left


def states_of(tracer: Tracer, branches: Branches, pair: Pair, trial: Trial) -> States | None:
    """Of the continuation in which the first thread goes on; None: a branch does not repeat, or
    had to be stopped.

    `trial` is what it did before. Of long branches only the beginning is looked at.
    """
    cut = pair.first.step
    stop = cut + _STEPS if max(trial.flip.steps, trial.control.steps) - cut > _STEPS else _TO_END
    request = TraceRequest(Depth.VALUES, start=cut, stop=stop)
    arms = []
    for arm, before in ((Arm.FLIP, trial.flip), (Arm.CONTROL, trial.control)):
        if before.ending is Ending.BUDGET:
            return None
        run = partial(branches.traced, Spec(pair, arm, 0), request)
        ran, traced = tracer.traced(run)
        outcome = outcome_of(ran)
        if (outcome.ending, outcome.steps) != (before.ending, before.steps):
            return None
        if traced.events.values is None:  # something ended it before they were written
            return None
        arms.append(_Arm(traced, left_by(traced.events, pair, cut, whole=stop == _TO_END)))
    flip, control = arms
    return States(_near(flip, control), _end(flip, control), flip.left, control.left)


class _Arm(NamedTuple):
    traced: Traced
    left: Left

    def names(self, spots: Iterable[Spot]) -> Iterator[str]:
        """Of those that were stored here."""
        stored = self.left.stored
        for event in sorted({stored[s] for s in spots if s in stored}):
            yield _name(self.traced, event)


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


def _end(flip: _Arm, control: _Arm) -> tuple[str, ...] | None:
    if flip.left.end is None or control.left.end is None:
        return None
    spots = differing(flip.left.end, control.left.end)
    return _few(chain(flip.names(spots), control.names(spots)))


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
    return tuple(line for line in (_near_words(states.near), _end_words(states.end)) if line)


SAME_NEAR = "When both threads have come to their next synchronisation, the state is the same."
DIFFERS_NEAR = "When both threads have come to their next synchronisation, the state differs: "


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
