# SPDX-License-Identifier: Apache-2.0
"""The little of ELF that is read here, in 64-bit little-endian files.

Offsets and sizes come from the file, so every read is checked: whatever a damaged file says ends in
one `ElfError`.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum, IntFlag
from functools import cached_property
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

Buffer = bytes | mmap

_HEADER = struct.Struct("<HHIQQQIHHHHHH")  # after the 16 bytes of identification
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOTE = struct.Struct("<III")
_DYNAMIC = struct.Struct("<QQ")
X86_64 = 62  # the machine our runtime knows
_BUILD_ID = (b"GNU", 3)  # owner and kind of a note
_MOST_SEGMENTS = 512  # linkers make about a dozen


class ElfError(ValueError):
    """Not an ELF file of this kind, or a damaged one; the text says which."""


class Type(IntEnum):
    """What an ELF file is for."""

    OBJECT = 1
    FIXED = 2  # an executable that is loaded where it was linked to
    SHARED = 3  # a shared library or a position-independent executable


class SegmentKind(IntEnum):
    """The program headers that matter here."""

    LOAD = 1
    DYNAMIC = 2
    INTERPRETER = 3
    NOTE = 4


class SectionKind(IntEnum):
    """The sections that matter here."""

    BITS = 1
    SYMBOLS = 2
    NO_BITS = 8
    DYNAMIC_SYMBOLS = 11
    GROUP = 17


class SectionFlag(IntFlag):
    """Of a section."""

    WRITABLE = 1
    LOADED = 2
    CODE = 4
    IN_GROUP = 0x200
    THREAD_LOCAL = 0x400


class Tag(IntEnum):
    """Entries of the dynamic section."""

    NEEDED = 1
    STRINGS = 5
    STRINGS_SIZE = 10
    FLAGS_1 = 0x6FFFFFFB


class Segment(NamedTuple):
    """A program header."""

    kind: int
    offset: int
    address: int
    size: int  # in the file
    align: int


class Section(NamedTuple):
    """A section header."""

    name: bytes
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int


class Note(NamedTuple):
    """One note; where its description lies in the file."""

    owner: bytes
    kind: int
    offset: int
    size: int


class Symbol(NamedTuple):
    """A symbol that other files can see."""

    name: bytes
    defined: bool


class Elf:
    """One ELF file in a buffer."""

    def __init__(self, data: Buffer) -> None:
        self.data = data
        _check_identification(data)
        (
            self.type,
            self.machine,
            _,
            _,
            self._segments_at,
            self._sections_at,
            _,
            _,
            self._segment_size,
            self._segment_count,
            self._section_size,
            self._section_count,
            self._names_index,
        ) = self._unpack(_HEADER, 16)
        if self._segment_count > _MOST_SEGMENTS:
            raise ElfError("is damaged: it has more program headers than any program")

    def segments(self) -> Iterator[Segment]:
        """The program headers."""
        for index in range(self._segment_count):
            at = self._segments_at + index * self._segment_size
            kind, _, offset, address, _, size, _, align = self._unpack(_SEGMENT, at)
            yield Segment(kind, offset, address, size, align)

    @cached_property
    def sections(self) -> list[Section]:
        """The section headers; none is no error."""
        if not self._sections_at:
            return []
        count, names_index = self._section_count, self._names_index
        if not count or names_index == 0xFFFF:  # too many for the header: told by section 0
            *_, size, link, _, _, _ = self._unpack(_SECTION, self._sections_at)
            count, names_index = count or size, link if names_index == 0xFFFF else names_index
        if count * _SECTION.size > len(self.data):
            raise ElfError("is cut short or damaged: its section table lies outside")
        rows = [
            self._unpack(_SECTION, self._sections_at + index * self._section_size)
            for index in range(count)
        ]
        names = self._names(rows, names_index)
        return [
            Section(_string(names, name), kind, flags, address, offset, size, link, info)
            for name, kind, flags, address, offset, size, link, info, _, _ in rows
        ]

    def has_section(self, name: bytes) -> bool:
        """Whether there is a section of that name."""
        return any(section.name == name for section in self.sections)

    def contents(self, section: Section) -> bytes:
        """What a section holds in the file."""
        if section.kind == SectionKind.NO_BITS:
            return b""
        return self.part(section.offset, section.size)

    def notes(self) -> Iterator[Note]:
        """All notes that the program headers name, which a stripped file still has."""
        for segment in self.segments():
            if segment.kind == SegmentKind.NOTE:
                yield from self._notes(segment)

    def dynamic(self) -> dict[int, list[int]]:
        """The dynamic section: the values of each tag. Empty for a static file."""
        values: dict[int, list[int]] = {}
        for segment in self.segments():
            if segment.kind == SegmentKind.DYNAMIC:
                usable = segment.size - segment.size % _DYNAMIC.size
                for tag, value in _DYNAMIC.iter_unpack(self.part(segment.offset, usable)):
                    if tag == 0:
                        break
                    values.setdefault(tag, []).append(value)
        return values

    def libraries(self) -> tuple[str, ...]:
        """The shared libraries it asks for by name."""
        dynamic = self.dynamic()
        wanted = dynamic.get(Tag.NEEDED, [])
        if not wanted or Tag.STRINGS not in dynamic or Tag.STRINGS_SIZE not in dynamic:
            return ()
        start = self._file_offset(dynamic[Tag.STRINGS][0])
        strings = self.part(start, dynamic[Tag.STRINGS_SIZE][0])
        return tuple(_string(strings, name).decode(errors="replace") for name in wanted)

    def has_interpreter(self) -> bool:
        """Whether the dynamic loader starts it."""
        return any(segment.kind == SegmentKind.INTERPRETER for segment in self.segments())

    def symbols(self, kind: SectionKind = SectionKind.SYMBOLS) -> Iterator[Symbol]:
        """Global and weak symbols of one of the two tables."""
        for section in self.sections:
            if section.kind != kind:
                continue
            strings = self.contents(self._section(section.link))
            table = self.contents(section)
            rows = table[section.info * _SYMBOL.size :]  # what comes before is local
            rows = rows[: len(rows) - len(rows) % _SYMBOL.size]
            for name, _, _, index, _, _ in _SYMBOL.iter_unpack(rows):
                yield Symbol(_string(strings, name), index != 0)

    def symbol_name(self, table: int, index: int) -> bytes:
        """The name of one symbol of the table that is section number `table`."""
        symbols = self._section(table)
        strings = self._section(symbols.link)
        name, *_ = self._unpack(_SYMBOL, symbols.offset + index * _SYMBOL.size)
        end = self.data.find(b"\0", strings.offset + name, strings.offset + strings.size)
        return self.data[strings.offset + name : end] if end >= 0 else b""

    def part(self, offset: int, size: int) -> bytes:
        """Part of the file. Raises `ElfError` when it does not reach so far."""
        if offset + size > len(self.data):
            raise ElfError("is cut short or damaged: part of it lies outside the file")
        return self.data[offset : offset + size]

    def _section(self, number: int) -> Section:
        if number >= len(self.sections):
            raise ElfError("is damaged: it names a section that it does not have")
        return self.sections[number]

    def _names(self, rows: list[tuple[int, ...]], index: int) -> bytes:
        if index >= len(rows):
            raise ElfError("is damaged: its sections have no names")
        return self.part(rows[index][4], rows[index][5])

    def _notes(self, segment: Segment) -> Iterator[Note]:
        at, end = segment.offset, segment.offset + segment.size
        while at + _NOTE.size <= end:
            owner, size, kind = self._unpack(_NOTE, at)
            if segment.align == 8 and at % 8 == 4 and not owner:  # no note: up to where one is
                at += 4
                continue
            # mold puts notes that are aligned to four bytes among those that are to eight.
            align = 8 if segment.align == 8 and at % 8 == 0 else 4
            description = _aligned(at + _NOTE.size + owner, align)
            if description + size > end:
                raise ElfError("is damaged: a note reaches beyond its segment")
            yield Note(self.part(at + _NOTE.size, owner).rstrip(b"\0"), kind, description, size)
            at = _aligned(description + size, 4)

    def _file_offset(self, address: int) -> int:
        for segment in self.segments():
            inside = address - segment.address
            if segment.kind == SegmentKind.LOAD and 0 <= inside < segment.size:
                return segment.offset + inside
        raise ElfError("is damaged: its dynamic section points outside the file")

    def _unpack(self, form: struct.Struct, offset: int) -> tuple[int, ...]:
        if offset + form.size > len(self.data):
            raise ElfError("is cut short or damaged: part of it lies outside the file")
        return form.unpack_from(self.data, offset)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Elf]:
    """A file for as long as the block lasts. Raises `ElfError` and `OSError`."""
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:  # which mmap cannot take
            raise ElfError("is empty")
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            yield Elf(data)


def build_id(path: str | os.PathLike[str]) -> str:
    """What the linker called it, in hexadecimal; "" when it did not. Raises as `opened`."""
    with opened(path) as elf:
        for note in elf.notes():
            if (note.owner, note.kind) == _BUILD_ID:
                return elf.part(note.offset, note.size).hex()
    return ""


def _check_identification(data: Buffer) -> None:
    head = data[:16]
    if not head.startswith(b"\x7fELF"):
        raise ElfError("is no ELF file")
    if len(head) < 16:
        raise ElfError("is cut short: not even its ELF header is whole")
    if head[4] == 1:
        raise ElfError("is a 32-bit program")
    if head[5] == 2:
        raise ElfError("is for a big-endian processor")
    if head[4] != 2 or head[5] != 1:
        raise ElfError("is damaged: its ELF header makes no sense")


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align


def _string(table: bytes, offset: int) -> bytes:
    end = table.find(b"\0", offset)
    return table[offset:end] if end >= 0 else b""
