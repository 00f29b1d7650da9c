# SPDX-License-Identifier: Apache-2.0
"""A run done again with a tracer around it."""

import tempfile
from pathlib import Path

from eitherway.model.trace import Trace
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events, trace_of
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import Ran, run


def traced(recorded: Recorded) -> tuple[Trace, Ran]:
    """Every operation of the run, and what the run did this time."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        ran = run(recorded.launch, replay=recorded.ran, trace=Path(name))
        with Recording.open(name) as events:
            return trace_of(Events.read(events)), ran
