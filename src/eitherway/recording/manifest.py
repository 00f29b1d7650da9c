# SPDX-License-Identifier: Apache-2.0
"""The manifest: what a recording is, in JSON; written and read here, described in format/."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eitherway import __version__
from eitherway.errors import BadInput
from eitherway.model.words import World
from eitherway.recording import refusals, upgrade
from eitherway.recording.layout import (
    FORMAT_NAME,
    LISTS,
    MAJOR,
    MANIFEST_KEYS,
    MAX_STREAMS,
    MINOR,
    SHAPES,
    STREAM_SUFFIX,
    BlockType,
)

_STREAM_NAME = re.compile(rf"[a-z0-9][a-z0-9-]{{0,31}}{re.escape(STREAM_SUFFIX)}", re.ASCII)
_MAX_INTEGER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Host:
    """The machine a recording was made on."""

    kernel: str = ""
    machine: str = ""
    cpu: str = ""

    @classmethod
    def here(cls) -> "Host":
        """This machine."""
        name = os.uname()
        return cls(kernel=name.release, machine=name.machine, cpu=_cpu_model())


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    models = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return next(models, "").strip()


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A stream file as the manifest lists it."""

    name: str
    size: int
    blocks: int
    crc: int
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a recording is, how it came to be, and the streams it is made of."""

    world: World
    recorded_by: str
    command: tuple[str, ...] = ()
    build_ids: Mapping[str, str] = field(default_factory=dict)
    host: Host = field(default_factory=Host.here)
    created: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    tool: str = __version__
    complete: bool = False
    streams: tuple[StreamEntry, ...] = ()
    version: tuple[int, int] = (MAJOR, MINOR)

    def to_bytes(self) -> bytes:
        """The file, keys in the order of the description."""
        values = {"format": FORMAT_NAME, **asdict(self), "build_ids": dict(self.build_ids)}
        ordered = {key: values[key] for key in MANIFEST_KEYS}
        return (json.dumps(ordered, indent=2) + "\n").encode("ascii")


def from_bytes(data: bytes, path: Path) -> tuple[Manifest, tuple[upgrade.Step, ...]]:
    """The manifest in a file, and the steps that bring the recording to our version."""
    raw = _json_object(data, path)
    if raw.get("format") != FORMAT_NAME:
        raise refusals.manifest_foreign(path, raw.get("format"))
    reader = _Reader(path)
    version = reader.version(raw.get("version"), "version")
    steps = upgrade.steps_from(version, path, tool=raw.get("tool"))
    raw = upgrade.manifest(raw, steps)
    reader.object(raw, MANIFEST_KEYS, "", newer=version > (MAJOR, MINOR))
    return _manifest(raw, reader), steps


def _json_object(data: bytes, path: Path) -> dict[str, Any]:
    try:
        raw = json.loads(data, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except RecursionError as error:
        raise refusals.manifest_text(path, "nested too deeply") from error
    except ValueError as error:  # also: not UTF-8, an integer of thousands of digits
        raise refusals.manifest_text(path, str(error)) from error
    if not isinstance(raw, dict):
        raise refusals.manifest_text(path, "it holds no object")
    return raw


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Holds JSON against the description's types."""

    path: Path

    def object(self, value: Any, keys: Mapping[str, str], where: str, *, newer: bool) -> None:
        if not isinstance(value, dict):
            raise self.wrong(where, "is not an object")
        for key, kind in keys.items():
            if key not in value:
                raise self.wrong(f"{where}{key}", "is missing")
            self.value(value[key], kind, f"{where}{key}", newer=newer)
        if not newer:
            for key in value.keys() - keys.keys():
                raise self.wrong(f"{where}{key}", "is not a key of this version")

    def value(self, value: Any, kind: str, where: str, *, newer: bool) -> None:
        if kind in LISTS:
            for index, item in enumerate(self.list(value, where)):
                self.object(item, SHAPES[kind], f"{where}[{index}].", newer=newer)
        elif kind in SHAPES:
            self.object(value, SHAPES[kind], f"{where}.", newer=newer)
        else:
            getattr(self, kind)(value, where)

    def list(self, value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise self.wrong(where, "is not an array")
        return value

    def string(self, value: Any, where: str) -> None:
        if not isinstance(value, str):
            raise self.wrong(where, "is not a string")

    def strings(self, value: Any, where: str) -> None:
        for item in self.list(value, where):
            self.string(item, f"an item of {where}")

    def names(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise self.wrong(where, "is not an object")
        for item in value.values():
            self.string(item, f"an item of {where}")

    def boolean(self, value: Any, where: str) -> None:
        if not isinstance(value, bool):
            raise self.wrong(where, "is neither true nor false")

    def integer(self, value: Any, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_INTEGER:
            raise self.wrong(where, "is not an integer from 0 to 2^63 - 1")

    def version(self, value: Any, where: str) -> tuple[int, int]:
        if not isinstance(value, list) or len(value) != len((MAJOR, MINOR)):
            raise self.wrong(where, "is not [major, minor]")
        for part in value:
            self.integer(part, f"a part of {where}")
        return value[0], value[1]

    def wrong(self, where: str, needed: str) -> BadInput:
        return refusals.manifest_field(self.path, where or "it", needed)


def _manifest(raw: Mapping[str, Any], reader: _Reader) -> Manifest:
    if raw["world"] not in list(World):
        raise reader.wrong("world", f"is none of {', '.join(World)}")
    return Manifest(
        world=World(raw["world"]),
        recorded_by=raw["recorded_by"],
        command=tuple(raw["command"]),
        build_ids=raw["build_ids"],
        host=Host(**{key: raw["host"][key] for key in SHAPES["host"]}),
        created=raw["created"],
        tool=raw["tool"],
        complete=raw["complete"],
        streams=_streams(raw["streams"], reader),
        version=(raw["version"][0], raw["version"][1]),
    )


def _streams(raw: Sequence[Mapping[str, Any]], reader: _Reader) -> tuple[StreamEntry, ...]:
    if len(raw) > MAX_STREAMS:
        raise reader.wrong("streams", f"lists more than {MAX_STREAMS} files")
    entries = tuple(_stream(item, f"streams[{index}]", reader) for index, item in enumerate(raw))
    if len({entry.name for entry in entries}) != len(entries):
        raise reader.wrong("streams", "lists a file twice")
    held = [kind for entry in entries for kind in entry.holds]
    if len(set(held)) != len(held):
        raise reader.wrong("streams", "says that a block type stands in two of them")
    return entries


def _stream(raw: Mapping[str, Any], where: str, reader: _Reader) -> StreamEntry:
    if not is_stream_name(raw["name"]):
        raise reader.wrong(f"{where}.name", "is not the name of a stream file")
    for kind in raw["holds"]:
        if kind.upper() not in BlockType.__members__ or not kind.islower():
            raise reader.wrong(f"{where}.holds", f"names unknown blocks: {refusals.shown(kind)}")
    values = {key: raw[key] for key in SHAPES["streams"]}
    return StreamEntry(**{**values, "holds": tuple(raw["holds"])})


def is_stream_name(name: str) -> bool:
    """Whether a stream file may have this name; a name never leads out of the directory."""
    return _STREAM_NAME.fullmatch(name) is not None
