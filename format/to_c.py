# SPDX-License-Identifier: Apache-2.0
"""Writes the C header."""

from collections.abc import Iterable, Iterator
from enum import IntEnum, IntFlag

from format.description import Description, Numbered, Struct

from eitherway.model.words import EdgeKind, OpFlag, OpKind

_TOP = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* Written by format/generate.py from format/recording.toml: change that, then `make generate`. */
/* clang-format off */
#ifndef EITHERWAY_FORMAT_H
#define EITHERWAY_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* A record is copied as it lies in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "recordings are little-endian");
"""

_SLICES = 8  # bytes taken at a time

_CRC_TOP = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* Written by format/generate.py from format/recording.toml: change that, then `make generate`. */
/* clang-format off */
#ifndef EITHERWAY_CRC32_TABLE_H
#define EITHERWAY_CRC32_TABLE_H

#include <stdint.h>
"""


def render(description: Description) -> str:
    """The text of eitherway_format.h."""
    return "\n".join([*_lines(description), "", "#endif", ""])


def render_crc_table(description: Description) -> str:
    """The text of crc32_table.h: row k advances a byte over k further bytes of zeros."""
    rows = [[_advance(byte, description.polynomial) for byte in range(256)]]
    while len(rows) < _SLICES:
        rows.append([rows[0][crc & 0xFF] ^ (crc >> 8) for crc in rows[-1]])
    lines = [_CRC_TOP, f"static const uint32_t ew_crc_table[{_SLICES}][256] = {{"]
    for row in rows:
        numbers = [f"0x{crc:08x}u," for crc in row]
        lines += ["{", *(" ".join(numbers[at : at + 8]) for at in range(0, 256, 8)), "},"]
    return "\n".join([*lines, "};", "", "#endif", ""])


def _advance(crc: int, polynomial: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (polynomial if crc & 1 else 0)
    return crc


def _lines(description: Description) -> Iterator[str]:
    yield _TOP
    yield from _constants(description)
    yield from _numbers("block", "Block types", description.blocks)
    yield f"#define EW_BLOCK_LAST {max(block.number for block in description.blocks)}"
    yield from _numbers("message", "Control messages", description.messages)
    yield from _words("op", "What an operation does (model/words.py OpKind)", OpKind)
    yield from _words("flag", "Properties of an operation (OpFlag)", OpFlag)
    yield from _words("edge", "Why one operation came before another (EdgeKind)", EdgeKind)
    for struct in description.structs.values():
        yield from _struct(struct)
    yield from _record_sizes(description)


def _constants(description: Description) -> Iterator[str]:
    form = description.format
    yield f'#define EW_FORMAT_NAME "{form["name"]}"'
    yield f"#define EW_FORMAT_MAJOR {form['major']}"
    yield f"#define EW_FORMAT_MINOR {form['minor']}"
    yield f'#define EW_MANIFEST "{form["manifest"]}"'
    yield f'#define EW_BEGUN "{form["begun"]}"'
    yield f'#define EW_STREAM_SUFFIX "{form["suffix"]}"'
    yield f"#define EW_BLOCK_MAGIC {_magic(form['magic'])} /* {form['magic']} */"
    control = description.control
    yield f"#define EW_CONTROL_MAGIC {_magic(control['magic'])} /* {control['magic']} */"
    yield f"#define EW_CONTROL_VERSION {control['version']}"
    for limit in description.limits:
        yield f"#define EW_MAX_{limit.name.upper()} {limit.value}u /* {limit.doc} */"
    largest = max(description.structs[block.struct].size for block in description.blocks)
    yield f"#define EW_MAX_RECORD {largest}u /* Bytes of the largest record, without its tail. */"
    yield f"#define EW_CRC_POLYNOMIAL 0x{description.polynomial:08x}u"


def _magic(text: str) -> str:
    return f"0x{int.from_bytes(text.encode('ascii'), 'little'):08x}u"


def _numbers(prefix: str, doc: str, entries: Iterable[Numbered]) -> Iterator[str]:
    yield f"\n/* {doc}. */\nenum ew_{prefix}_number {{"
    for entry in entries:
        yield f"  EW_{prefix.upper()}_{entry.name.upper()} = {entry.number}, /* {entry.doc} */"
    yield "};"


def _words(prefix: str, doc: str, words: type[IntEnum] | type[IntFlag]) -> Iterator[str]:
    yield f"\n/* {doc}. */\nenum ew_{prefix}_number {{"
    for word in words:
        yield f"  EW_{prefix.upper()}_{word.name} = {word.value},"
    yield "};"


def _struct(struct: Struct) -> Iterator[str]:
    yield f"\n/* {struct.doc} */\nstruct ew_{struct.name} {{"
    for field in struct.fields:
        unit = f" [{field.unit}]" if field.unit else ""
        yield f"  uint{field.size * 8}_t {field.name}; /* {field.doc}{unit} */"
    yield "};"
    yield f'_Static_assert(sizeof(struct ew_{struct.name}) == {struct.size}, "{struct.name}");'
    for field in struct.fields:
        place = f"offsetof(struct ew_{struct.name}, {field.name})"
        yield f'_Static_assert({place} == {field.offset}, "{struct.name}.{field.name}");'


def _record_sizes(description: Description) -> Iterator[str]:
    yield "\n/* Bytes of one record without its tail; 0 for a number that is no block type. */"
    yield "static inline uint32_t ew_record_size(uint32_t type) {\n  switch (type) {"
    for block in description.blocks:
        size = description.structs[block.struct].size
        yield f"  case EW_BLOCK_{block.name.upper()}: return {size};"
    yield "  default: return 0;\n  }\n}"
    yield "\n/* Whether each record is followed by as many bytes as its last field says. */"
    yield "static inline int ew_record_has_tail(uint32_t type) {"
    tails = [f"type == EW_BLOCK_{block.name.upper()}" for block in description.blocks if block.tail]
    yield f"  return {' || '.join(tails)};\n}}"
    yield "\n/* The name of a block type in the manifest. */"
    yield "static inline const char *ew_block_name(uint32_t type) {\n  switch (type) {"
    for block in description.blocks:
        yield f'  case EW_BLOCK_{block.name.upper()}: return "{block.name}";'
    yield '  default: return "";\n  }\n}'
