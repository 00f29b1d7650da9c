# SPDX-License-Identifier: Apache-2.0
"""Each kind of bad stream, block or table is refused in its own words."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from tests.recording import samples
from tests.recording.forge import edit_manifest, flip, refusal, write_block
from tests.recording.whole import check

from eitherway.errors import BadInput
from eitherway.recording.layout import BLOCK_HEADER, MAX_PAYLOAD, TABLES, BlockType
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace
from eitherway.recording.write import RecordingWriter


def test_a_stream_that_is_missing_or_unlisted(recording: Path) -> None:
    os.rename(recording / "run.blocks", recording / "walk.blocks")
    assert "run.blocks is missing, and MANIFEST lists it" in refusal(recording)
    os.link(recording / "walk.blocks", recording / "run.blocks")
    assert "walk.blocks is a stream that MANIFEST does not list" in refusal(recording)


def test_a_truncated_stream(recording: Path) -> None:
    size = (recording / "trace.blocks").stat().st_size
    os.truncate(recording / "trace.blocks", size - 1)
    message = refusal(recording)
    assert f"trace.blocks is truncated: it ends at byte {size - 1}, MANIFEST says {size}" in message


def test_a_stream_that_grew(recording: Path) -> None:
    with (recording / "run.blocks").open("ab") as file:
        file.write(b"more")
    assert "more was added" in refusal(recording)


def test_a_stream_that_ends_inside_a_block(recording: Path) -> None:
    file = recording / "run.blocks"
    os.truncate(file, 30)
    edit_manifest(recording, lambda manifest: manifest["streams"][1].update(size=30))
    assert "run.blocks is truncated: it ends at byte 30, inside block 0" in refusal(recording)


def test_every_flipped_bit_is_noticed_in_its_block(recording: Path) -> None:
    file = recording / "run.blocks"
    good = file.read_bytes()
    second = BLOCK_HEADER.size + samples.CHOICES.nbytes
    for byte in range(second, second + 60):
        flip(file, byte, byte % 8)
        message = refusal(recording)
        assert "run.blocks is damaged: block 1, at byte 56" in message or (
            "run.blocks is truncated" in message and "inside block 1" in message
        )
        file.write_bytes(good)


def test_a_flipped_bit_says_which_block_of_which_stream(recording: Path) -> None:
    flip(recording / "trace.blocks", 100)
    message = refusal(recording)
    assert "trace.blocks is damaged: block 1, at byte 80, does not match its checksum" in message


def test_a_foreign_stream(recording: Path) -> None:
    file = recording / "run.blocks"
    file.write_bytes(b"\x7fELF".ljust(file.stat().st_size, b"\0"))
    assert "is not a stream of EitherWay: it begins like an ELF file" in refusal(recording)


def test_blocks_that_were_swapped_or_taken_out(recording: Path) -> None:
    file = recording / "run.blocks"
    data = file.read_bytes()
    first = BLOCK_HEADER.size + samples.CHOICES.nbytes
    second = first + BLOCK_HEADER.size + 256
    file.write_bytes(data[first:second] + data[:first] + data[second:])
    assert "block 0, at byte 0, is block 1 of a stream" in refusal(recording)
    file.write_bytes(data[first:])
    edit_manifest(recording, lambda m: m["streams"][1].update(size=len(data) - first))
    assert "blocks were lost, repeated or swapped" in refusal(recording)


def test_a_whole_block_that_was_cut_off_with_the_size_adjusted(recording: Path) -> None:
    file = recording / "run.blocks"
    shorter = len(file.read_bytes()) - BLOCK_HEADER.size - 15  # the block of metadata
    os.truncate(file, shorter)
    edit_manifest(recording, lambda m: m["streams"][1].update(size=shorter))
    assert "is not the stream that MANIFEST lists: it has" in refusal(recording)


def test_a_stream_of_another_recording(recording: Path, tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "other", samples.MANIFEST, block_bytes=256) as writer:
        run = writer.stream("run")
        run.rows(BlockType.CHOICES, samples.CHOICES + np.uint32(1))
        run.input(7, 1, samples.INPUT)
        run.input(8, 0, b"")
        run.metadata(samples.HOW, b"quickly")
    os.replace(tmp_path / "other" / "run.blocks", recording / "run.blocks")
    assert "not the stream that MANIFEST lists: its checksum is another" in refusal(recording)


def test_a_manifest_that_promises_other_blocks(recording: Path) -> None:
    edit_manifest(recording, lambda m: m["streams"][1].update(holds=["choices", "input"]))
    assert "it holds other types of blocks" in refusal(recording)


@pytest.mark.parametrize(
    ("payload", "fields", "reason"),
    [
        (b"1234", {"type": 999}, "block 0 of .* has type 999, which EitherWay .* does not know"),
        (b"1234", {"flags": 0x8001}, "has flags 0x8001, which EitherWay .* does not know"),
        (b"1234", {"records": 2}, "makes no sense: 2 choices in 4 bytes"),
        (b"1234", {"records": 2**32 - 1}, "makes no sense: 4294967295 choices in 4 bytes"),
        (b"1234", {"sequence": 7}, "is block 7 of a stream"),
        (b"1234", {"length": 2**32 - 1}, f"4294967295 bytes; at most {MAX_PAYLOAD} can be right"),
        (b"1234", {"length": MAX_PAYLOAD}, "is truncated: it ends at byte 28, inside block 0"),
        (b"", {"type": 1, "records": 2**32 - 1}, "makes no sense: 4294967295 strings in 0 bytes"),
        (b"\xff\xff\xff\xff", {"type": 1}, "a record is longer than the block"),
        (b"\x02\0\0\0ab\0\0", {"type": 1, "records": 2}, "records end before their number"),
        (b"\x00\0\0\0ab", {"type": 1}, "bytes are left behind its last record"),
        (b"ab", {"type": 1, "records": 0}, "0 strings in 2 bytes"),
        (struct.pack("<IIII", 0, 0, 0, 0), {"type": 17}, "does not continue what was begun"),
        (struct.pack("<IIII", 1, 0, 2, 0), {"type": 17}, "does not continue what was begun"),
        (struct.pack("<IIII", 1, 0, 1, 0), {"type": 17}, "the last input has no end"),
        (struct.pack("<IIIIIIII", 1, 0, 1, 0, 1, 9, 0, 0), {"type": 17, "records": 2}, "begun"),
        (struct.pack("<II", 0, 0), {"type": 18}, "a key is no string or stands twice"),
    ],
)
def test_a_block_that_is_wrong_under_a_right_checksum(
    tmp_path: Path, payload: bytes, fields: dict[str, int], reason: str
) -> None:
    write_block(tmp_path / "r", payload, **fields)
    with pytest.raises(BadInput, match=reason):
        check(tmp_path / "r")


@pytest.mark.parametrize(
    ("table", "column", "value", "reason"),
    [
        ("operations", "actor", 2, "operations.actor points behind the end of actors"),
        ("operations", "range", 9, "operations.range points behind the end of ranges"),
        ("operations", "stack", 2**32 - 1, "operations.stack points behind the end of stacks"),
        ("operations", "kind", 200, "an operation has an unknown kind"),
        ("edges", "target", 10**6, "edges.target points behind the end of operations"),
        ("edges", "source", 999, "an edge points backwards"),
        ("edges", "kind", 77, "an edge has an unknown kind"),
        ("actors", "name", 99, "actors.name points behind the end of strings"),
        ("actors", "started_by", 1000, "actors.started_by points behind the end of operations"),
        ("objects", "kind", 99, "objects.kind points behind the end of strings"),
        ("stacks", "caller", 1, "a stack's caller does not come before it"),
        ("ranges", "hi", 8, "a range is empty"),
    ],
)
def test_tables_that_do_not_fit_together(
    tmp_path: Path, table: str, column: str, value: int, reason: str
) -> None:
    trace = samples.sample_trace()
    rows = getattr(trace, table).copy()
    rows[column][1] = value
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        stream = writer.stream("trace")
        stream.strings(trace.strings)
        for kind in TABLES:
            name = kind.name.lower()
            if hasattr(trace, name):
                stream.rows(kind, rows if name == table else getattr(trace, name))
    message = refusal(tmp_path / "r")
    assert "do not fit together" in message
    assert reason in message


def test_a_recording_without_a_trace_says_so(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        writer.stream("run").rows(BlockType.CHOICES, samples.CHOICES)
    check(tmp_path / "r")
    with (
        Recording.open(tmp_path / "r") as opened,
        pytest.raises(BadInput, match="holds no trace; it has choices"),
    ):
        read_trace(opened)


def test_no_allocation_for_a_lying_length(tmp_path: Path) -> None:
    """A sparse file of a terabyte in place of a stream costs no more than its first block."""
    write_block(tmp_path / "r", b"1234", length=2**32 - 1)
    os.truncate(tmp_path / "r" / "run.blocks", 1 << 40)
    edit_manifest(tmp_path / "r", lambda m: m["streams"][0].update(size=1 << 40))
    assert "at most" in refusal(tmp_path / "r")
