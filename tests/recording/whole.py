# SPDX-License-Identifier: Apache-2.0
"""Reads everything that is in a recording, as no single user of one does."""

import os
from collections import Counter
from dataclasses import dataclass

from eitherway.model.trace import Trace
from eitherway.recording.layout import BlockType
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording
from eitherway.recording.trace import has_trace, read_trace


@dataclass(frozen=True, slots=True)
class Whole:
    """What a recording in which nothing is wrong holds."""

    manifest: Manifest
    blocks: int
    records: dict[BlockType, int]
    trace: Trace | None
    losses: tuple[str, ...]  # of an incomplete one


def check(path: str | os.PathLike[str], *, incomplete: bool = False) -> Whole:
    """Reads every byte in every way; raises the first thing that is wrong."""
    with Recording.open(path, incomplete=incomplete) as recording:
        blocks = 0
        records: Counter[BlockType] = Counter()
        for block in recording.blocks():
            blocks += 1
            records[block.type] += block.records
        trace = read_trace(recording) if has_trace(records.keys()) else None
        recording.choices()
        list(recording.inputs())
        recording.metadata()
        return Whole(recording.manifest, blocks, dict(records), trace, recording.losses)
