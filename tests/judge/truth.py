# SPDX-License-Identifier: Apache-2.0
"""What is true of a program as a whole: the outcomes of its schedules, enumerated.

When all do the same, no race is worse than harmless; when some end otherwise, one of the races, or
something that is no race, is the cause.
"""

from functools import partial
from time import monotonic

from eitherway.find.confirm import Tracer
from eitherway.find.sides import racing_places
from eitherway.model.words import Class
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.exhaustive import SCHEDULER, Search, growing
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.guide import End, Guidance
from eitherway.worlds.threads.run import Ran

LIMIT = 60  # decisions of a run: beyond that, somebody spins


def truth_of(
    explorer: Explorer, tracer: Tracer, bounds: range, seconds: float = float("inf")
) -> Class:
    """The worst that schedules with so many preemptions show, as far as there is time."""

    def run(guidance: Guidance) -> Ran:
        return explorer.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

    until = monotonic() + seconds
    ways, outputs = set(), set()
    for item in growing(Search(run, partial(racing_places, tracer), limit=LIMIT), bounds):
        if isinstance(item, Ran) and item.shown.end is End.ITSELF:
            outcome = outcome_of(item)
            ways.add((outcome.ending, outcome.code, outcome.complaints))
            outputs.add(tuple(sorted(outcome.output.items())))
        if monotonic() > until:
            break
    if len(ways) > 1:
        return Class.SPEC_VIOLATED
    return Class.OUTPUT_DIFFERS if len(outputs) > 1 else Class.K_WITNESS_HARMLESS
