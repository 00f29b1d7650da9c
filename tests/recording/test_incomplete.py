# SPDX-License-Identifier: Apache-2.0
"""What a killed recorder leaves, and what is read of it."""

import json
import os
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import BadInput
from eitherway.model.trace import Trace
from eitherway.recording import blocks
from eitherway.recording.layout import BlockType
from eitherway.recording.read import Recording
from eitherway.recording.trace import add_trace, read_trace
from eitherway.recording.write import RecordingWriter

ROOT = Path(__file__).parents[2]


def rest(path: Path) -> tuple[Trace, tuple[str, ...]]:
    """What --incomplete reads, and what it says was lost."""
    with Recording.open(path, incomplete=True) as recording:
        trace = read_trace(recording)
        return trace, recording.losses


def is_beginning_of(part: Trace, whole: Trace) -> None:
    """Every operation kept has its value and every edge that led to it."""
    count = len(part)
    np.testing.assert_array_equal(part.operations, whole.operations[:count])
    edges = whole.edges[whole.edges["target"] < count]
    np.testing.assert_array_equal(part.edges, edges)
    if part.values is not None and whole.values is not None:
        np.testing.assert_array_equal(part.values, whole.values[:count])
    assert part.values is not None or count == 0
    assert part.strings == (whole.strings[: len(part.strings)] or ("",))


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A recording whose writer was killed before the end."""
    script = """
import os, signal, sys
from pathlib import Path
from tests.recording import samples
from eitherway.recording.write import RecordingWriter
writer = RecordingWriter(Path(sys.argv[1]), samples.MANIFEST, block_bytes=256)
samples.fill_sample(writer)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "r")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    return tmp_path / "r"


def test_it_is_refused_with_the_way_out(killed: Path) -> None:
    with pytest.raises(BadInput, match="is incomplete: its recorder was stopped") as caught:
        Recording.open(killed)
    assert "--incomplete" in caught.value.instead


def test_it_is_read_up_to_its_last_whole_block(killed: Path) -> None:
    trace, losses = rest(killed)
    is_beginning_of(trace, samples.sample_trace())
    assert len(trace) == samples.OPERATIONS - samples.OPERATIONS % 16  # the last block was pending
    assert [loss.partition(": ")[0] for loss in losses] == [f"{killed} is incomplete"]
    assert check(killed, incomplete=True).records[BlockType.OPERATIONS] == len(trace)


def test_an_exception_leaves_it_incomplete_with_everything_in_it(tmp_path: Path) -> None:
    def interrupted() -> None:
        with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
            add_trace(writer, samples.sample_trace())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(BadInput, match="is incomplete"):
        Recording.open(tmp_path / "r")
    trace, _ = rest(tmp_path / "r")
    samples.assert_same(trace, samples.sample_trace())


def test_a_living_writer_is_told_apart(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r", samples.MANIFEST)
    with pytest.raises(BadInput, match="is still being written by a living process"):
        Recording.open(tmp_path / "r")
    writer.finish()
    Recording.open(tmp_path / "r").close()


def test_a_recorder_stopped_at_once_left_nothing_to_look_at(tmp_path: Path) -> None:
    RecordingWriter(tmp_path / "r", samples.MANIFEST).close()
    with pytest.raises(BadInput, match="has no operation that is whole, so there is nothing"):
        rest(tmp_path / "r")


def test_a_trace_that_is_damaged_from_the_start_is_nothing_to_look_at(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    (tmp_path / "r" / "trace.blocks").write_bytes(b"")
    with pytest.raises(BadInput, match=r"nothing to look at: .*/trace\.blocks is truncated"):
        rest(tmp_path / "r")


def test_a_complete_recording_has_no_losses(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    assert rest(tmp_path / "r")[1] == ()


def test_a_complete_recording_without_a_trace_says_so(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        writer.stream("run").rows(BlockType.CHOICES, samples.CHOICES)
    with pytest.raises(BadInput, match="holds no trace; it has choices"):
        rest(tmp_path / "r")


def test_wherever_it_is_cut_the_rest_is_a_trace(killed: Path) -> None:
    whole = samples.sample_trace()
    data = (killed / "trace.blocks").read_bytes()
    kept = []
    for size in [*range(0, len(data), 997), *range(len(data) - 50, len(data))]:
        (killed / "trace.blocks").write_bytes(data[:size])
        try:
            trace, losses = rest(killed)
        except BadInput:  # nothing is whole
            kept.append(0)
            continue
        is_beginning_of(trace, whole)
        kept.append(len(trace))
        assert all("truncated" in loss for loss in losses[1:])
    assert kept == sorted(kept)
    assert kept[0] == 0
    assert kept[-1] > 900


def test_zeros_at_the_end_as_a_power_cut_leaves_them(killed: Path) -> None:
    before, _ = rest(killed)
    with (killed / "trace.blocks").open("ab") as file:
        file.write(bytes(5000))
    after, losses = rest(killed)
    samples.assert_same(before, after)
    assert len(losses) == 2
    assert "does not begin as a block does" in losses[1]
    (killed / "run.blocks").write_bytes(bytes(100))
    with Recording.open(killed, incomplete=True) as recording:
        assert len(recording.choices()) == 0


def test_a_complete_recording_with_a_damaged_stream_is_read_up_to_it(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    file = tmp_path / "r" / "trace.blocks"
    data = bytearray(file.read_bytes())
    data[-400] ^= 4
    file.write_bytes(data)
    with pytest.raises(BadInput, match="does not match its checksum"):
        check(tmp_path / "r")
    trace, losses = rest(tmp_path / "r")
    is_beginning_of(trace, samples.sample_trace())
    assert 900 < len(trace) < samples.OPERATIONS
    assert "does not match its checksum" in losses[0]


def test_a_complete_recording_that_lost_a_stream_names_it(tmp_path: Path) -> None:
    samples.write_sample(tmp_path / "r")
    (tmp_path / "r" / "run.blocks").unlink()
    with Recording.open(tmp_path / "r", incomplete=True) as recording:
        assert list(recording.inputs()) == []
        assert "run.blocks was removed" in recording.losses[0]
        samples.assert_same(read_trace(recording), samples.sample_trace())


def test_input_without_its_end_is_left_out(killed: Path) -> None:
    with Recording.open(killed, incomplete=True) as recording:
        assert [entry.data for entry in recording.inputs()] == [samples.INPUT, b""]
    os.truncate(killed / "run.blocks", 2000)
    with Recording.open(killed, incomplete=True) as recording:
        assert list(recording.inputs()) == []


def test_operations_end_where_they_point_to_nothing(tmp_path: Path) -> None:
    """A writer that broke the order of blocks, or a lost stream: what is left fits together."""
    whole = samples.sample_trace()
    writer = RecordingWriter(tmp_path / "r", samples.MANIFEST)
    stream = writer.stream("trace")
    stream.strings(whole.strings)
    stream.rows(BlockType.OPERATIONS, whole.operations)
    stream.rows(BlockType.EDGES, whole.edges)
    stream.rows(BlockType.ACTORS, whole.actors)
    writer.abandon()
    with pytest.raises(BadInput, match="1000 operations at its end that need what was lost"):
        rest(tmp_path / "r")  # the first operation has a range that nobody described


def test_a_cause_that_was_lost_is_none(tmp_path: Path) -> None:
    whole = samples.sample_trace()
    actors = whole.actors.copy()
    actors["started_by"][1] = len(whole) - 1
    writer = RecordingWriter(tmp_path / "r", samples.MANIFEST, block_bytes=256)
    add_trace(writer, replace(whole, actors=actors))
    writer.close()  # with the last block not written
    trace, _ = rest(tmp_path / "r")
    assert 0 < len(trace) < len(whole)
    assert trace.actor(1).started_by is None
    assert trace.actor(1).parent == 0


def test_operations_end_with_their_values(tmp_path: Path) -> None:
    whole = samples.sample_trace()
    writer = RecordingWriter(tmp_path / "r", samples.MANIFEST)
    add_trace(writer, samples.sample_trace(10))
    writer.stream("trace").rows(BlockType.OPERATIONS, whole.operations[10:])
    writer.abandon()
    trace, losses = rest(tmp_path / "r")
    assert len(trace) == 10
    assert "has 990 operations at its end that need what was lost" in losses[-1]


def test_an_unknown_block_is_refused_all_the_same(killed: Path) -> None:
    data = (killed / "run.blocks").read_bytes()
    head = blocks.header(BlockType.CHOICES, 0, 1, b"1234")
    forged = head[:4] + (999).to_bytes(2, "little") + head[6:]
    crc = zlib.crc32(b"1234", zlib.crc32(forged[:20]))
    (killed / "run.blocks").write_bytes(forged[:20] + crc.to_bytes(4, "little") + b"1234" + data)
    with (
        Recording.open(killed, incomplete=True) as recording,
        pytest.raises(BadInput, match="type 999"),
    ):
        list(recording.blocks())


def test_a_beginning_that_says_it_is_complete_is_not(killed: Path) -> None:
    begun = killed / "MANIFEST.begun"
    facts = json.loads(begun.read_bytes())
    assert facts["complete"] is False
    begun.write_text(json.dumps({**facts, "complete": True}), encoding="utf-8")
    with pytest.raises(BadInput, match="is incomplete"):
        Recording.open(killed)
