# SPDX-License-Identifier: Apache-2.0
"""What the runtime finds in a run, and what the detectors say of the trace of the same run."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from eitherway.detect import CERTAIN, detect_all
from eitherway.findings.from_races import findings_of
from eitherway.model.finding import Finding, Source
from eitherway.model.trace import Table
from eitherway.model.words import Kind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.run import Ran, run

_ON_MEMORY = (Kind.DATA_RACE, Kind.MEMORY_ERROR)
RACE, USE_AFTER_FREE, DEADLOCK, DOUBLE_FREE, INVALID_FREE = 1, 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Looked:
    """One run, looked at twice at once."""

    ran: Ran
    races: tuple[Finding, ...]  # that the detectors see in the trace

    @property
    def rows(self) -> Table:
        return self.ran.found.rows

    @property
    def kinds(self) -> set[int]:
        return set(self.rows["kind"].tolist())


def looked_at(command: Iterable[str], seed: int) -> Looked:
    """Run it once, detecting and traced."""
    with tempfile.TemporaryDirectory() as name:
        ran = run(Launch.here([*command]), seed=seed, trace=Path(name), detect=True)
        with Recording.open(name) as recording:
            trace = trace_of(Events.read(recording))
    races = [race for race in detect_all(trace, CERTAIN) if race.kind in _ON_MEMORY]
    return Looked(ran, tuple(findings_of(trace, races, source=Source("test"))))
