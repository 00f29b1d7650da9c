# SPDX-License-Identifier: Apache-2.0
"""Members of a static library: the `ar` format with GNU's long names, thin ones too.

Each member has a header of 60 characters:
name(16) date(12) owner(6) group(6) mode(8) size(10) "`\\n"
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from eitherway.elf import Buffer

_WHOLE, _THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60
_TABLES = (b"/", b"/SYM64/", b"//")  # these hold no object


class Member(NamedTuple):
    """One object in the library; `data` is empty in a thin one, where `path` is the object."""

    name: str
    start: int
    size: int
    path: str = ""


def is_archive(data: Buffer) -> bool:
    """Whether it starts as one."""
    return data[:8] in (_WHOLE, _THIN)


def members(path: str, data: Buffer) -> Iterator[Member]:
    """In the order of the file; ends early where the file is damaged."""
    thin = data[:8] == _THIN
    at, long_names = 8, b""
    while at + _HEADER <= len(data):
        header = data[at : at + _HEADER]
        field, digits = header[:16].rstrip(), header[48:58].strip()
        if header[58:] != b"`\n" or not digits.isdigit():
            return
        start, size = at + _HEADER, int(digits)
        stored = not thin or field in _TABLES
        if field == b"//":
            long_names = data[start : start + size]
        elif field not in _TABLES:
            name = os.fsdecode(_name(field, long_names))
            outside = os.path.join(os.path.dirname(path), name) if thin else ""
            yield Member(name, start, size, outside)
        at = start + (size + size % 2 if stored else 0)


def _name(field: bytes, long_names: bytes) -> bytes:
    """`name/`, or `/offset` into the table of long names, which end in `/` and a line end."""
    if field.startswith(b"/") and field[1:].isdigit():
        start = int(field[1:])
        end = long_names.find(b"\n", start)
        field = long_names[start : end if end >= 0 else len(long_names)]
    return field.removesuffix(b"/")
