# SPDX-License-Identifier: Apache-2.0
"""Where both sides of the races of a run are: while it runs, only the later one is known."""

from eitherway.detect import detect_all
from eitherway.find.confirm import ACCESSES, Tracer
from eitherway.worlds.threads.places import Places, places_of
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import TraceRequest


def racing_places(tracer: Tracer, ran: Ran) -> Places:
    """The places of all accesses that race in the run, from its trace."""
    traced = tracer.trace(ran, TraceRequest())
    races = detect_all(traced.trace, ACCESSES)
    return places_of(traced.events, {number for race in races for number in race.operations})
