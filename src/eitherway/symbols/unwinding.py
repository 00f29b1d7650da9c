# SPDX-License-Identifier: Apache-2.0
"""Where a function has put what it must give back to its caller, at one of its instructions.

From the unwind tables that exceptions need (.eh_frame), which a stripped file has too. What is
written there in ways that compilers use for nothing but tables of the linker's is not understood.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from eitherway.elf import ElfError, opened
from eitherway.model.trace import Table
from eitherway.symbols.files import File, file_at

RBX, RBP, RSP, RETURN = 3, 6, 7, 16  # as DWARF numbers the registers of x86-64
_PC_RELATIVE_4, _DATA_RELATIVE_4, _UNSIGNED_4 = 0x1B, 0x3B, 0x03
_TABLE = np.dtype([("code", "<i4"), ("entry", "<i4")])


@dataclass(frozen=True, slots=True)
class Rules:
    """Of a function [start, end) at one instruction.

    A frame ends at the stack pointer before it was called; offsets are counted from there.
    """

    start: int
    end: int
    register: int  # whose value, with `above` added, is the end of the frame
    above: int
    saved: dict[int, int] = field(default_factory=dict)  # registers of the caller's, to where
    outermost: bool = False  # nobody called it
    handlers: tuple[int, ...] = ()  # where an exception may lead back into it


def rules_at(module: str, code: int) -> Rules | None:
    """At an address of the ELF file; None: there is no such function, or it is not understood."""
    return _rules(file_at(module), code)


@lru_cache(maxsize=4096)
def _rules(file: File, code: int) -> Rules | None:
    tables = _tables(file)
    at = tables.find(code) if tables else None
    if tables is None or at is None:
        return None
    try:
        return _interpreted(tables, at, code)
    except (_StrangeError, struct.error, IndexError):
        return None


class _StrangeError(ValueError):
    """What is written there is not understood."""


@dataclass(frozen=True, slots=True)
class _Tables:
    frames: bytes  # .eh_frame
    address: int
    handlers: bytes  # .gcc_except_table
    handlers_address: int
    begins: Table  # of functions, in order
    entries: Table  # where each stands in `frames`

    def find(self, code: int) -> int | None:
        number = int(np.searchsorted(self.begins, code, side="right")) - 1
        return int(self.entries[number]) if number >= 0 else None


@lru_cache(maxsize=64)
def _tables(file: File) -> _Tables | None:
    try:
        with opened(file.path) as elf:
            sections = {section.name: section for section in elf.sections}
            frames, index = sections[b".eh_frame"], sections[b".eh_frame_hdr"]
            words, table = elf.contents(frames), elf.contents(index)
            exceptions = sections.get(b".gcc_except_table")
            handlers = elf.contents(exceptions) if exceptions else b""
    except (ElfError, OSError, KeyError):
        return None
    if tuple(table[:4]) != (1, _PC_RELATIVE_4, _UNSIGNED_4, _DATA_RELATIVE_4) or len(table) < 12:
        return None
    count = min(struct.unpack_from("<I", table, 8)[0], (len(table) - 12) // _TABLE.itemsize)
    rows = np.frombuffer(table, _TABLE, count, 12)
    begins = rows["code"].astype(np.int64) + index.address
    return _Tables(
        words,
        frames.address,
        handlers,
        exceptions.address if exceptions else 0,
        begins,
        rows["entry"] + (index.address - frames.address),
    )


# --- one function


@dataclass(slots=True)
class _Reader:
    data: bytes
    at: int

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def leb(self, *, signed: bool = False) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value


_FORMS = {0x00: "Q", 0x02: "H", 0x03: "I", 0x04: "Q", 0x0A: "h", 0x0B: "i", 0x0C: "q"}
_PC_RELATIVE = 0x10


def _pointer(reader: _Reader, encoding: int, section: int) -> int:
    """0 stays 0: there is none."""
    here = section + reader.at
    if encoding & 0x60 or encoding & 0x0F not in _FORMS:
        raise _StrangeError
    value = reader.number(_FORMS[encoding & 0x0F])
    return value + here if value and encoding & _PC_RELATIVE else value


@dataclass(frozen=True, slots=True)
class _Common:
    """What functions have in common."""

    code: int  # bytes that advances are counted in
    data: int  # and offsets
    encoding: int
    handlers: int | None  # encoding of what leads to them
    augmented: bool
    instructions: bytes


def _common(tables: _Tables, at: int) -> _Common:
    reader = _Reader(tables.frames, at)
    end = at + 4 + reader.number("I")
    if reader.number("I") != 0:
        raise _StrangeError
    version = reader.byte()
    letters = tables.frames[reader.at : tables.frames.index(b"\0", reader.at)].decode("latin-1")
    reader.at += len(letters) + 1
    code, data = reader.leb(), reader.leb(signed=True)
    returns = reader.byte() if version == 1 else reader.leb()
    encoding, handlers = 0, None
    if letters[:1] not in ("", "z") or returns != RETURN:
        raise _StrangeError
    behind = reader.leb() + reader.at if letters else reader.at
    for letter in letters[1:]:
        if letter == "R":
            encoding = reader.byte()
        elif letter == "L":
            handlers = reader.byte()
        elif letter == "P":
            _pointer(reader, reader.byte() & 0x7F, tables.address)
        elif letter == "S":  # of a signal: the frame is the kernel's
            raise _StrangeError
    return _Common(code, data, encoding, handlers, bool(letters), tables.frames[behind:end])


def _interpreted(tables: _Tables, at: int, code: int) -> Rules | None:
    reader = _Reader(tables.frames, at)
    end = at + 4 + reader.number("I")
    here = reader.at
    common = _common(tables, here - reader.number("I"))
    start = _pointer(reader, common.encoding, tables.address)
    size = reader.number(_FORMS[common.encoding & 0x0F])
    if not start <= code < start + size:
        return None
    handlers = 0
    if common.augmented:
        behind = reader.leb() + reader.at
        if common.handlers is not None:
            handlers = _pointer(reader, common.handlers, tables.address)
        reader.at = behind
    rows = _Rows(common)
    rows.run(common.instructions)
    rows.begin()
    rows.run(tables.frames[reader.at : end], code - start)
    pads = tuple(_handlers(tables, handlers, start)) if handlers else ()
    return replace(rows.rules(), start=start, end=start + size, handlers=pads)


_NONE, _LEB = 0xFF, 0x01


def _handlers(tables: _Tables, table: int, start: int) -> Iterator[int]:
    """Where the functions that it calls may throw it to, as the table at that address says."""
    section = tables.handlers_address
    reader = _Reader(tables.handlers, table - section)
    if reader.at < 0:
        raise _StrangeError
    encoding = reader.byte()
    base = start if encoding == _NONE else _pointer(reader, encoding, section)
    if reader.byte() != _NONE:
        reader.leb()  # where types are told
    if reader.byte() != _LEB:
        raise _StrangeError
    end = reader.leb() + reader.at
    while reader.at < end:
        _, _, pad, _ = (reader.leb() for _ in range(4))
        if pad:
            yield base + pad


class _Rows:
    """The instructions of the tables, done up to an address."""

    def __init__(self, common: _Common) -> None:
        self._common = common
        self._end: tuple[int, int] | None = None
        self._saved: dict[int, int | None] = {}  # None: nobody knows
        self._first: dict[int, int | None] = {}
        self._kept: list[tuple[tuple[int, int] | None, dict[int, int | None]]] = []

    def begin(self) -> None:
        """What was said is what functions begin with."""
        self._first = dict(self._saved)

    def rules(self) -> Rules:
        if self._end is None:
            raise _StrangeError
        known = {register: at for register, at in self._saved.items() if at is not None}
        outermost = RETURN in self._saved and self._saved[RETURN] is None
        if not outermost and len(known) < len(self._saved):
            raise _StrangeError
        return Rules(0, 0, *self._end, known, outermost)

    def run(self, instructions: bytes, until: int = 0) -> None:
        reader, place = _Reader(instructions, 0), 0
        while reader.at < len(instructions):
            place += self._advance(reader) * self._common.code
            if place > until:
                return

    def _advance(self, reader: _Reader) -> int:
        """Does one; by how many units it goes on."""
        word = reader.byte()
        high, low = word & 0xC0, word & 0x3F
        if high == 0x40:
            return low
        if word in _ADVANCES:
            return reader.number(_ADVANCES[word])
        if high == 0x80:
            self._saved[low] = reader.leb() * self._common.data
        elif high == 0xC0:
            self._restore(low)
        else:
            self._other(word, reader)
        return 0

    def _restore(self, register: int) -> None:
        self._saved.pop(register, None)
        if register in self._first:
            self._saved[register] = self._first[register]

    def _other(self, word: int, reader: _Reader) -> None:
        match word:
            case 0x00:  # nothing
                pass
            case 0x05:  # offset_extended
                register = reader.leb()
                self._saved[register] = reader.leb() * self._common.data
            case 0x06:  # restore_extended
                self._restore(reader.leb())
            case 0x07:  # undefined
                self._saved[reader.leb()] = None
            case 0x08:  # same_value
                self._saved.pop(reader.leb(), None)
            case 0x0A:  # remember_state
                self._kept.append((self._end, dict(self._saved)))
            case 0x0B:  # restore_state
                self._end, self._saved = self._kept.pop()
            case 0x0C:  # def_cfa
                self._end = reader.leb(), reader.leb()
            case 0x0D:  # def_cfa_register
                self._end = reader.leb(), self._above
            case 0x0E:  # def_cfa_offset
                self._end = self._register, reader.leb()
            case 0x2E:  # GNU_args_size
                reader.leb()
            case _:
                raise _StrangeError

    @property
    def _register(self) -> int:
        if self._end is None:
            raise _StrangeError
        return self._end[0]

    @property
    def _above(self) -> int:
        if self._end is None:
            raise _StrangeError
        return self._end[1]


_ADVANCES = {0x02: "B", 0x03: "H", 0x04: "I"}


# --- a stack

RulesOf = Callable[[int], Rules | None]  # at a return address in memory


@dataclass(frozen=True, slots=True)
class Stack:
    """Part of memory that begins at the stack pointer."""

    address: int
    bytes: bytes

    def word(self, address: int) -> int | None:
        """None: it lies outside."""
        at = address - self.address
        if at < 0 or at + 8 > len(self.bytes):
            return None
        return int.from_bytes(self.bytes[at : at + 8], "little")


@dataclass(frozen=True, slots=True)
class Unwound:
    """A frame: [sp, end) of the stack, where the function goes on, and registers as it has them."""

    code: int  # in memory
    sp: int
    end: int
    registers: dict[int, int]
    rules: Rules


def unwound(
    code: int, registers: dict[int, int], stack: Stack, rules_of: RulesOf
) -> Iterator[Unwound]:
    """Frames from the innermost on, as far as they are understood: the last may be outermost."""
    sp, known = stack.address, dict(registers)
    while (rules := rules_of(code)) is not None:
        base = sp if rules.register == RSP else known.get(rules.register)
        if base is None or base + rules.above <= sp:
            return
        end = base + rules.above
        yield Unwound(code, sp, end, dict(known), rules)
        if rules.outermost:
            return
        for register, at in rules.saved.items():
            word = stack.word(end + at)
            if word is None:
                return
            known[register] = word
        if RETURN not in rules.saved:
            return
        code, sp = known.pop(RETURN), end
