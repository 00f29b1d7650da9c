# SPDX-License-Identifier: Apache-2.0
"""What share of a binary's code is instrumented, counted from the files that the linker took.

The unit is the object file. The compiler adds a call of `__tsan_init` to every one that it
instruments, so an undefined symbol of that name tells, even where no function of the file touches
memory. Its code is what its executable sections hold; a function that several files bring (an
inline function of C++) counts once, in the first file, as the linker keeps it. What the linker
throws away afterwards (--gc-sections) is still counted, and a function that asks not to be
instrumented counts as its file does.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from eitherway.elf import (
    Buffer,
    Elf,
    ElfError,
    Section,
    SectionFlag,
    SectionKind,
    Type,
)
from eitherway.worlds.threads.cc import archive

# Belongs to the compiler and to libc's start-up, and is in every program.
_TOOLCHAIN = ("crt1.o", "Scrt1.o", "gcrt1.o", "grcrt1.o", "rcrt1.o", "Mcrt1.o", "crti.o", "crtn.o")
_TOOLCHAIN_STARTS = ("crtbegin", "crtend", "crtfast", "libgcc", "libc_nonshared", "libclang_rt")
_HOOK = b"__tsan_init"
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_LTO_ONLY = b"__gnu_lto_slim"  # gcc's mark of an object that holds no code yet
_COMDAT = 1


class Counted(NamedTuple):
    """What one object file brings."""

    name: str
    code: int  # bytes
    instrumented: bool
    lto_only: bool = False  # holds what a compiler would still have to compile
    defines: frozenset[bytes] = frozenset()  # of the names asked for


class Share(NamedTuple):
    """All that the linker took, but for the toolchain's own files."""

    counted: tuple[Counted, ...]

    @property
    def code(self) -> int:
        """Bytes of code."""
        return sum(each.code for each in self.counted)

    @property
    def instrumented(self) -> int:
        """Bytes of it that call our hooks."""
        return sum(each.code for each in self.counted if each.instrumented)

    @property
    def unseen(self) -> list[Counted]:
        """The files with code that does not, largest first."""
        plain = [each for each in self.counted if each.code and not each.instrumented]
        return sorted(plain, key=lambda each: (-each.code, each.name))


def count(
    trace: Iterable[str], *, own: Iterable[str], names: Mapping[str, str], asked: frozenset[bytes]
) -> Share:
    """Count what a linker's --trace names.

    `own` are the files that we added; `names` says how to call a file that was compiled on the way;
    `asked` are the symbols whose definition is to be told.
    """
    count = _Count(asked)
    skipped = frozenset(own)
    taken: dict[str, list[str]] = {}  # members by library; "" for a file of its own
    for line in trace:
        path, member = _taken(line)
        if path not in skipped and not _is_toolchain(path):
            taken.setdefault(path, []).append(member)
    found = [each for path, parts in taken.items() for each in count.file(path, parts)]
    return Share(tuple(each._replace(name=names.get(each.name, each.name)) for each in found))


def bytecode(path: str) -> list[str]:
    """The objects in a file, or in a whole library, that hold no code yet."""
    return [each.name for each in _Count(frozenset()).file(path, None) if each.lto_only]


def is_trace(line: str) -> bool:
    """Whether a line of the linker's output is one of --trace: names a file."""
    return os.path.exists(_taken(line)[0])


def _taken(line: str) -> tuple[str, str]:
    """`file`, `(library)member` as GNU ld says it, or `library(member)` as all others do."""
    line = line.removeprefix("trace: ")  # mold
    if line.startswith("("):
        library, _, member = line[1:].partition(")")
        return library, member
    if line.endswith(")") and not os.path.exists(line):
        library, _, member = line[:-1].partition("(")
        return library, member
    return line, ""


def _is_toolchain(path: str) -> bool:
    name = os.path.basename(path)
    return name in _TOOLCHAIN or name.startswith(_TOOLCHAIN_STARTS)


class _Count:
    """Reads files one after the other; knows which inline functions it has met."""

    def __init__(self, asked: frozenset[bytes]) -> None:
        self._asked = asked
        self._groups: set[bytes] = set()

    def file(self, path: str, parts: list[str] | None) -> Iterator[Counted]:
        """An object, or those members of a library that the linker took; None: all."""
        with _mapped(path) as data:
            if data is not None and archive.is_archive(data):
                yield from self._members(path, data, parts)
            elif data is not None:
                yield from self._object(path, data)

    def _members(self, path: str, data: Buffer, parts: list[str] | None) -> Iterator[Counted]:
        for member in archive.members(path, data):
            if parts is not None and not {member.name, member.path or member.name} & set(parts):
                continue  # gold names what a thin library refers to by its path
            if member.path:
                yield from self.file(member.path, None)
            else:
                content = data[member.start : member.start + member.size]
                yield from self._object(f"{path}({member.name})", content)

    def _object(self, name: str, data: Buffer) -> Iterator[Counted]:
        """Nothing for what is no object: shared libraries, scripts of the linker."""
        if data[:4] in _BITCODE:
            yield Counted(name, 0, instrumented=False, lto_only=True)
            return
        try:
            elf = Elf(data)
            if elf.type == Type.OBJECT:
                yield self._count(name, elf)
        except ElfError:
            return

    def _count(self, name: str, elf: Elf) -> Counted:
        code = self._code(elf)
        undefined, defined = set[bytes](), set[bytes]()
        for symbol in elf.symbols():
            (defined if symbol.defined else undefined).add(symbol.name)
        return Counted(name, code, _HOOK in undefined, _LTO_ONLY in defined, self._asked & defined)

    def _code(self, elf: Elf) -> int:
        known = self._known_groups(elf)
        wanted = SectionFlag.LOADED | SectionFlag.CODE
        return sum(
            section.size
            for number, section in enumerate(elf.sections)
            if section.flags & wanted == wanted and number not in known
        )

    def _known_groups(self, elf: Elf) -> set[int]:
        """Sections of groups that an earlier file has brought. Those of this one are known then."""
        known: set[int] = set()
        for section in elf.sections:
            if section.kind == SectionKind.GROUP:
                known.update(self._group(elf, section))
        return known

    def _group(self, elf: Elf, section: Section) -> list[int]:
        words = memoryview(elf.contents(section)[: section.size & ~3]).cast("I").tolist()
        if not words or not words[0] & _COMDAT:
            return []
        signature = elf.symbol_name(section.link, section.info)
        if signature in self._groups:
            return words[1:]
        self._groups.add(signature)
        return []


@contextmanager
def _mapped(path: str) -> Iterator[mmap | None]:
    """A file's bytes; None for what cannot be read as one."""
    try:
        with open(path, "rb") as file:
            data = mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError):  # ValueError: it is empty
        yield None
        return
    with data:
        yield data
