# SPDX-License-Identifier: Apache-2.0
"""Spoils recordings in one given way, and hears how they are refused."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.recording import samples
from tests.recording.whole import check

from eitherway.errors import BadInput, Exit
from eitherway.recording.layout import BlockType
from eitherway.recording.write import RecordingWriter


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
