# SPDX-License-Identifier: Apache-2.0
"""What a command's program is, before anything is run: built for our runtime, or what else."""

import os
from enum import Enum
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from eitherway import __version__
from eitherway.elf import Elf, ElfError, SectionKind, Tag, Type
from eitherway.errors import BadInput, Problem, UsageError
from eitherway.worlds.threads import note as notes

_REBUILD = "rebuild it with CC='eitherway cc' CXX='eitherway c++'"
_PIE = 0x08000000  # DF_1_PIE, set by linkers since 2016


class Kind(Enum):
    """The value says it of the program, after its name."""

    OURS = "carries our runtime"
    OTHER_VERSION = "carries the runtime of another version of EitherWay"
    ORDINARY = "was not built by eitherway cc"
    OTHER_RUNTIME = "carries the runtime of another thread sanitizer"
    LIBRARY = "is a shared library and no program"
    OBJECT = "is an object file and no program"
    STATIC = "is a static executable, which our runtime cannot be part of"
    BITS_32 = "is a 32-bit program; our runtime knows x86-64 only"
    FOREIGN = "is for another processor; our runtime knows x86-64 only"
    DAMAGED = "is a damaged ELF file"
    SCRIPT = "is a script and does not carry our runtime itself"
    NOT_EXECUTABLE = "is not executable"
    MISSING = "does not exist"


class Program(NamedTuple):
    """One program."""

    path: str
    kind: Kind
    note: notes.Note | None = None  # when it is OURS, also of another version, or a LIBRARY of ours
    detail: str = ""

    def problem(self) -> Problem | None:
        """Why the threads world cannot take it; None when it can."""
        if self.kind is Kind.OURS:
            return None
        words = f"{self.path} {self.detail or self.kind.value}"
        if self.kind in (Kind.MISSING, Kind.NOT_EXECUTABLE, Kind.LIBRARY, Kind.OBJECT):
            return UsageError(words)
        if self.kind is Kind.SCRIPT:
            return UsageError(words, fix="--world threads, for the programs that it starts")
        return BadInput(words, fix=_FIXES.get(self.kind, _REBUILD))

    def may_lead(self, word: str) -> bool:
        """Whether it can be run, by this word of a command, for the sake of what it starts.

        A script, or what is found by its name, such as make: a program that is named by its path
        was meant to be ours itself.
        """
        return self.kind is Kind.SCRIPT or (self.kind is Kind.ORDINARY and "/" not in word)

    def nothing_of_ours(self) -> Problem:
        """Why a run that it led was for nothing."""
        words = f"{self.path} {self.detail or self.kind.value}, and it started no program of ours"
        return BadInput(
            words, fix="build what it starts with CC='eitherway cc' CXX='eitherway c++'"
        )


_FIXES = {
    Kind.STATIC: f"{_REBUILD}, without -static",
    Kind.BITS_32: f"{_REBUILD}, without -m32",
    Kind.DAMAGED: "build it again",
}


def classify(path: str | os.PathLike[str]) -> Program:
    """What the file is. Never raises for what a file may be."""
    name = os.fspath(path)
    if not os.path.exists(name):
        return Program(name, Kind.MISSING)
    if reason := _not_executable(name):
        return Program(name, Kind.NOT_EXECUTABLE, detail=reason)
    try:
        with open(name, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return _classify(name, data)
    except ElfError as problem:
        return Program(name, Kind.DAMAGED, detail=str(problem))
    except OSError as problem:
        return Program(name, Kind.NOT_EXECUTABLE, detail=f"cannot be read: {problem.strerror}")


def _not_executable(name: str) -> str:
    if os.path.isdir(name):
        return "is a directory"
    if not os.path.isfile(name):
        return "is not a file"
    if not os.access(name, os.X_OK):
        return "is not executable"
    return "" if os.path.getsize(name) else "is empty"


def _classify(name: str, data: mmap) -> Program:
    head = data[:20]
    if head.startswith(b"#!"):
        return Program(name, Kind.SCRIPT)
    if not head.startswith(b"\x7fELF"):
        return Program(name, Kind.NOT_EXECUTABLE, detail="is neither an ELF program nor a script")
    if head[4:5] == b"\x01":
        return Program(name, Kind.BITS_32)
    if head[5:6] == b"\x02" or (len(head) == 20 and head[18:20] != b"\x3e\0"):
        return Program(name, Kind.FOREIGN)
    return _classify_elf(name, Elf(data))


def _classify_elf(name: str, elf: Elf) -> Program:
    found = notes.of(elf)
    if elf.type == Type.OBJECT:
        return Program(name, Kind.OBJECT)
    if not elf.has_interpreter() and elf.type == Type.SHARED and not _is_pie(elf):
        return Program(name, Kind.LIBRARY, found)
    if found is not None and not found.is_library:
        return _of_version(name, found)
    if _has_hooks(elf):
        return Program(name, Kind.OTHER_RUNTIME)
    if not elf.has_interpreter():
        return Program(name, Kind.STATIC)
    return Program(name, Kind.ORDINARY)


def _of_version(name: str, found: notes.Note) -> Program:
    """The runtime in it and we share memory: both have to be of one version."""
    if found.runtime in ("", __version__):  # a link by hand names none
        return Program(name, Kind.OURS, found)
    detail = f"was built by EitherWay {found.runtime}, this is {__version__}"
    return Program(name, Kind.OTHER_VERSION, found, detail)


def _is_pie(elf: Elf) -> bool:
    return any(value & _PIE for value in elf.dynamic().get(Tag.FLAGS_1, []))


def _has_hooks(elf: Elf) -> bool:
    """Whether a runtime with the same hooks is linked to it, statically or not."""
    if any(library.startswith("libtsan") for library in elf.libraries()):
        return True
    tables = (SectionKind.DYNAMIC_SYMBOLS, SectionKind.SYMBOLS)
    return any(
        symbol.defined and symbol.name == b"__tsan_init"
        for table in tables
        for symbol in elf.symbols(table)
    )
