# SPDX-License-Identifier: Apache-2.0
"""Writes the field tables between the markers of docs/recording-format.md."""

import re
from collections.abc import Iterable, Iterator, Mapping

from format.description import Description, Key, Numbered, Struct

_MARKED = re.compile(r"(<!-- begin (\S+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def fill(page: str, description: Description) -> str:
    """The page with the text between `<!-- begin X -->` and `<!-- end X -->` written anew."""
    return marked(page, _tables(description))


def marked(page: str, tables: Mapping[str, str]) -> str:
    """The same with any tables."""
    return _MARKED.sub(lambda part: f"{part[1]}{tables[part[2]]}\n{part[3]}", page)


def _tables(description: Description) -> dict[str, str]:
    structs = description.structs
    records = (_record(block, structs[block.struct]) for block in description.blocks)
    messages = (structs[message.struct] for message in description.messages if message.struct)
    shapes = (_shape(name, keys) for name, keys in description.shapes.items())
    return {
        "limits": _table(
            "limit value meaning", ((x.name, x.value, x.doc) for x in description.limits)
        ),
        "block-header": _fields(structs["block_header"]),
        "block-types": _table("number type meaning", _rows(description.blocks)),
        "records": "\n\n".join(records),
        "manifest": "\n\n".join([_keys(description.manifest), *shapes]),
        "control-header": _fields(structs["control_header"]),
        "messages": _table("number message meaning", _rows(description.messages)),
        "message-ranges": _table(
            "numbers for meaning",
            ((f"{a} to {b}", name, doc) for name, a, b, doc in description.ranges),
        ),
        "message-payloads": "\n\n".join(f"`{s.name}`: {s.doc}\n\n{_fields(s)}" for s in messages),
    }


def _rows(entries: Iterable[Numbered]) -> Iterator[tuple[int, str, str]]:
    return ((entry.number, f"`{entry.name}`", entry.doc) for entry in entries)


def _record(block: Numbered, struct: Struct) -> str:
    return f"### {block.name}\n\n{block.doc} {struct.doc}\n\n{_fields(struct)}"


def _shape(name: str, keys: tuple[Key, ...]) -> str:
    return f"`{name}`:\n\n{_keys(keys)}"


def _fields(struct: Struct) -> str:
    rows = (
        (field.offset, f"`{field.name}`", field.type, field.unit, field.doc)
        for field in struct.fields
    )
    return _table("offset field type unit meaning", rows)


def _keys(keys: Iterable[Key]) -> str:
    return _table("key type meaning", ((f"`{key.name}`", key.type, key.doc) for key in keys))


def _table(heads: str, rows: Iterable[tuple[object, ...]]) -> str:
    names = heads.split()
    lines = [names, ["---"] * len(names), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
