# SPDX-License-Identifier: Apache-2.0
"""Older versions are brought to ours step by step."""

import os
import zlib
from pathlib import Path

import pytest

from eitherway.errors import BadInput
from eitherway.recording import upgrade
from eitherway.recording.blocks import BlockFile, header
from eitherway.recording.layout import MAJOR, BlockType
from eitherway.recording.upgrade import Json, Payload, Step

WHERE = Path("somewhere")


def _doubled(raw: Payload) -> Payload:
    kind, records, payload = raw
    return kind, records * 2, payload * 2


def _renumbered(raw: Payload) -> Payload:
    kind, records, payload = raw
    return {200: int(BlockType.CHOICES)}.get(kind, kind), records, payload


def _marked(raw: Json) -> Json:
    return {**raw, "steps": [*raw.get("steps", []), len(raw.get("steps", []))]}


STEPS = {1: Step(_marked, _renumbered), 2: Step(_marked, _doubled)}


def test_every_version_from_the_oldest_to_ours_has_its_step() -> None:
    assert sorted(upgrade.STEPS) == list(range(upgrade.OLDEST, MAJOR))


@pytest.mark.parametrize(("version", "count"), [(1, 2), (2, 1), (3, 0)])
def test_all_steps_from_a_version_on_are_taken(version: int, count: int) -> None:
    steps = upgrade.steps_from((version, 0), WHERE, steps=STEPS, current=3)
    assert upgrade.manifest({}, steps) == ({"steps": list(range(count))} if count else {})


@pytest.mark.parametrize("version", [4, 0])
def test_what_has_no_way_to_ours_is_refused(version: int) -> None:
    with pytest.raises(BadInput, match=str(version)):
        upgrade.steps_from((version, 0), WHERE, steps=STEPS, current=3)


def test_blocks_of_an_old_version_are_read_in_our_terms(tmp_path: Path) -> None:
    """Type 200 of version 1 became the choices in 2; in 3, each is written twice."""
    payload = b"abcdefgh"
    head = bytearray(header(BlockType.CHOICES, 0, 2, payload))
    head[4:6] = (200).to_bytes(2, "little")
    head[20:24] = zlib.crc32(payload, zlib.crc32(head[:20])).to_bytes(4, "little")
    (tmp_path / "old").write_bytes(head + payload)
    descriptor = os.open(tmp_path / "old", os.O_RDONLY)
    steps = upgrade.steps_from((1, 0), WHERE, steps=STEPS, current=3)
    (block,) = BlockFile(descriptor, len(head) + len(payload), tmp_path / "old", steps).blocks()
    os.close(descriptor)
    assert (block.type, block.records, block.payload) == (BlockType.CHOICES, 4, payload * 2)
