# SPDX-License-Identifier: Apache-2.0
"""Blocks: a payload with a header before it, and back with everything checked."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eitherway.errors import BadInput
from eitherway.recording import refusals, upgrade
from eitherway.recording.files import read_at
from eitherway.recording.layout import (
    BLOCK_HEADER,
    BLOCK_HEADER_CRC_OFFSET,
    BLOCK_MAGIC,
    HEADS,
    MAX_PAYLOAD,
    TABLES,
    BlockType,
)

Payload = bytes | bytearray | memoryview

_KNOWN = frozenset(int(kind) for kind in BlockType)


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a stream, in our version's terms."""

    type: BlockType
    records: int
    payload: bytes
    number: int  # in its stream, from 0
    crc: int


@dataclass(frozen=True, slots=True)
class _Header:
    magic: bytes
    type: int
    flags: int
    sequence: int
    records: int
    length: int
    crc: int


def header(kind: BlockType, sequence: int, records: int, payload: Payload) -> bytes:
    """The header that stands before a payload."""
    fields = (BLOCK_MAGIC, int(kind), 0, sequence, records, len(payload))
    start = BLOCK_HEADER.pack(*fields, 0)[:BLOCK_HEADER_CRC_OFFSET]
    return BLOCK_HEADER.pack(*fields, zlib.crc32(payload, zlib.crc32(start)))


@dataclass(frozen=True, slots=True)
class BlockFile:
    """A stream file that is open for reading."""

    descriptor: int
    size: int  # reading stops here, also when somebody is still writing behind it
    path: Path
    steps: tuple[upgrade.Step, ...] = ()

    def blocks(self) -> Iterator[Block]:
        """Each block in turn. Raises `Damage` where the file is not what was written."""
        number = offset = 0
        while offset < self.size:
            head, payload = self._checked(number, offset)
            yield self._known(head, payload)
            offset += BLOCK_HEADER.size + head.length
            number += 1

    def _checked(self, number: int, offset: int) -> tuple[_Header, bytes]:
        """The block at an offset: it is all there and it is as its writer left it."""
        start = self._read(BLOCK_HEADER.size, number, offset, offset)
        head = _Header(*BLOCK_HEADER.unpack(start))
        if head.magic != BLOCK_MAGIC:
            raise self._wrong_magic(head.magic, number, offset)
        if head.length > MAX_PAYLOAD:
            what = f"says it has {head.length} bytes; at most {MAX_PAYLOAD} can be right"
            raise refusals.damaged(self.path, number, offset, what)
        payload = self._read(head.length, number, offset, offset + BLOCK_HEADER.size)
        if zlib.crc32(payload, zlib.crc32(start[:BLOCK_HEADER_CRC_OFFSET])) != head.crc:
            raise refusals.damaged(self.path, number, offset, "does not match its checksum")
        if head.sequence != number:
            what = f"is block {head.sequence} of a stream: blocks were lost, repeated or swapped"
            raise refusals.damaged(self.path, number, offset, what)
        return head, payload

    def _read(self, length: int, number: int, block: int, offset: int) -> bytes:
        if length > self.size - offset:
            raise refusals.truncated(self.path, number, block, self.size)
        data = read_at(self.descriptor, length, offset, self.path)
        if len(data) < length:
            raise refusals.truncated(self.path, number, block, offset + len(data))
        return data

    def _wrong_magic(self, magic: bytes, number: int, offset: int) -> BadInput:
        if number == 0 and any(magic):  # zeros are what a power cut leaves of a file of ours
            return refusals.stream_foreign(self.path, magic)
        return refusals.damaged(self.path, number, offset, "does not begin as a block does")

    def _known(self, head: _Header, stored: bytes) -> Block:
        """The block in our version's terms; what we do not know is refused."""
        raw = (head.type, head.records, stored)
        number, records, payload = upgrade.payload(raw, self.steps)
        if number not in _KNOWN:
            raise refusals.unknown_block(self.path, head.sequence, f"type {number}")
        if head.flags:
            raise refusals.unknown_block(self.path, head.sequence, f"flags {head.flags:#06x}")
        kind = BlockType(number)
        if not _fits(kind, records, len(payload)):
            what = f"{records} {kind.name.lower()} in {len(payload)} bytes"
            raise refusals.malformed(self.path, head.sequence, what)
        return Block(kind, records, payload, head.sequence, head.crc)


def _fits(kind: BlockType, records: int, length: int) -> bool:
    if kind in HEADS:
        return records * HEADS[kind].size <= length and (records > 0 or length == 0)
    return records * TABLES[kind].itemsize == length


def tailed(block: Block, path: Path) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """The records of a block whose records have tails: the fields of the head, and the tail."""
    head, payload, offset = HEADS[block.type], block.payload, 0
    for _ in range(block.records):
        if len(payload) - offset < head.size:
            raise refusals.malformed(path, block.number, "its records end before their number")
        fields = head.unpack_from(payload, offset)
        offset += head.size
        end = offset + fields[-1]
        if end > len(payload):
            raise refusals.malformed(path, block.number, "a record is longer than the block")
        yield fields, payload[offset:end]
        offset = end
    if offset != len(payload):
        raise refusals.malformed(path, block.number, "bytes are left behind its last record")
