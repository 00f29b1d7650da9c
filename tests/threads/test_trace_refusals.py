# SPDX-License-Identifier: Apache-2.0
"""What a trace claims is checked before it is believed; each reason has its own words."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.recording.samples import MANIFEST, write_thread_events

from eitherway.errors import BadInput
from eitherway.model.trace import Table
from eitherway.recording.layout import TABLES, BlockType
from eitherway.recording.read import Recording
from eitherway.recording.write import RecordingWriter
from eitherway.worlds.threads.events import Events, Names, parts
from eitherway.worlds.threads.trace_hash import trace_hash

Spoil = Callable[[Table], object]
EVENTS, SITES = BlockType.THREAD_EVENTS, BlockType.THREAD_FRAMES
REGIONS, ASKED = BlockType.THREAD_REGIONS, BlockType.THREAD_ASKED
MEMORY, CHANGES = BlockType.THREAD_MEMORY, BlockType.THREAD_CHANGES
STREAMS = {EVENTS: "events", BlockType.THREAD_VALUES: "values"}


def put(column: str, row: int, value: int) -> Spoil:
    return lambda table: table[column].__setitem__(row, value)


def spoilt(tmp_path: Path, kind: BlockType, spoil: Spoil) -> Path:
    """A copy of a good trace with one number changed."""
    write_thread_events(tmp_path / "good", events=20, values=True)
    late = (BlockType.THREAD_CORRECTIONS, BlockType.THREAD_VALUES)
    kinds = [ASKED, REGIONS, SITES, MEMORY, *late, EVENTS]
    with Recording.open(tmp_path / "good") as recording:
        tables = {k: table.copy() for k, table in recording.tables(*kinds).items()}
    spoil(tables[kind])
    with RecordingWriter(tmp_path / "bad", MANIFEST) as writer:
        for k, table in tables.items():
            writer.stream(STREAMS.get(k, "names")).rows(k, table)
    return tmp_path / "bad"


def test_nothing_spoilt_is_read(tmp_path: Path) -> None:
    path = spoilt(tmp_path, EVENTS, lambda table: None)
    with Recording.open(path) as recording:
        found = Events.read(recording)
    assert found.values is not None
    assert found.values.tolist() == [0, 77, *range(2, 20)]
    assert trace_hash(path) == trace_hash(tmp_path / "good")


@pytest.mark.parametrize(
    ("kind", "spoil", "words"),
    [
        (EVENTS, put("thread", 3, 2), "never started"),
        (EVENTS, put("address", 0, 2), "numbered as they were started"),
        (EVENTS, put("site", 5, 3), "call site that is not there"),
        (EVENTS, put("op", 5, 99), "unknown kind"),
        (EVENTS, put("flags", 5, 128), "unknown flags"),
        (EVENTS, put("size", 5, 0), "touches nothing"),
        (EVENTS, put("address", 5, 2**64 - 2), "touches nothing, or more than there is"),
        (EVENTS, put("op", 5, 26), "lived that was never started"),
        (SITES, put("caller", 1, 1), "before its caller"),
        (SITES, put("caller", 0, 2), "before its caller"),
        (REGIONS, put("hi", 0, 0), "region is empty"),
        (MEMORY, put("event", 0, 9), "out of turn"),
        (MEMORY, put("site", 1, 3), "memory came from a call site that is not there"),
        (MEMORY, put("what", 0, 0), "unknown way"),
        (MEMORY, put("what", 1, 5), "unknown way"),
        (MEMORY, put("size", 0, 2**64 - 1), "more memory than there is"),
        (ASKED, put("depth", 0, 3), "not a valid Depth"),
        (ASKED, put("until", 0, 0), "no steps"),
        (ASKED, put("high", 0, 0), "no addresses"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, kind: BlockType, spoil: Spoil, words: str
) -> None:
    path = spoilt(tmp_path, kind, spoil)
    for read in (lambda: read_whole(path), lambda: trace_hash(path)):
        with pytest.raises(BadInput, match=words):
            read()


def read_whole(path: Path) -> Events:
    with Recording.open(path) as recording:
        return Events.read(recording)


def test_values_without_events_and_events_without_values_are_refused(tmp_path: Path) -> None:
    path = spoilt(tmp_path, ASKED, put("depth", 0, 1))
    with pytest.raises(BadInput, match="do not match"):
        read_whole(path)
    write_thread_events(tmp_path / "plain", events=20)
    with Recording.open(tmp_path / "plain") as recording:
        tables = recording.tables(ASKED, REGIONS, SITES, EVENTS)
    tables[ASKED] = tables[ASKED].copy()
    tables[ASKED]["depth"] = 2
    with RecordingWriter(tmp_path / "none", MANIFEST) as writer:
        for kind, table in tables.items():
            writer.stream(STREAMS.get(kind, "names")).rows(kind, table)
    with pytest.raises(BadInput, match="too few thread_values"):
        trace_hash(tmp_path / "none")


def changed(folder: Path, *addresses: int) -> Path:
    """A good trace that says where memory was changed."""
    write_thread_events(folder / "good", events=20)
    rows = np.zeros(len(addresses), dtype=TABLES[CHANGES])
    rows["address"] = addresses
    with Recording.open(folder / "good") as recording:
        tables = {**recording.tables(ASKED, REGIONS, SITES, MEMORY, EVENTS), CHANGES: rows}
    with RecordingWriter(folder / "changed", MANIFEST) as writer:
        for kind, table in tables.items():
            writer.stream(STREAMS.get(kind, "names")).rows(kind, table)
    return folder / "changed"


@pytest.mark.parametrize("addresses", [(9, 0), (16, 8, 0), (16, 16, 0)])
def test_changes_that_are_none_are_refused(tmp_path: Path, addresses: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="where no word is, or out of order"):
        read_whole(changed(tmp_path, *addresses))


@pytest.mark.parametrize(
    ("addresses", "known"),
    [((8, 16, 0), 2), ((0,), 0), ((), None), ((8,), None), ((8, 0, 0), None)],
)
def test_changes_are_known_when_all_were_told_once(
    tmp_path: Path, addresses: tuple[int, ...], known: int | None
) -> None:
    """A program that goes on after an exec that failed has told too early."""
    changes = read_whole(changed(tmp_path, *addresses)).names.changes
    assert (None if changes is None else len(changes)) == known


def test_parts_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eitherway.worlds.threads.events.PART", 7)
    write_thread_events(tmp_path / "good", events=20, values=True)
    with Recording.open(tmp_path / "good") as recording:
        whole = Events.read(recording)
        pieces = list(parts(recording, Names.read(recording)))
    assert [piece.first for piece in pieces] == [0, 7, 14]
    assert np.array_equal(np.concatenate([piece.events for piece in pieces]), whole.events)
    values = [piece.values for piece in pieces if piece.values is not None]
    assert whole.values is not None
    assert np.array_equal(np.concatenate(values), whole.values)
