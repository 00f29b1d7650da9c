# SPDX-License-Identifier: Apache-2.0
"""Makes a recording of one run of a threads program: its schedule, and the trace of it."""

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from eitherway.model.words import World
from eitherway.recording.layout import BlockType
from eitherway.recording.manifest import Host, Manifest
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.recording.trace import add_trace
from eitherway.recording.write import RecordingWriter
from eitherway.worlds.threads.events import Events, trace_of
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.schedule import Schedule


def record(command: Sequence[str], again: Ran, store: Store) -> tuple[Path, Ran]:
    """Do a run again with a tracer around it, and keep both in the store."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name, store.new() as slot:
        ran = run(command, replay=again, trace=Path(name))
        with Recording.open(name) as events:
            trace = trace_of(Events.read(events))
        manifest = Manifest(
            world=World.THREADS,
            recorded_by="runtime",
            command=tuple(command),
            host=Host.here(),
            created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        with RecordingWriter(slot.path, manifest) as writer:
            writer.stream("schedule").rows(BlockType.CHOICES, choices_of(again.schedule))
            add_trace(writer, trace)
        store.publish(slot.path)
        return slot.path, ran


def choices_of(schedule: Schedule) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    """Four numbers a switch: the step (low and high half), the choice, the kind."""
    rows = schedule.switches
    columns = [rows["steps"] & 0xFFFFFFFF, rows["steps"] >> 32, rows["choice"], rows["kind"]]
    return np.stack([column.astype(np.uint32) for column in columns], axis=1).reshape(-1)
