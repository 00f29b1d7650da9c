# SPDX-License-Identifier: Apache-2.0
"""Other runs that may show a race: what came before the two may decide what their order does.

In the recorded run a thread may have seen already what makes their order matter no more. So the
accesses of that run that race are put in other orders, with the same input from outside.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random

from eitherway.model.outcome import Ending
from eitherway.worlds.threads.branch import outcome_of, why_not
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.places import Places
from eitherway.worlds.threads.policies import TURNS
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import Schedule
from eitherway.worlds.threads.turns import Turn, Turns, own_steps

RUNS = 12
_TO_END = (1 << 31) - 1

Cuts = dict[int, list[int]]  # of each thread: its own steps before each of its accesses


def other_runs(explorer: Explorer, ran: Ran, cuts: Cuts, places: Places) -> Iterator[Ran]:
    """Each of another schedule; the last may have had to be stopped, as more of them might."""
    known = {ran.schedule.hash}
    for seed in range(RUNS):
        turns = tuple(drawn(cuts, Random(seed)))  # noqa: S311  no secret
        guidance = Turns(turns).guidance(places)
        other = explorer.run(replay=ran, scheduler=TURNS, guidance=guidance, detect=True)
        ending = outcome_of(other).ending
        if ending is Ending.BUDGET:
            yield other
            return
        if not (other.schedule.hash in known or ending is Ending.BEYOND or why_not(other)):
            yield other
        known.add(other.schedule.hash)


def cuts_of(schedule: Schedule, events: Events, accesses: Iterable[int]) -> Cuts:
    """Right before each of these accesses, given by the numbers of their events."""
    cuts: Cuts = defaultdict(list)
    rows = events.events[sorted(accesses)]
    own = own_steps(schedule, rows["step"].tolist())
    for thread, steps in zip(rows["thread"].tolist(), own, strict=True):
        cuts[thread].append(steps)
    return dict(cuts)


def drawn(cuts: Cuts, draw: Random) -> Iterator[Turn]:
    """The first thread to its first cut, so that there are others; then who comes is drawn."""
    left = {thread: [*steps, _TO_END] for thread, steps in {0: [], **cuts}.items()}
    thread = 0
    while True:
        yield Turn(thread, left[thread].pop(0))
        left = {number: steps for number, steps in left.items() if steps}
        if not left:
            return
        thread = draw.choice(sorted(left))
