# SPDX-License-Identifier: Apache-2.0
"""Reads recordings; mirrors write.py. Whatever is wrong with one is a `BadInput` of its own.

One block is held at a time; a table is one copy of its blocks' payloads, without a step in between.
"""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from eitherway.closing import Closing
from eitherway.errors import BadInput
from eitherway.model.trace import Table
from eitherway.recording import files, refusals, upgrade
from eitherway.recording import manifest as manifests
from eitherway.recording.blocks import Block, BlockFile, tailed
from eitherway.recording.layout import (
    BEGUN,
    MANIFEST,
    MAX_MANIFEST,
    MAX_RECORDS,
    MAX_STREAMS,
    TABLES,
    BlockType,
)
from eitherway.recording.manifest import Manifest, StreamEntry


@dataclass(frozen=True, slots=True)
class Input:
    """Something that came from outside."""

    kind: int
    actor: int
    data: bytes


class Recording(Closing):
    """An opened recording; `losses` is empty as long as nothing of it turned out to be missing."""

    def __init__(
        self,
        path: Path,
        directory: int,
        manifest: Manifest,
        *,
        steps: tuple[upgrade.Step, ...] = (),
        incomplete: bool = False,
    ) -> None:
        """Made by `open`."""
        self.path = path
        self.manifest = manifest
        self.incomplete = incomplete
        self._directory = directory
        self._steps = steps
        self._losses: dict[str, str] = {}
        if not manifest.complete:
            self.lose(MANIFEST, refusals.unfinished(path))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, incomplete: bool = False) -> Self:
        """Opens a directory; `incomplete` also takes what is whole of a broken-off recording."""
        where = Path(path)
        directory = files.open_directory(where)
        try:
            manifest, steps = _manifest(directory, where, incomplete=incomplete)
            recording = cls(where, directory, manifest, steps=steps, incomplete=incomplete)
            if not incomplete:
                recording._look_at_streams()
        except BaseException:
            os.close(directory)
            raise
        return recording

    @property
    def losses(self) -> tuple[str, ...]:
        """What is not there, as far as was read until now; whoever finds nothing must say it."""
        return tuple(self._losses.values())

    def lose(self, what: str, message: str) -> None:
        """Notes that something of an incomplete recording is not there; once for each `what`."""
        self._losses[what] = message

    @property
    def stream_names(self) -> tuple[str, ...]:
        """The stream files; those of an incomplete recording are found, not listed."""
        if self.manifest.complete:
            return tuple(entry.name for entry in self.manifest.streams)
        return tuple(self.files_found())

    def files_found(self) -> list[str]:
        """The stream files that are in the directory."""
        try:
            names = sorted(filter(manifests.is_stream_name, os.listdir(self._directory)))
        except OSError as error:
            raise refusals.unreadable(self.path, error) from error
        if len(names) > MAX_STREAMS:
            raise refusals.too_many_streams(self.path, MAX_STREAMS)
        return names

    def blocks(self, *kinds: BlockType) -> Iterator[Block]:
        """The blocks of these types, or all, one stream after the other."""
        homes: dict[BlockType, str] = {}
        for name in self.stream_names:
            entry = self._entry(name)
            if kinds and entry and not {kind.name.lower() for kind in kinds} & set(entry.holds):
                continue
            for block in self._stream(name, entry):
                if homes.setdefault(block.type, name) != name:
                    kind = block.type.name.lower()
                    raise refusals.two_streams(self.path / name, kind, homes[block.type])
                if not kinds or block.type in kinds:
                    yield block

    def tables(self, *kinds: BlockType) -> dict[BlockType, Table]:
        """The tables of these types whose records have a fixed size; empty where there is none."""
        buffers = {kind: bytearray() for kind in kinds}
        for block in self.blocks(*kinds):
            self.add(block, buffers)
        return {kind: as_table(kind, buffer) for kind, buffer in buffers.items()}

    def add(self, block: Block, buffers: dict[BlockType, bytearray]) -> None:
        """Appends a block to its table under way."""
        buffer = buffers[block.type]
        buffer += block.payload
        if len(buffer) > MAX_RECORDS * TABLES[block.type].itemsize:
            raise refusals.broken_tables(self.path, f"there are too many {block.type.name.lower()}")

    def strings(self) -> tuple[str, ...]:
        """All names, by number."""
        return tuple(text for block in self.blocks(BlockType.STRINGS) for text in self.texts(block))

    def texts(self, block: Block) -> Iterator[str]:
        """The names in one block of strings."""
        for _, name in tailed(block, self.path):
            yield name.decode("utf-8", "surrogateescape")

    def choices(self) -> Table:
        """The scheduler's decisions, in order."""
        return self.tables(BlockType.CHOICES)[BlockType.CHOICES]

    def inputs(self) -> Iterator[Input]:
        """What came from outside, in order; input that the recorder could not end is left out."""
        owner: tuple[int, int] | None = None  # kind and actor of the input under way
        parts: list[bytes] = []
        for block in self.blocks(BlockType.INPUT):
            for (kind, actor, more, _), data in tailed(block, self.path):
                if kind == 0 or more not in (0, 1) or owner not in (None, (kind, actor)):
                    what = "its input does not continue what was begun"
                    raise refusals.malformed(self.path, block.number, what)
                parts.append(data)
                owner = (kind, actor) if more else None
                if not more:
                    yield Input(kind, actor, b"".join(parts))
                    parts.clear()
        if owner is not None and not self.incomplete:
            raise refusals.broken_tables(self.path, "the last input has no end")

    def metadata(self) -> dict[str, bytes]:
        """Facts by name."""
        strings = self.strings()
        facts: dict[str, bytes] = {}
        for block in self.blocks(BlockType.METADATA):
            for (key, _), value in tailed(block, self.path):
                if key >= len(strings) and self.incomplete:
                    continue  # its name was lost
                if key >= len(strings) or strings[key] in facts:
                    what = "a key is no string or stands twice"
                    raise refusals.malformed(self.path, block.number, what)
                facts[strings[key]] = value
        return facts

    def close(self) -> None:
        """Gives the directory back; the store may then remove the recording."""
        if self._directory >= 0:
            os.close(self._directory)
            self._directory = -1

    def _entry(self, name: str) -> StreamEntry | None:
        return next((entry for entry in self.manifest.streams if entry.name == name), None)

    def _look_at_streams(self) -> None:
        for entry in self.manifest.streams:
            status = files.stat_in(self._directory, entry.name, self.path)
            if status is None:
                raise refusals.stream_missing(self.path / entry.name)
            with files.opened(self._directory, entry.name, self.path) as (_, size):
                if size != entry.size:
                    raise refusals.stream_size(self.path / entry.name, size, entry.size)
        for name in self.files_found():
            if self._entry(name) is None:
                raise refusals.stream_unlisted(self.path / name)

    def _stream(self, name: str, entry: StreamEntry | None) -> Iterator[Block]:
        """A stream's blocks; in an incomplete recording up to where it is damaged."""
        path = self.path / name
        seen = _Seen()
        try:
            with files.opened(self._directory, name, self.path) as (descriptor, size):
                for block in BlockFile(descriptor, size, path, self._steps).blocks():
                    seen.add(block)
                    yield block
                if entry is not None:
                    seen.compare(entry, size, path)
        except refusals.Damage as damage:
            if not self.incomplete:
                raise
            self.lose(name, damage.message)


class _Seen:
    """What the manifest says about a stream, gathered while it is read."""

    def __init__(self) -> None:
        self.blocks = self.crc = 0
        self.kinds: set[BlockType] = set()

    def add(self, block: Block) -> None:
        self.blocks += 1
        self.crc = zlib.crc32(block.crc.to_bytes(4, "little"), self.crc)
        self.kinds.add(block.type)

    def compare(self, entry: StreamEntry, size: int, path: Path) -> None:
        if size != entry.size:
            raise refusals.stream_size(path, size, entry.size)
        if self.blocks != entry.blocks:
            what = f"it has {self.blocks} blocks instead of {entry.blocks}"
            raise refusals.stream_summary(path, what)
        if self.crc != entry.crc:
            raise refusals.stream_summary(path, "its checksum is another")
        if {kind.name.lower() for kind in self.kinds} != set(entry.holds):
            raise refusals.stream_summary(path, "it holds other types of blocks")


def as_table(kind: BlockType, buffer: bytearray) -> Table:
    """The rows in a buffer, which nobody can change any more."""
    table = np.frombuffer(buffer, dtype=TABLES[kind])
    table.flags.writeable = False
    return table


def _manifest(
    directory: int, path: Path, *, incomplete: bool
) -> tuple[Manifest, tuple[upgrade.Step, ...]]:
    """The manifest that is in force; the lock keeps the store from removing the recording."""
    free = files.lock(directory, shared=True)
    for name in (MANIFEST, BEGUN, MANIFEST):  # a writer replaces the second by the first
        if files.stat_in(directory, name, path) is not None:
            break
    else:
        raise _nothing_there(directory, path)
    manifest, steps = _load(directory, name, path)
    if name == BEGUN:  # the name decides: only the last step of a writer makes the other
        manifest = replace(manifest, complete=False)
    if not manifest.complete and not incomplete:
        raise refusals.incomplete(path) if free else refusals.still_written(path)
    return manifest, steps


def _load(directory: int, name: str, path: Path) -> tuple[Manifest, tuple[upgrade.Step, ...]]:
    with files.opened(directory, name, path) as (descriptor, size):
        if size > MAX_MANIFEST:
            raise refusals.manifest_size(path / name, size, MAX_MANIFEST)
        data = files.read_at(descriptor, size, 0, path / name)
    return manifests.from_bytes(data, path / name)


def _nothing_there(directory: int, path: Path) -> BadInput:
    try:
        return refusals.no_recording(path) if os.listdir(directory) else refusals.empty(path)
    except OSError as error:
        return refusals.unreadable(path, error)
