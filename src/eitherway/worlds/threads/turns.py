# SPDX-License-Identifier: Apache-2.0
"""A schedule as turns of threads, each until its thread has come so far by its own steps.

So a turn can be left out, and what comes behind it keeps its meaning: the thread does that part in
its next turn. native/runtime/schedulers/turns.c runs them.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from eitherway.errors import Unavailable
from eitherway.worlds.threads.decisions import TIME_PASSES
from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.schedule import Schedule, SwitchKind

_MOST = (1 << 32) - 2  # the last turn ends one step later


class Turn(NamedTuple):
    """One thread goes on; or, with the number TIME_PASSES, nobody until something is due."""

    thread: int
    until: int = 0  # its own steps


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of a run, and which waiter a wake-up chose each time there were several."""

    turns: tuple[Turn, ...]
    picks: tuple[int, ...] = ()

    @classmethod
    def of(cls, schedule: Schedule) -> "Turns":
        """Those that a run had; of steps, the runtime is told 32 bits."""
        rows = schedule.switches
        if schedule.reached > _MOST:
            raise Unavailable(
                f"the turns of its threads cannot be told: it has {schedule.reached:,} steps, and "
                f"{_MOST:,} can be counted"
            )
        picks = rows["choice"][rows["kind"] == SwitchKind.WAITER]
        return cls(tuple(_turns(schedule)), tuple(picks.tolist()))

    def only(self, turns: list[Turn]) -> "Turns":
        """With these alone."""
        return replace(self, turns=tuple(turns))

    def guidance(self, places: Places = NOWHERE) -> Guidance:
        """As the runtime reads them."""
        told = [number for turn in self.turns for number in turn]
        return Guidance(places, prefix=(len(self.turns), *told, *self.picks))


def _turns(schedule: Schedule) -> Iterator[Turn]:
    own: Counter[int] = Counter()
    running, since = 0, 0
    for steps, choice, kind in schedule.switches.tolist():
        passes = kind == SwitchKind.TIME and choice == 1  # nobody was to go on until then
        if kind != SwitchKind.THREAD and not passes:
            continue
        own[running] += steps - since
        since = steps
        yield Turn(running, own[running])
        if passes:
            yield Turn(TIME_PASSES)
        else:
            running = choice
    yield Turn(running, own[running] + max(schedule.reached - since, 0) + 1)


def own_steps(schedule: Schedule, at: Iterable[int]) -> Iterator[int]:
    """How far the thread had come by its own steps that ran at each of these, in their order."""
    own: Counter[int] = Counter()
    running, since = 0, 0
    rows = schedule.switches[schedule.switches["kind"] == SwitchKind.THREAD]
    switches = deque(zip(rows["steps"].tolist(), rows["choice"].tolist(), strict=True))
    for step in at:
        while switches and switches[0][0] <= step:
            steps, choice = switches.popleft()
            own[running] += steps - since
            running, since = choice, steps
        yield own[running] + step - since


def joined(turns: list[Turn], at: int) -> list[Turn] | None:
    """The turn at that place with what its thread does in its next one, if it has another."""
    thread = turns[at].thread
    later = (n for n in range(at + 1, len(turns)) if turns[n].thread == thread)
    if thread == TIME_PASSES or (following := next(later, None)) is None:
        return None
    return [*turns[:at], turns[following], *turns[at + 1 : following], *turns[following + 1 :]]
