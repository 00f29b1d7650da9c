# SPDX-License-Identifier: Apache-2.0
"""Writes the Python module."""

from collections.abc import Iterable, Iterator

from format.description import Description, Field, Key, Numbered, Struct

_CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
_DTYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8"}
_WIDTH = 100

_TOP = '''\
# SPDX-License-Identifier: Apache-2.0
"""The layout of recordings and control messages.

Written by format/generate.py from format/recording.toml: change that, then run `make generate`.
"""

import struct
from enum import IntEnum
from typing import Any

import numpy as np
'''


def render(description: Description) -> str:
    """The text of layout.py."""
    return "\n".join([*_lines(description), ""])


def _lines(description: Description) -> Iterator[str]:
    yield _TOP
    yield from _constants(description)
    yield from _numbers("BlockType", "What the payload of a block is.", description.blocks)
    yield from _numbers("MessageType", "What a control message says.", description.messages)
    yield "\n"
    for name, layout in description.structs.items():
        yield f"{name.upper()} = struct.Struct({_code(layout)!r})".replace("'", '"')
    header = description.structs["block_header"]
    yield f"BLOCK_HEADER_CRC_OFFSET = {header.offset('crc')}"
    yield from _tables(description)
    yield from _heads(description)
    yield from _manifest(description)


def _constants(description: Description) -> Iterator[str]:
    form, control = description.format, description.control
    yield f'FORMAT_NAME = "{form["name"]}"'
    yield f"MAJOR = {form['major']}"
    yield f"MINOR = {form['minor']}"
    yield f'MANIFEST = "{form["manifest"]}"'
    yield f'BEGUN = "{form["begun"]}"'
    yield f'STREAM_SUFFIX = "{form["suffix"]}"'
    yield f'BLOCK_MAGIC = b"{form["magic"]}"'
    yield f'CONTROL_MAGIC = b"{control["magic"]}"'
    yield f"CONTROL_VERSION = {control['version']}"
    largest = max(description.structs[block.struct].size for block in description.blocks)
    yield f"# Bytes of the largest record, without its tail.\nMAX_RECORD = {largest}"
    for limit in description.limits:
        yield f"# {limit.doc}"
        yield f"MAX_{limit.name.upper()} = {limit.value}"


def _numbers(name: str, doc: str, entries: Iterable[Numbered]) -> Iterator[str]:
    yield f'\n\nclass {name}(IntEnum):\n    """{doc}"""\n'
    for entry in entries:
        yield f"    {entry.name.upper()} = {entry.number}"


def _code(layout: Struct) -> str:
    return "<" + "".join(_code_of(field) for field in layout.fields)


def _code_of(field: Field) -> str:
    return "4s" if field.name == "magic" else _CODES[field.type]


def _tables(description: Description) -> Iterator[str]:
    yield "\n# Rows of the tables without tails; what is named reserved is a gap between columns."
    yield "TABLES: dict[BlockType, np.dtype[Any]] = {"
    for block in description.blocks:
        if not block.tail:
            yield from _table(block, description.structs[block.struct])
    yield "}"


def _table(block: Numbered, layout: Struct) -> Iterator[str]:
    key = f"    BlockType.{block.name.upper()}: np.dtype("
    if len(layout.fields) == 1:
        yield f'{key}"{_DTYPES[layout.fields[0].type]}"),'
        return
    fields = [field for field in layout.fields if not field.reserved]
    yield key
    yield "        {"
    yield from _column("names", (f'"{field.name}"' for field in fields))
    yield from _column("formats", (f'"{_DTYPES[field.type]}"' for field in fields))
    yield from _column("offsets", (str(field.offset) for field in fields))
    yield f'            "itemsize": {layout.size},'
    yield "        }\n    ),"


def _column(name: str, items: Iterable[str]) -> Iterator[str]:
    values = list(items)
    line = f'            "{name}": [{", ".join(values)}],'
    if len(line) <= _WIDTH:
        yield line
        return
    yield f'            "{name}": ['
    yield from (f"                {value}," for value in values)
    yield "            ],"


def _heads(description: Description) -> Iterator[str]:
    yield "\n# The part of a record before its tail; its last field is the length of the tail."
    yield "HEADS: dict[BlockType, struct.Struct] = {"
    for block in description.blocks:
        if block.tail:
            yield f"    BlockType.{block.name.upper()}: {block.struct.upper()},"
    yield "}"


def _manifest(description: Description) -> Iterator[str]:
    yield "\n# Keys of the manifest and their types; those in SHAPES are objects, in LISTS arrays."
    yield "MANIFEST_KEYS: dict[str, str] = {"
    yield from (_key(key, "    ") for key in description.manifest)
    yield "}\nSHAPES: dict[str, dict[str, str]] = {"
    for name, keys in description.shapes.items():
        yield f'    "{name}": {{'
        yield from (_key(key, "        ") for key in keys)
        yield "    },"
    yield "}"
    names = ", ".join(f'"{name}"' for name in sorted(description.lists))
    yield f"LISTS = frozenset({{{names}}})"


def _key(key: Key, indent: str) -> str:
    return f'{indent}"{key.name}": "{key.type}",'
