# SPDX-License-Identifier: Apache-2.0
"""The little of a 64-bit little-endian ELF file that a probe needs: section names, build id."""

import struct
from collections.abc import Iterator
from pathlib import Path

HEADER = struct.Struct("<16xHHIQQQIHHHHHH")  # after the identification bytes
SECTION = struct.Struct("<IIQQQQIIQQ")
NOTE = struct.Struct("<III")
MAGIC = b"\x7fELF\x02\x01"
NT_GNU_BUILD_ID = 3


class NotElfError(ValueError):
    """Not an ELF file of the kind read here, or a damaged one."""


def sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and contents of each section; contents are empty where the file has none."""
    if not data.startswith(MAGIC):
        raise NotElfError("no 64-bit little-endian ELF file")
    try:
        *_, table, _, _, _, _, size, count, names_at = HEADER.unpack_from(data)
        headers = [SECTION.unpack_from(data, table + i * size) for i in range(count)]
        names = _contents(data, headers[names_at])
    except (struct.error, IndexError) as problem:
        raise NotElfError("its section table is damaged") from problem
    for header in headers:
        name = names[header[0] :].split(b"\0", 1)[0]
        yield name.decode(errors="replace"), _contents(data, header)


def build_id(path: Path) -> str:
    """In hexadecimal; "" when the file has none."""
    for name, contents in sections(path.read_bytes()):
        if name == ".note.gnu.build-id" and len(contents) > NOTE.size:
            owner, length, kind = NOTE.unpack_from(contents)
            start = NOTE.size + (owner + 3 & ~3)
            if kind == NT_GNU_BUILD_ID:
                return contents[start : start + length].hex()
    return ""


def has_section(path: Path, wanted: str) -> bool:
    """Whether the file has a section of that name."""
    return any(name == wanted for name, _ in sections(path.read_bytes()))


def _contents(data: bytes, header: tuple[int, ...]) -> bytes:
    _, kind, _, _, offset, size, *_ = header
    no_bits = 8
    return b"" if kind == no_bits else data[offset : offset + size]
