# SPDX-License-Identifier: Apache-2.0
"""Writes recordings; mirrors read.py, and writes what native/recording/ writes, byte for byte.

A recording is complete when its MANIFEST is in place, which is the last thing that happens. An
exception or a kill before that leaves an incomplete one, good up to its last whole block.
"""

import os
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording import blocks, files
from eitherway.recording.layout import (
    BEGUN,
    HEADS,
    INPUT,
    MANIFEST,
    MAX_PAYLOAD,
    MAX_RECORD,
    MAX_STREAMS,
    STREAM_SUFFIX,
    TABLES,
    BlockType,
)
from eitherway.recording.manifest import Manifest, StreamEntry, is_stream_name


class StreamWriter:
    """Appends records to one stream file; records of one type in a row share a block."""

    def __init__(self, descriptor: int, path: Path, block_bytes: int) -> None:
        """Takes the descriptor over; a block's payload has at most `block_bytes` bytes."""
        self.path = path
        self.holds: set[BlockType] = set()
        self._descriptor = descriptor
        self._capacity = block_bytes
        self._type: BlockType | None = None
        self._pending = bytearray()
        self._records = 0
        self._size = self._blocks = self._crc = 0
        self._failed = False

    def rows(self, kind: BlockType, table: Table) -> None:
        """Appends the rows of a table whose records have a fixed size."""
        dtype = TABLES[kind]
        if table.dtype != dtype:
            raise ValueError(f"{kind.name.lower()} have columns {dtype}, not {table.dtype}")
        self._switch(kind)
        start = 0
        while start < len(table):
            room = (self._capacity - len(self._pending)) // dtype.itemsize
            if room == 0:
                self.flush()
                continue
            part = table[start : start + room]
            self._pending += _without_gaps(part).tobytes()
            self._records += len(part)
            start += len(part)

    def tailed(self, kind: BlockType, fields: tuple[int, ...], tail: bytes) -> None:
        """Appends one record with a tail; `fields` are those of its head but the length."""
        record = HEADS[kind].pack(*fields, len(tail)) + tail
        if len(record) > self._capacity:
            what = f"one of the {kind.name.lower()} has {len(tail)} bytes"
            raise ValueError(f"{what} and does not fit in a block of {self._capacity}")
        self._switch(kind)
        if len(self._pending) + len(record) > self._capacity:
            self.flush()
        self._pending += record
        self._records += 1

    def strings(self, texts: Iterable[str]) -> None:
        """Appends names; bytes that are not UTF-8 are lone surrogates, as in os.fsdecode."""
        for text in texts:
            self.tailed(BlockType.STRINGS, (), text.encode("utf-8", "surrogateescape"))

    def input(self, kind: int, actor: int, data: bytes) -> None:
        """Appends what came from outside, in as many records as it needs."""
        room = self._capacity - INPUT.size
        parts = [data[start : start + room] for start in range(0, len(data), room)] or [b""]
        for number, part in enumerate(parts, start=1):
            self.tailed(BlockType.INPUT, (kind, actor, int(number < len(parts))), part)

    def metadata(self, key: int, value: bytes) -> None:
        """Appends a fact; `key` is the number of its name among the strings."""
        self.tailed(BlockType.METADATA, (key,), value)

    def flush(self) -> None:
        """Ends the block under way, so that a reader of what is incomplete sees it."""
        if self._failed or not self._records or self._type is None:
            return
        head = blocks.header(self._type, self._blocks, self._records, self._pending)
        self._failed = True  # a block that was written in part is the last one
        files.write_all(self._descriptor, head, self._pending, path=self.path)
        self._failed = False
        self._size += len(head) + len(self._pending)
        self._blocks += 1
        self.holds.add(self._type)
        self._crc = zlib.crc32(head[-4:], self._crc)
        self._pending.clear()
        self._records = 0

    def finish(self) -> StreamEntry:
        """Everything on disk; what the manifest says about this stream."""
        self.flush()
        with files.writing(self.path):
            os.fsync(self._descriptor)
        names = tuple(kind.name.lower() for kind in sorted(self.holds))
        return StreamEntry(self.path.name, self._size, self._blocks, self._crc, names)

    def close(self) -> None:
        """Gives the descriptor back; what was not flushed is lost."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _switch(self, kind: BlockType) -> None:
        if kind is not self._type:
            self.flush()
            self._type = kind


def _without_gaps(table: Table) -> Table:
    """A copy whose gaps between columns are zero: never a piece of our memory in a file."""
    if table.dtype.names is None:
        return table
    clean = np.zeros(len(table), dtype=table.dtype)
    for name in table.dtype.names:
        clean[name] = table[name]
    return clean


class RecordingWriter:
    """A recording under way, in a directory that is new or empty."""

    def __init__(self, path: Path, manifest: Manifest, *, block_bytes: int = MAX_PAYLOAD) -> None:
        """Says in the directory what is being recorded, before anything else is written."""
        if not MAX_RECORD <= block_bytes <= MAX_PAYLOAD:
            raise ValueError(f"blocks of {block_bytes} bytes: not {MAX_RECORD} to {MAX_PAYLOAD}")
        self.path = path
        self.manifest = replace(manifest, complete=False, streams=())
        self.block_bytes = block_bytes
        self._streams: dict[str, StreamWriter] = {}
        self._directory = _claim(path)
        try:
            files.put(self._directory, BEGUN, self.manifest.to_bytes(), path)
        except BaseException:
            os.close(self._directory)
            raise

    def stream(self, name: str) -> StreamWriter:
        """The stream of this name (a-z, 0-9 and -), begun when it is asked for first."""
        file = name + STREAM_SUFFIX
        if name not in self._streams:
            if not is_stream_name(file) or len(self._streams) == MAX_STREAMS:
                raise ValueError(f"{name!r} cannot be a stream")
            descriptor = files.create(self._directory, file, self.path)
            self._streams[name] = StreamWriter(descriptor, self.path / file, self.block_bytes)
        return self._streams[name]

    def finish(self) -> Manifest:
        """Completes the recording: nothing is believed to be there before it is on the disk."""
        entries = tuple(stream.finish() for stream in self._streams.values())
        _refuse_scattered(entries)
        with files.writing(self.path):
            os.fsync(self._directory)
        self.manifest = replace(self.manifest, complete=True, streams=entries)
        files.put(self._directory, MANIFEST, self.manifest.to_bytes(), self.path)
        with files.writing(self.path):
            os.unlink(BEGUN, dir_fd=self._directory)
        self.close()
        return self.manifest

    def abandon(self) -> None:
        """Leaves it incomplete, with everything that was appended."""
        try:
            for stream in self._streams.values():
                stream.flush()
        finally:
            self.close()

    def close(self) -> None:
        """Gives descriptors and the lock back."""
        for stream in self._streams.values():
            stream.close()
        if self._directory >= 0:
            files.unlock(self._directory)
            os.close(self._directory)
            self._directory = -1

    def __enter__(self) -> Self:
        """Completed at the end of the block, abandoned by an exception."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Completes or abandons it."""
        if kind is None:
            self.finish()
        else:
            self.abandon()


def _claim(path: Path) -> int:
    """The directory, made when missing, empty, and locked for as long as we live."""
    with files.writing(path):
        try:
            files.make_directory(path)
        except FileExistsError:
            if any(path.iterdir()):
                raise
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    files.lock(directory)  # the store that made the directory may hold the lock already
    return directory


def _refuse_scattered(entries: tuple[StreamEntry, ...]) -> None:
    held = [kind for entry in entries for kind in entry.holds]
    for kind in held:
        if held.count(kind) > 1:
            raise ValueError(f"{kind} were appended to two streams")
