# SPDX-License-Identifier: Apache-2.0
"""A run done again with a tracer around it, as deep as asked."""

from pathlib import Path

from eitherway.model.trace import Trace
from eitherway.recording.read import Recording
from eitherway.sandbox import scratch
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.trace_request import USUAL, Depth, TraceRequest, Where

__all__ = ["USUAL", "Depth", "TraceRequest", "Where", "events_of", "trace_into", "traced"]


def traced(
    recorded: Recorded, request: TraceRequest = USUAL, *, box: Sandbox | None = None
) -> tuple[Trace, Ran]:
    """What was asked for of the run, and what the run did this time."""
    events, ran = events_of(recorded, request, box=box)
    return trace_of(events), ran


def events_of(
    recorded: Recorded, request: TraceRequest = USUAL, *, box: Sandbox | None = None
) -> tuple[Events, Ran]:
    """The same before anything has a name."""
    with scratch.on_disk() as folder:
        ran = trace_into(folder.path, recorded, request, box=box)
        with Recording.open(folder.path) as events:
            return Events.read(events), ran


def trace_into(
    directory: Path,
    recorded: Recorded,
    request: TraceRequest = USUAL,
    *,
    box: Sandbox | None = None,
) -> Ran:
    """Fill an empty directory with what was asked for; its size grows with the operations told."""
    if box and box.dirty():
        box.reset()
    return run(recorded.launch, replay=recorded.ran, trace=directory, request=request, box=box)
