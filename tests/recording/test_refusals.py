# SPDX-License-Identifier: Apache-2.0
"""Each kind of bad input is refused in its own words, with exit code 65."""

import ctypes
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.recording import samples

from eitherway.errors import BadInput, Exit
from eitherway.model.trace import TraceBuilder
from eitherway.recording.check import check
from eitherway.recording.layout import BLOCK_HEADER, MAX_PAYLOAD, MAX_STREAMS, TABLES, BlockType
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace
from eitherway.recording.write import RecordingWriter


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A good recording."""
    samples.write_sample(tmp_path / "r")
    return tmp_path / "r"


def refusal(path: Path | str) -> str:
    """The message with which a recording is refused."""
    with pytest.raises(BadInput) as caught:
        check(path)
    assert caught.value.exit_code == Exit.BAD_INPUT
    assert caught.value.message.isprintable()
    return caught.value.message


def edit_manifest(path: Path, change: Callable[[Any], Any]) -> None:
    """Rewrites the manifest with something changed."""
    manifest = json.loads((path / "MANIFEST").read_bytes())
    (path / "MANIFEST").write_text(json.dumps(change(manifest) or manifest))


def flip(file: Path, byte: int, bit: int = 0) -> None:
    """Flips one bit."""
    data = bytearray(file.read_bytes())
    data[byte] ^= 1 << bit
    file.write_bytes(data)


def test_nothing_there(tmp_path: Path) -> None:
    assert "there is no recording at" in refusal(tmp_path / "nothing")
    assert "there is no recording at" in refusal("a\0b")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "prog").write_bytes(b"\x7fELF\x02\x01")
    assert "is a file (an ELF file), and a recording is a directory" in refusal(tmp_path / "prog")
    (tmp_path / "note").write_text("hello")
    assert "is a file (bytes 68 65 6c 6c 6f)" in refusal(tmp_path / "note")
    assert "there is no recording at" in refusal(tmp_path / "note" / "below")


def test_an_empty_directory(tmp_path: Path) -> None:
    assert "is an empty directory" in refusal(tmp_path)


def test_a_directory_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:")
    assert "is not a recording: it has neither MANIFEST nor MANIFEST.begun" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON: Expecting value"),
        ("Manifest-Version: 1.0", "is not JSON: Expecting value"),
        ('{"format": "eitherway-rec', "is not JSON: Unterminated string"),
        ("[]", "is not JSON: it holds no object"),
        ("[" * 100_000, "is not JSON: nested too deeply"),
        ('{"a": NaN}', "is not JSON: NaN is no JSON"),
        ('{"a": 1, "a": 2}', "is not JSON: a key stands twice"),
        ('{"a": ' + "9" * 5000 + "}", "is not JSON: Exceeds the limit"),
        ('{"format": "perf"}', "is not of EitherWay: its format is 'perf'"),
        ('{"name": "left-pad"}', "is not of EitherWay: its format is None"),
    ],
)
def test_a_manifest_that_is_none(recording: Path, text: str, reason: str) -> None:
    (recording / "MANIFEST").write_text(text)
    assert reason in refusal(recording)


def test_a_manifest_that_is_not_utf8(recording: Path) -> None:
    (recording / "MANIFEST").write_bytes(b'{"format": "\xff\xff"}')
    assert "is not JSON" in refusal(recording)


def test_a_manifest_that_is_too_large(recording: Path) -> None:
    os.truncate(recording / "MANIFEST", 1 << 40)  # sparse: takes no space
    assert "has 1099511627776 bytes; at most 8388608 can be right" in refusal(recording)


@pytest.mark.parametrize("version", [[2, 0], [2, 7], [10**15, 0]])
def test_a_newer_version(recording: Path, version: list[int]) -> None:
    def newer(manifest: dict[str, Any]) -> dict[str, Any]:
        return {"format": manifest["format"], "version": version, "tool": "9.9.9"}

    edit_manifest(recording, newer)
    with pytest.raises(BadInput) as caught:
        check(recording)
    assert f"has format version {version[0]}.{version[1]}, written by EitherWay 9.9.9" in str(
        caught.value
    )
    assert "which reads up to 1.0" in str(caught.value)
    assert caught.value.fix == "pip install --upgrade eitherway"


def test_a_version_that_never_was(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(version=[0, 9]))
    assert "says format version 0, which never existed" in refusal(recording)


def test_a_newer_minor_version_is_read_as_long_as_all_is_known(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(version=[1, 9], mood="sunny"))
    assert check(recording).manifest.version == (1, 9)


@pytest.mark.parametrize("key", list(samples.MANIFEST.__slots__))
def test_a_key_that_is_missing_or_of_another_type(recording: Path, key: str) -> None:
    def without(manifest: dict[str, Any]) -> None:
        del manifest[key]

    good = (recording / "MANIFEST").read_bytes()
    edit_manifest(recording, without)
    message = refusal(recording)
    assert f"{key} is missing" in message or f"{key} is not [major, minor]" in message
    oddities: tuple[Any, ...] = (None, 3.5, {"x": []}, [[]])
    for wrong in oddities:
        changed = {**json.loads(good), key: wrong}
        (recording / "MANIFEST").write_text(json.dumps(changed))
        assert "is damaged" in refusal(recording)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "../trace.blocks"}, "name is not the name of a stream file"),
        ({"name": "/etc/passwd"}, "name is not the name of a stream file"),
        ({"name": "MANIFEST"}, "name is not the name of a stream file"),
        ({"name": "trace.blocks\n"}, "name is not the name of a stream file"),
        ({"size": -1}, "size is not an integer"),
        ({"size": True}, "size is not an integer"),
        ({"size": 2**64}, "size is not an integer"),
        ({"blocks": "3"}, "blocks is not an integer"),
        ({"holds": ["strings", "dreams"]}, "holds names unknown blocks: dreams"),
        ({"holds": ["choices"]}, "says that a block type stands in two of them"),
        ({"name": "run.blocks"}, "lists a file twice"),
        ({"colour": "red"}, "streams[0].colour is not a key of this version"),
    ],
)
def test_an_entry_that_makes_no_sense(recording: Path, change: dict[str, Any], reason: str) -> None:
    edit_manifest(recording, lambda manifest: manifest["streams"][0].update(change))
    assert reason in refusal(recording)


def test_too_many_streams(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(streams=manifest["streams"] * 40))
    assert f"lists more than {MAX_STREAMS} files" in refusal(recording)


def test_an_unknown_key_and_world(recording: Path) -> None:
    good = (recording / "MANIFEST").read_bytes()
    edit_manifest(recording, lambda manifest: manifest.update(colour="red"))
    assert "colour is not a key of this version" in refusal(recording)
    (recording / "MANIFEST").write_bytes(good)
    edit_manifest(recording, lambda manifest: manifest.update(world="dreams"))
    assert "world is none of threads, processes, kernel" in refusal(recording)


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


def write_block(path: Path, payload: bytes, **fields: int) -> None:
    """A recording whose only block is as given, with a right checksum."""
    path.mkdir()
    kind = fields.get("type", int(BlockType.CHOICES))
    length = fields.get("length", len(payload))
    numbers = (kind, fields.get("flags", 0), fields.get("sequence", 0), fields.get("records", 1))
    head = struct.pack("<4sHHIII", b"EWBK", *numbers, length)
    crc = zlib.crc32(payload, zlib.crc32(head))
    data = head + struct.pack("<I", crc) + payload
    (path / "run.blocks").write_bytes(data)
    with RecordingWriter(path.parent / "good", samples.MANIFEST) as writer:
        writer.stream("run").rows(BlockType.CHOICES, samples.CHOICES)
    manifest = json.loads((path.parent / "good" / "MANIFEST").read_bytes())
    names = {int(known): known.name.lower() for known in BlockType}
    total = zlib.crc32(struct.pack("<I", crc))
    holds = [names.get(kind, "choices")]
    manifest["streams"][0].update(size=len(data), crc=total, holds=holds)
    (path / "MANIFEST").write_text(json.dumps(manifest))


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


def test_input_of_an_actor_that_is_not_there(tmp_path: Path) -> None:
    builder = TraceBuilder(samples.MANIFEST.world)
    builder.actor("one")
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        writer.stream("run").rows(BlockType.ACTORS, builder.build().actors)
        writer.stream("run").input(1, 5, b"for nobody")
    assert "input.actor points behind the end of actors" in refusal(tmp_path / "r")


def test_a_recording_without_a_trace_says_so(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", samples.MANIFEST) as writer:
        writer.stream("run").rows(BlockType.CHOICES, samples.CHOICES)
    check(tmp_path / "r")
    with (
        Recording.open(tmp_path / "r") as opened,
        pytest.raises(BadInput, match="holds no trace; it has choices"),
    ):
        read_trace(opened)


@pytest.mark.parametrize("name", ["MANIFEST", "run.blocks"])
def test_what_is_not_a_regular_file_is_not_opened(recording: Path, name: str) -> None:
    real = recording.parent / "outside"
    os.rename(recording / name, real)
    os.symlink(real, recording / name)
    assert "is a symbolic link, and a recording is made of regular files only" in refusal(recording)
    os.unlink(recording / name)
    os.mkfifo(recording / name)
    assert "is a FIFO" in refusal(recording)
    os.unlink(recording / name)
    os.mkdir(recording / name)
    assert "is a directory" in refusal(recording)


def test_what_is_not_a_directory_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is a FIFO" in refusal(tmp_path / "fifo")
    assert "is a device" in refusal("/dev/null")


@contextmanager
def without_privilege() -> Iterator[None]:
    """Without root's right to read everything (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    assert libc.capget(header, before) == 0
    assert libc.capset(header, (ctypes.c_uint32 * 6)(before[0] & ~0b110, *before[1:])) == 0
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0


@pytest.mark.parametrize("name", ["run.blocks", "MANIFEST", "."])
def test_what_may_not_be_read(recording: Path, name: str) -> None:
    mode = (recording / name).stat().st_mode
    (recording / name).chmod(0)
    with without_privilege():
        message = refusal(recording)
    (recording / name).chmod(mode)
    assert f"{(recording / name).name} cannot be read: Permission denied" in message


def test_a_name_with_control_characters_is_quoted(tmp_path: Path) -> None:
    message = refusal(tmp_path / "\x1b[31mred\n")
    assert "\\x1b[31mred\\n" in message


def test_no_allocation_for_a_lying_length(tmp_path: Path) -> None:
    """A sparse file of a terabyte in place of a stream costs no more than its first block."""
    write_block(tmp_path / "r", b"1234", length=2**32 - 1)
    os.truncate(tmp_path / "r" / "run.blocks", 1 << 40)
    edit_manifest(tmp_path / "r", lambda m: m["streams"][0].update(size=1 << 40))
    assert "at most" in refusal(tmp_path / "r")


def test_the_manifest_of_an_unfinished_recording_as_manifest(recording: Path) -> None:
    edit_manifest(recording, lambda manifest: manifest.update(complete=False))
    assert "is incomplete" in refusal(recording)


def test_everything_is_closed_again(recording: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    flip(recording / "trace.blocks", 100)
    for _ in range(20):
        refusal(recording)
        refusal(recording / "MANIFEST")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_manifest_of_our_own_making_is_good() -> None:
    assert Manifest(samples.MANIFEST.world, "test").to_bytes().isascii()
