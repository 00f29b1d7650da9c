# SPDX-License-Identifier: Apache-2.0
"""What a block of the heap may be: the one structure of its size that the code knows that made it.

An allocation has no type in debug information. A block that is as large as one structure of the
unit that asked for it, and of no other whose parts fit what was touched, is most often that.
"""

import re
from functools import lru_cache

from eitherway.symbols.dwarf import dwarfdump
from eitherway.symbols.fields import STRUCTURES, Entry, entries, entries_with, path_in
from eitherway.symbols.files import File, file_at

_RUNTIME = "/eitherway-runtime/"  # as native/runtime/CMakeLists.txt calls it: it calls threads


def field_in_block(module: str, code: int, block: int, offset: int, size: int) -> str:
    """`account.balance`: what these bytes of a block of that size are; empty when unclear."""
    file = file_at(module)
    fitting = {
        name + path
        for name, kind in _structures(file, _unit(file, code)).get(block, ())
        if (path := _exactly(file, kind, offset, size))
    }
    return fitting.pop() if len(fitting) == 1 else ""


def _exactly(file: File, kind: str, offset: int, size: int) -> str:
    """The part that is these bytes and no more: with one beside them it would be another.

    Or the array of which they are some elements, as many as a call found to copy or to read.
    """
    path = path_in(file, kind, offset, size)
    more = {path_in(file, kind, offset, size + 1), path_in(file, kind, offset - 1, size + 1)}
    whole = path not in more or _are_elements(file, kind, path, offset, size)
    return path if whole else ""


def _are_elements(file: File, kind: str, path: str, offset: int, size: int) -> bool:
    """Whole ones of the array at that path: the bytes beside them are in others, or outside."""

    def element(at: int) -> str:
        found = re.match(re.escape(path) + r"\[\d+\]", path_in(file, kind, at, 1))
        return found[0] if found else ""

    first, last = element(offset), element(offset + size - 1)
    begins, ends = element(offset - 1) != first, element(offset + size) != last
    return bool(first and last and begins and ends)


@lru_cache(maxsize=1024)
def _unit(file: File, code: int) -> str:
    """Where the debug information of the unit that holds this code stands, in hexadecimal."""
    found = entries(dwarfdump(file.path, f"--lookup={code:#x}"))
    return next((entry.place for entry in found if entry.tag == "DW_TAG_compile_unit"), "")


@lru_cache(maxsize=64)
def _structures(file: File, unit: str) -> dict[int, list[tuple[str, str]]]:
    """Names and places of those with a size, by it."""
    if not unit:
        return {}
    answer = dwarfdump(file.path, f"--debug-info={unit}", "--show-children", "--recurse-depth=2")
    inside = list(entries_with(answer, STRUCTURES | {"DW_TAG_typedef"}))
    called = {each.type: each.name for each in inside if each.tag == "DW_TAG_typedef"}
    found: dict[int, list[tuple[str, str]]] = {}
    for each in inside:
        name, size = each.name or called.get(each.place, ""), each.number("DW_AT_byte_size")
        if each.tag in STRUCTURES and name and size and not _is_the_systems(each):
            found.setdefault(size, []).append((name, each.place))
    return found


def _is_the_systems(structure: Entry) -> bool:
    """Declared where the machine's own headers lie, which are in every unit, or by our runtime."""
    declared = structure.attributes.get("DW_AT_decl_file", "").strip('"')
    return declared.startswith(("/usr/include/", "/usr/lib/", _RUNTIME))
