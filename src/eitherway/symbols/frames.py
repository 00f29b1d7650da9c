# SPDX-License-Identifier: Apache-2.0
"""Local variables of functions, by where they lie in a frame, through llvm-dwarfdump.

Offsets are counted from the end of the frame: the stack pointer before the call. Where the tool is
not there, or the compiler counts from a register that moves, no variable has a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from eitherway.symbols.dwarf import dwarfdump
from eitherway.symbols.fields import Entry, entries, entries_with, entry_at, path_in, size_of
from eitherway.symbols.files import File, file_at

# Where the frame base that variables are counted from lies, from the end of the frame.
_BASES = {"DW_OP_call_frame_cfa": 0, "DW_OP_reg6 RBP": -16}
_LIES = re.compile(r"DW_OP_fbreg ([+-]?\d+)")


@dataclass(frozen=True, slots=True)
class Local:
    """A variable in a frame: [start, start + size), counted from the frame's end."""

    name: str
    start: int
    size: int
    kind: str  # where its type stands


def local_at(module: str, code: int, offset: int, size: int) -> str:
    """What these bytes are in the frame of the function that this code belongs to.

    With the field, as far as one holds them all: "total", "job.state", "slots[3]".
    """
    file = file_at(module)
    inside = [v for v in _locals(file, code) if v.start <= offset < v.start + v.size]
    if not inside:
        return ""
    found = min(inside, key=lambda v: v.size)
    return found.name + path_in(file, found.kind, offset - found.start, size)


def function_at(file: File, code: int) -> Entry | None:
    """Without what is inside it: around code that was inlined, what it was inlined into."""
    answer = dwarfdump(file.path, f"--lookup={code:#x}")
    if inlined := next(entries_with(answer, ["DW_TAG_inlined_subroutine"]), None):
        answer = dwarfdump(file.path, f"--debug-info={inlined.place}", "--show-parents")
    return next(entries_with(answer, ["DW_TAG_subprogram"]), None)


@lru_cache(maxsize=1024)
def _locals(file: File, code: int) -> tuple[Local, ...]:
    function = function_at(file, code)
    base = _BASES.get(function.attributes.get("DW_AT_frame_base", "")) if function else None
    if function is None or base is None:
        return ()
    answer = dwarfdump(file.path, f"--debug-info={function.place}", "--show-children")
    found = (_local(file, entry, base) for entry in entries(answer))
    return tuple(local for each in found for local in each)


def _local(file: File, entry: Entry, base: int) -> Iterator[Local]:
    """The variable that this is, and those inside it: of blocks and of inlined functions."""
    lies = _LIES.fullmatch(entry.attributes.get("DW_AT_location", ""))
    if lies and entry.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
        written = entry if entry.type else _origin(file, entry)
        if written and written.name and (size := size_of(file, written.type)):
            yield Local(written.name, int(lies[1]) + base, size, written.type)
    for inner in entry.inside:
        yield from _local(file, inner, base)


def _origin(file: File, entry: Entry) -> Entry | None:
    """Of what was inlined: as it is written."""
    return entry_at(file, entry.attributes.get("DW_AT_abstract_origin", "").split(" ", 1)[0])
