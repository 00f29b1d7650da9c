# SPDX-License-Identifier: Apache-2.0
"""Which part of a variable lies at an offset: `.misses`, `[3].name`, from its type in DWARF."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from eitherway.elf import ElfError, opened
from eitherway.symbols.dwarf import dwarfdump
from eitherway.symbols.files import File, file_at
from eitherway.symbols.variables import Variable

_DEEPEST = 16  # structures in structures that are followed


@dataclass(slots=True)
class Entry:
    """A piece of debug information, with what is inside it."""

    tag: str
    place: str = ""  # where it stands, in hexadecimal
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list["Entry"] = field(default_factory=list)

    def number(self, name: str) -> int | None:
        """An attribute that is a number."""
        try:
            return int(self.attributes[name], 0)
        except (KeyError, ValueError):
            return None

    @property
    def name(self) -> str:
        """Empty when it has none."""
        return self.attributes.get("DW_AT_name", "").strip('"')

    @property
    def type(self) -> str:
        """Where the type stands, in hexadecimal."""
        return self.attributes.get("DW_AT_type", "").split(" ", 1)[0]

    @property
    def is_one(self) -> bool:
        """Whether the name of its type alone says that it has no parts: a number or a pointer."""
        return _ONE.fullmatch(self.attributes.get("DW_AT_type", "")) is not None


# No structure has words of the language for a name (`bool` is none in C).
_WORDS = "char|short|int|long|float|double|signed|unsigned|_Bool|const|volatile"
_ONE = re.compile(rf'0x[0-9a-f]+ "(?:.*\*|(?:{_WORDS})(?: (?:{_WORDS}))*)"')


def part_of(module: str, variable: Variable, offset: int, size: int) -> str:
    """The path from the variable to the part that holds these bytes; empty when it is all of it."""
    file = file_at(module)
    kind = _type_of(file, variable)
    return path_in(file, kind, offset, size) if kind else ""


def path_in(file: File, kind: str, offset: int, size: int) -> str:
    """From a type to the part that holds these bytes."""
    return "".join(_path(file, kind, offset, size))


@lru_cache(maxsize=1024)
def _type_of(file: File, variable: Variable) -> str:
    """Empty where it is not known, or says of no part: to ask for it takes as long again."""
    name = variable.name.rsplit("::", 1)[-1]
    for unit in entries(dwarfdump(file.path, f"--name={name}", "--show-parents")):
        for entry in _all_of(unit):
            if _address_of(file, unit, entry) == variable.start:
                return "" if entry.is_one else entry.type or _declared_type(file, entry)
    return ""


def _all_of(entry: Entry) -> Iterator[Entry]:
    yield entry
    for inside in entry.inside:
        yield from _all_of(inside)


def _address_of(file: File, unit: Entry, entry: Entry) -> int | None:
    """Where a variable lies; clang tells a number in its unit's part of a table of addresses."""
    operation, _, number = entry.attributes.get("DW_AT_location", "").partition(" ")
    if operation not in ("DW_OP_addr", "DW_OP_addrx") or not _NUMBER.fullmatch(number):
        return None
    if operation == "DW_OP_addr":
        return int(number, 16)
    begin = (unit.number("DW_AT_addr_base") or 0) + int(number, 16) * _ADDRESS
    address = _addresses(file)[begin : begin + _ADDRESS]
    return int.from_bytes(address, "little") if len(address) == _ADDRESS else None


_NUMBER = re.compile("0x[0-9a-f]+")
_ADDRESS = 8  # bytes


@lru_cache(maxsize=16)
def _addresses(file: File) -> bytes:
    try:
        with opened(file.path) as elf:
            return b"".join(
                elf.contents(section) for section in elf.sections if section.name == b".debug_addr"
            )
    except (ElfError, OSError):
        return b""


def _declared_type(file: File, entry: Entry) -> str:
    """Of a variable that a header declares: what defines it refers to that, and has no type."""
    declaration = entry_at(file, entry.attributes.get("DW_AT_specification", "").split(" ", 1)[0])
    return declaration.type if declaration and not declaration.is_one else ""


def _path(file: File, kind: str, offset: int, size: int) -> Iterator[str]:
    for _ in range(_DEEPEST):
        entry = entry_at(file, kind)
        if entry is None:
            return
        if entry.tag in _WRAPPERS:
            kind = entry.type
        elif entry.tag in STRUCTURES:
            member = _member(file, entry, offset, size)
            if member is None:
                return
            yield f".{member.name}" if member.name else ""
            offset -= member.number("DW_AT_data_member_location") or 0
            kind = member.type
        elif entry.tag == "DW_TAG_array_type":
            width = size_of(file, entry.type)
            if not width or offset // width != (offset + size - 1) // width:
                return
            yield f"[{offset // width}]"
            kind, offset = entry.type, offset % width
        else:
            return


_WRAPPERS = frozenset(
    f"DW_TAG_{word}_type" for word in ("const", "volatile", "atomic", "restrict")
) | {"DW_TAG_typedef"}
STRUCTURES = frozenset({"DW_TAG_structure_type", "DW_TAG_class_type"})


def _member(file: File, entry: Entry, offset: int, size: int) -> Entry | None:
    for member in entry.inside:
        start = member.number("DW_AT_data_member_location")
        if member.tag != "DW_TAG_member" or start is None or start > offset:
            continue
        if offset + size <= start + (size_of(file, member.type) or 0):
            return member
    return None


def size_of(file: File, kind: str) -> int | None:
    """Of what is of this type, in bytes."""
    for _ in range(_DEEPEST):
        entry = entry_at(file, kind)
        if entry is None:
            return None
        if (size := entry.number("DW_AT_byte_size")) is not None:
            return size
        if entry.tag == "DW_TAG_array_type":
            width = size_of(file, entry.type)
            return width * _length(entry) if width else None
        kind = entry.type
    return None


def _length(array: Entry) -> int:
    """All dimensions together."""
    length = 1
    for dimension in (entry for entry in array.inside if entry.tag == "DW_TAG_subrange_type"):
        count, last = dimension.number("DW_AT_count"), dimension.number("DW_AT_upper_bound")
        length *= count if count is not None else (last + 1 if last is not None else 0)
    return length


@lru_cache(maxsize=4096)
def entry_at(file: File, place: str) -> Entry | None:
    """What stands there, with what is inside."""
    if not place:
        return None
    answer = dwarfdump(file.path, f"--debug-info={place}", "--show-children")
    return next(entries(answer), None)


_HEAD = re.compile(r"^(0x[0-9a-f]+):( +)(DW_TAG_\w+|NULL)")
_ATTRIBUTE = re.compile(r"^\s+(DW_AT_\w+)\s+\((.*)\)$")
_LISTED = re.compile(r"^\s+(DW_AT_\w+)\s+\(0x[0-9a-f]+: *$")  # one thing here, another there
_ONE_OF_LIST = re.compile(r"^\s+(\[0x[0-9a-f]+, 0x[0-9a-f]+\): .*)$")


def entries(answer: str) -> Iterator[Entry]:
    """Those at the top of what llvm-dwarfdump says; what is inside stands further to the right."""
    above: list[tuple[int, Entry]] = []
    top: list[Entry] = []
    listed = ""
    for line in answer.splitlines():
        if head := _HEAD.match(line):
            depth, entry = len(head[2]), Entry(head[3], head[1])
            while above and above[-1][0] >= depth:
                above.pop()
            (above[-1][1].inside if above else top).append(entry)
            above.append((depth, entry))
        elif above and (attribute := _ATTRIBUTE.match(line)):
            above[-1][1].attributes[attribute[1]] = attribute[2]
        elif above and (attribute := _LISTED.match(line)):
            listed = attribute[1]
            above[-1][1].attributes[listed] = ""
        elif above and listed and (one := _ONE_OF_LIST.match(line)):
            above[-1][1].attributes[listed] += f"{one[1]}\n"
    yield from top


def entries_with(answer: str, tags: Iterable[str]) -> Iterator[Entry]:
    """Those of these tags, wherever they stand, without what is inside: many times as quick."""
    for found in re.finditer("|".join(sorted(tags)), answer):
        line = answer.rfind("\n", 0, found.start()) + 1
        end = answer.find("\n0x", found.end())
        entry = next(entries(answer[line : end if end >= 0 else len(answer)]), None)
        if entry and entry.tag == found[0]:
            yield entry
