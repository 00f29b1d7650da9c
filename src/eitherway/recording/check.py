# SPDX-License-Identifier: Apache-2.0
"""Checks everything about a recording that can be checked without running it."""

import os
from collections import Counter
from dataclasses import dataclass

from eitherway.recording import refusals
from eitherway.recording.layout import BlockType
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording
from eitherway.recording.trace import has_trace, read_trace


@dataclass(frozen=True, slots=True)
class Checked:
    """A recording in which nothing is wrong, and what it holds."""

    manifest: Manifest
    blocks: int
    records: dict[BlockType, int]
    losses: tuple[str, ...]  # of an incomplete one


def check(path: str | os.PathLike[str], *, incomplete: bool = False) -> Checked:
    """Reads every byte; raises the first thing that is wrong."""
    with Recording.open(path, incomplete=incomplete) as recording:
        _refuse_unlisted(recording)
        blocks, records = _count(recording)
        if has_trace(records.keys()) or incomplete:
            read_trace(recording)
        _refuse_strangers(recording, records[BlockType.ACTORS])
        recording.metadata()
        return Checked(recording.manifest, blocks, dict(records), recording.losses)


def _refuse_unlisted(recording: Recording) -> None:
    for name in recording.files_found():
        if name not in recording.stream_names:
            raise refusals.stream_unlisted(recording.path / name)


def _count(recording: Recording) -> tuple[int, Counter[BlockType]]:
    blocks = 0
    records: Counter[BlockType] = Counter()
    for block in recording.blocks():
        blocks += 1
        records[block.type] += block.records
    return blocks, records


def _refuse_strangers(recording: Recording, actors: int) -> None:
    """Input that was received by nobody. What is incomplete may lack the actor."""
    for entry in recording.inputs():
        if actors and entry.actor >= actors and not recording.incomplete:
            what = "input.actor points behind the end of actors"
            raise refusals.broken_tables(recording.path, what)
