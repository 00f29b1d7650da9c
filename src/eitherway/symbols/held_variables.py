# SPDX-License-Identifier: Apache-2.0
"""Which variable of a function a register or a word of its frame holds at one of its instructions.

From DWARF's locations, through llvm-dwarfdump; of optimised code they are lists, each for a part of
the code. Where the tool is not there nothing has a name.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from eitherway.symbols.dwarf import dwarfdump
from eitherway.symbols.fields import Entry, entries, entry_at
from eitherway.symbols.files import File, file_at
from eitherway.symbols.frames import function_at

_VARIABLES = ("DW_TAG_variable", "DW_TAG_formal_parameter")
_ONE_OF_LIST = re.compile(r"\[(0x[0-9a-f]+), (0x[0-9a-f]+)\): (.*)")
_IN_REGISTER = re.compile(r"DW_OP_reg(\d+) \w+")
_FROM_REGISTER = re.compile(r"DW_OP_breg(\d+) \w+[+-]\d+")


def variable_in(module: str, code: int, register: int) -> str:
    """What is in this register of DWARF's at an address of the ELF file; empty: nobody says."""
    for name, words in _located(file_at(module), code):
        if register in _registers(words):
            return name
    return ""


def variable_on_stack(module: str, code: int, offset: int) -> str:
    """The same of what a list says to lie in the frame, from its end on."""
    for name, words in _located(file_at(module), code):
        if words == f"DW_OP_fbreg {offset:+d}":
            return name
    return ""


def _registers(words: str) -> Iterator[int]:
    """Those that hold the value, or a part of it, or what it is computed from."""
    parts = words.split(", ")
    computed = parts[-1] == "DW_OP_stack_value"
    for part in parts:
        found = _IN_REGISTER.fullmatch(part) or (computed and _FROM_REGISTER.fullmatch(part))
        if found:
            yield int(found[1])


@lru_cache(maxsize=256)
def _located(file: File, code: int) -> tuple[tuple[str, str], ...]:
    """Variables of the function with where they are at that address; inlined ones come last."""
    function = function_at(file, code)
    if function is None:
        return ()
    answer = dwarfdump(file.path, f"--debug-info={function.place}", "--show-children")
    found = (each for entry in entries(answer) for each in _in(file, entry, code))
    own = function.attributes.get("DW_AT_frame_base") == "DW_OP_call_frame_cfa"
    return tuple((name, words) for name, words in found if own or "DW_OP_fbreg" not in words)


def _in(file: File, entry: Entry, code: int) -> Iterator[tuple[str, str]]:
    if entry.tag in _VARIABLES and (words := _location(entry, code)):
        written = entry if entry.name else _origin(file, entry)
        if written and written.name:
            yield written.name, words
    for inner in entry.inside:
        yield from _in(file, inner, code)


def _location(entry: Entry, code: int) -> str:
    """At that address; empty: it is nowhere."""
    words = entry.attributes.get("DW_AT_location", "")
    if not words.startswith("["):
        return words
    for part in filter(None, map(_ONE_OF_LIST.fullmatch, words.splitlines())):
        if int(part[1], 16) <= code < int(part[2], 16):
            return _closed(part[3])
    return ""


def _closed(words: str) -> str:
    """Without the parenthesis that ends the list."""
    return words[:-1] if words.count(")") > words.count("(") else words


def _origin(file: File, entry: Entry) -> Entry | None:
    """Of what was inlined: as it is written."""
    return entry_at(file, entry.attributes.get("DW_AT_abstract_origin", "").split(" ", 1)[0])
