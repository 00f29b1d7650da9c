# SPDX-License-Identifier: Apache-2.0
"""The note in a binary that says what it is: written by `eitherway cc`, read by everyone else.

An ELF note with owner "EitherWay" and type 1, which the program headers name, so that `strip`
leaves it alone. Its description has 512 bytes, little-endian:

      0  u32  layout: 1. Raised when a field changes its meaning; native/runtime/note.S has it too
      4  u32  flags: bit 0 measured   bit 1 a library, without the runtime   bit 2 loads anywhere
      8  u64  bytes of code that are instrumented
     16  u64  bytes of code
     24  u32  object files that are instrumented
     28  u32  object files
     32  32   the runtime's version   \\
     64  64   the compiler             > text in UTF-8, filled up with zero bytes
    128  384  files without            /  instrumentation, the largest, one a line

Until a link has been measured, all but the layout is zero.
"""

import os
import struct
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from eitherway.elf import X86_64, Elf, ElfError, opened
from eitherway.errors import BadInput

OWNER = b"EitherWay"
KIND = 1
LAYOUT = 1
_FIELDS = struct.Struct("<IIQQII32s64s384s")
_MEASURED, _LIBRARY, _ANYWHERE = 1, 2, 4


class Note(NamedTuple):
    """What a binary says about itself."""

    runtime: str = ""  # version; "" when the link was not measured
    compiler: str = ""  # such as "gcc 12.2.0": the one that linked
    measured: bool = False
    is_library: bool = False  # without the runtime: a program brings that
    loads_anywhere: bool = False  # position-independent
    code: int = 0  # bytes, of the program's own files and static libraries
    instrumented: int = 0  # bytes of it
    files: int = 0
    files_instrumented: int = 0
    unseen: tuple[str, ...] = ()  # files without instrumentation: the largest, as many as fit
    libraries: tuple[str, ...] = ()  # shared ones it asks for; whether they are ours, they say

    @property
    def share(self) -> float | None:
        """Of the code, how much is instrumented, from 0 to 1; None when nobody knows."""
        if not self.measured:
            return None
        return self.instrumented / self.code if self.code else 1.0


def read(path: str | os.PathLike[str]) -> Note | None:
    """The note of a binary; None for an ELF file that has none.

    Raises `BadInput` for what is no such file or a damaged one.
    """
    try:
        with opened(path) as elf:
            return of(elf)
    except ElfError as problem:
        raise BadInput(f"{os.fspath(path)} {problem}") from None
    except OSError as problem:
        raise BadInput(f"{os.fspath(path)} cannot be read: {problem.strerror}") from None


def of(elf: Elf) -> Note | None:
    """The same from an ELF file in memory. Raises `ElfError`."""
    if elf.machine != X86_64:
        raise ElfError(f"is for another processor (machine {elf.machine}, not x86-64)")
    place = _find(elf)
    if place is None:
        return None
    offset, size = place
    (layout,) = struct.unpack("<I", elf.part(offset, 4))
    if layout > LAYOUT:
        raise ElfError(f"was built by a newer EitherWay (note layout {layout}, not {LAYOUT})")
    if layout != LAYOUT or size != _FIELDS.size:
        raise ElfError("is damaged: its EitherWay note makes no sense")
    return _decode(elf.part(offset, size))._replace(libraries=elf.libraries())


def write(path: str, note: Note) -> bool:
    """Fill in the note of a fresh binary; False when the linker has left it no room."""
    with open(path, "r+b") as file:
        with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            place = _find(Elf(data))
        if place is None or place[1] != _FIELDS.size:
            return False
        file.seek(place[0])
        file.write(_encode(note))
    return True


def _find(elf: Elf) -> tuple[int, int] | None:
    for note in elf.notes():
        if note.owner == OWNER and note.kind == KIND:
            if note.size < 4:
                raise ElfError("is damaged: its EitherWay note makes no sense")
            return note.offset, note.size
    return None


def _encode(note: Note) -> bytes:
    flags = _MEASURED * note.measured | _LIBRARY * note.is_library | _ANYWHERE * note.loads_anywhere
    return _FIELDS.pack(
        LAYOUT,
        flags,
        note.instrumented,
        note.code,
        note.files_instrumented,
        note.files,
        _cut(note.runtime, 32),
        _cut(note.compiler, 64),
        "\n".join(_fitting(note.unseen, 384)).encode(errors="replace"),
    )


def _decode(description: bytes) -> Note:
    _, flags, instrumented, code, files_instrumented, files, *texts = _FIELDS.unpack(description)
    runtime, compiler, unseen = (text.rstrip(b"\0").decode(errors="replace") for text in texts)
    return Note(
        runtime=runtime,
        compiler=compiler,
        measured=bool(flags & _MEASURED),
        is_library=bool(flags & _LIBRARY),
        loads_anywhere=bool(flags & _ANYWHERE),
        code=code,
        instrumented=instrumented,
        files=files,
        files_instrumented=files_instrumented,
        unseen=tuple(unseen.split("\n")) if unseen else (),
    )


def _cut(text: str, size: int) -> bytes:
    """As much as fits, without half a character."""
    return text.encode(errors="replace")[:size].decode(errors="ignore").encode()


def _fitting(names: Iterable[str], size: int) -> list[str]:
    """The first of them that fit with a line end each, whole."""
    fitting: list[str] = []
    for name in names:
        size -= len(name.encode(errors="replace")) + 1
        if size < 0:
            break
        fitting.append(name)
    return fitting
