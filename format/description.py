# SPDX-License-Identifier: Apache-2.0
"""Reads recording.toml into values, and refuses a description that contradicts itself."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("recording.toml")
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


class DescriptionError(Exception):
    """recording.toml says two things that cannot both be true."""


@dataclass(frozen=True, slots=True)
class Field:
    """One number in a struct."""

    name: str
    type: str
    offset: int
    doc: str
    unit: str = ""

    @property
    def size(self) -> int:
        """In bytes."""
        return SIZES[self.type]

    @property
    def reserved(self) -> bool:
        """Written as 0 and not read."""
        return self.name.startswith("reserved")


@dataclass(frozen=True, slots=True)
class Struct:
    """A run of numbers without gaps, each aligned to its size."""

    name: str
    doc: str
    size: int
    fields: tuple[Field, ...]

    def offset(self, name: str) -> int:
        """Of the field of this name."""
        return next(field.offset for field in self.fields if field.name == name)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A block type or a control message: a number, and what the payload is made of."""

    name: str
    number: int
    doc: str
    struct: str  # empty: no payload
    tail: bool


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that a reader relies on."""

    name: str
    value: int
    doc: str


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a JSON object in the manifest."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Description:
    """All of recording.toml."""

    format: Mapping[str, Any]
    control: Mapping[str, Any]
    polynomial: int
    limits: tuple[Limit, ...]
    structs: Mapping[str, Struct]
    blocks: tuple[Numbered, ...]
    messages: tuple[Numbered, ...]
    ranges: tuple[tuple[str, int, int, str], ...]
    manifest: tuple[Key, ...]
    shapes: Mapping[str, tuple[Key, ...]]
    lists: frozenset[str]  # the shapes that are an array of such objects


def read(path: Path = SOURCE) -> Description:
    """The description in a file, checked."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    shapes = data["manifest"]["shapes"]
    description = Description(
        format=data["format"],
        control={key: data["control"][key] for key in ("magic", "version")},
        polynomial=data["checksum"]["polynomial"],
        limits=tuple(Limit(name, **limit) for name, limit in data["limits"].items()),
        structs={name: _struct(name, body) for name, body in data["struct"].items()},
        blocks=tuple(_numbered(name, body, "record") for name, body in data["block"].items()),
        messages=tuple(_numbered(name, body, "payload") for name, body in data["message"].items()),
        ranges=tuple((n, r["first"], r["last"], r["doc"]) for n, r in _ranges(data)),
        manifest=_keys(data["manifest"]),
        shapes={name: _keys(shape) for name, shape in shapes.items()},
        lists=frozenset(name for name, shape in shapes.items() if shape.get("list")),
    )
    for problem in _problems(description):
        raise DescriptionError(problem)
    return description


def _struct(name: str, body: Mapping[str, Any]) -> Struct:
    fields = []
    offset = 0
    for entry in body["fields"]:
        fields.append(Field(offset=offset, **entry))
        offset += SIZES[entry["type"]]
    return Struct(name, body["doc"], body["size"], tuple(fields))


def _numbered(name: str, body: Mapping[str, Any], struct: str) -> Numbered:
    return Numbered(
        name, body["number"], body["doc"], body.get(struct, ""), bool(body.get("tail", False))
    )


def _ranges(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from data["control"]["ranges"].items()


def _keys(shape: Mapping[str, Any]) -> tuple[Key, ...]:
    return tuple(Key(**entry) for entry in shape["fields"])


def _problems(description: Description) -> Iterator[str]:
    for struct in description.structs.values():
        yield from _struct_problems(struct)
    for group in (description.blocks, description.messages):
        if len({entry.number for entry in group}) != len(group):
            yield f"two of {', '.join(entry.name for entry in group)} have the same number"
        for entry in group:
            yield from _entry_problems(entry, description)
    for message in description.messages:
        if not any(first <= message.number <= last for _, first, last, _ in description.ranges):
            yield f"message {message.name} has a number outside of every range"


def _struct_problems(struct: Struct) -> Iterator[str]:
    end = sum(field.size for field in struct.fields)
    if end != struct.size:
        yield f"struct {struct.name} has {end} bytes of fields and says {struct.size}"
    for field in struct.fields:
        if field.offset % field.size:
            yield f"{struct.name}.{field.name} is not aligned to its size"
    if struct.size % max(field.size for field in struct.fields):
        yield f"struct {struct.name} would be padded at its end"


def _entry_problems(entry: Numbered, description: Description) -> Iterator[str]:
    if not entry.struct:
        return
    struct = description.structs.get(entry.struct)
    if struct is None:
        yield f"{entry.name} is made of {entry.struct}, which is not described"
    elif entry.tail and struct.fields[-1].name != "length":
        yield f"{entry.name} has a tail, but {struct.name} does not end with a length"
