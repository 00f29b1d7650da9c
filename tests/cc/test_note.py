# SPDX-License-Identifier: Apache-2.0
"""What a binary says of itself is read back, and every other file gets its own message."""

import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cc.harness import HELLO, THREAD, Shop

from eitherway.elf import Elf, ElfError, SectionKind
from eitherway.errors import BadInput, Exit
from eitherway.installed import native
from eitherway.worlds.threads import note
from eitherway.worlds.threads.program import Kind, classify

FULL = note.Note(
    runtime="1.2.3",
    compiler="gcc 12.2.0",
    measured=True,
    is_library=False,
    loads_anywhere=True,
    code=1 << 40,
    instrumented=123,
    files=7,
    files_instrumented=5,
    unseen=("libz.a(inflate.o)", "père.s"),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shop = Shop(tmp_path_factory.mktemp("program"))
    shop.write("a.c", THREAD)
    shop.cc("-g", "-O1", "a.c", "-o", "a").ok()
    return shop.path / "a"


@pytest.fixture
def copy(program: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(program, tmp_path / "copy"))


# --- the note


def test_what_is_written_is_read(copy: Path) -> None:
    assert note.write(str(copy), FULL)
    found = note.read(copy)
    assert found is not None
    assert found._replace(libraries=()) == FULL
    assert "libc.so.6" in found.libraries
    assert found.share == pytest.approx(123 / 2**40)


def test_texts_that_are_too_long_are_cut_between_characters_and_names(copy: Path) -> None:
    names = tuple(f"folder/file-{number:03}.o" for number in range(100))
    assert note.write(str(copy), FULL._replace(runtime="ü" * 40, unseen=names))
    found = note.read(copy)
    assert found is not None
    assert found.runtime == "ü" * 16
    assert found.unseen == names[: len(found.unseen)]
    assert 10 < len(found.unseen) < 100
    assert found.compiler == FULL.compiler


def test_a_link_by_hand_is_not_measured(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.write("a.c", HELLO)
    shop.plain("a.c", str(native("lib/eitherway_rt.note")), "-o", "a").ok()
    found = shop.note("a")
    assert (found.measured, found.share, found.runtime) == (False, None, "")


def test_a_binary_without_code_counts_as_whole() -> None:
    assert note.Note(measured=True).share == 1.0


@pytest.mark.parametrize("command", [["strip"], ["strip", "--strip-all"], ["objcopy", "-g"]])
def test_a_stripped_binary_keeps_its_note(copy: Path, command: list[str]) -> None:
    Shop(copy.parent).run(*command, "copy").ok()
    assert classify(copy).kind is Kind.OURS


def test_a_binary_without_section_headers_keeps_its_note(copy: Path) -> None:
    data = bytearray(copy.read_bytes())
    data[40:48] = bytes(8)  # e_shoff
    data[58:64] = bytes(6)  # their size, count and names
    copy.write_bytes(data)
    assert classify(copy).kind is Kind.OURS


def test_the_placeholder_has_the_size_that_is_written() -> None:
    elf = Elf(native("lib/eitherway_rt.note").read_bytes())
    (section,) = (each for each in elf.sections if each.name == b".note.eitherway")
    owner, size, kind = struct.unpack("<III", elf.contents(section)[:12])
    assert (owner, size, kind) == (len(note.OWNER) + 1, len(note._encode(FULL)), note.KIND)


def one_note(owner: bytes, kind: int, description: bytes) -> bytes:
    head = struct.pack("<III", len(owner) + 1, len(description), kind) + owner + b"\0"
    return head + bytes(-len(head) % 4) + description


@pytest.mark.parametrize("padding", [0, 4])
def test_notes_of_two_alignments_in_one_segment(padding: int) -> None:
    """mold puts those of four bytes behind one of eight; who aligns all of them pads."""
    notes = (
        one_note(b"GNU", 5, bytes(16)),
        one_note(b"GNU", 3, b"a" * 20) + bytes(padding),
        one_note(note.OWNER, note.KIND, b"b" * 8),
    )
    identification = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    sizes = (64, 56, 1, 64, 0, 0)
    header = struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, *sizes)
    size = sum(map(len, notes))
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 120, 120, size, size, 8)
    elf = Elf(identification + header + segment + b"".join(notes))
    found = [(each.owner, elf.part(each.offset, each.size)) for each in elf.notes()]
    assert found == [(b"GNU", bytes(16)), (b"GNU", b"a" * 20), (note.OWNER, b"b" * 8)]


# --- files that are not what they should be


def change(offset: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:offset] + new + data[offset + len(new) :]


def note_field(offset: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda data: change(data.index(note.OWNER + b"\0\0\0") + 12 + offset, new)(data)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"", "is empty"),
        (lambda data: b"#!/bin/sh\n", "is no ELF file"),
        (lambda data: data[:10], "is cut short"),
        (lambda data: data[:60], "is cut short"),
        (lambda data: data[:100], "is cut short"),
        (change(4, b"\1"), "is a 32-bit program"),
        (change(5, b"\2"), "big-endian"),
        (change(4, b"\7"), "makes no sense"),
        (change(18, b"\xb7\0"), "another processor (machine 183"),
        (change(56, b"\xff\xff"), "more program headers"),
        (change(32, b"\xff" * 8), "lies outside"),
        (note_field(0, b"\2\0\0\0"), "newer EitherWay (note layout 2"),
        (note_field(0, b"\0\0\0\0"), "its EitherWay note makes no sense"),
        (note_field(-20, b"\0\x01\0\0"), "its EitherWay note makes no sense"),
        (note_field(-20, b"\xff\xff\xff\x7f"), "reaches beyond its segment"),
    ],
)
def test_a_damaged_file_has_its_own_message(
    copy: Path, damage: Callable[[bytes], bytes], words: str
) -> None:
    copy.write_bytes(damage(copy.read_bytes()))
    with pytest.raises(BadInput) as caught:
        note.read(copy)
    assert words in caught.value.message
    assert str(copy) in caught.value.message


def test_a_file_that_is_not_there_or_not_a_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BadInput, match="cannot be read"):
            note.read(path)


def test_another_elf_file_has_no_note() -> None:
    assert note.read(os.path.realpath("/bin/sh")) is None


def everything(path: Path) -> None:
    """All that reads an ELF file."""
    data = path.read_bytes()
    try:
        elf = Elf(data)
        note.of(elf)
        elf.libraries()
        for kind in (SectionKind.SYMBOLS, SectionKind.DYNAMIC_SYMBOLS):
            list(elf.symbols(kind))
    except ElfError:
        pass
    program = classify(path)
    assert program.kind in Kind
    problem = program.problem()
    assert problem is None or problem.message.startswith(str(path))


def test_no_cut_file_does_more_than_say_so(program: Path, tmp_path: Path) -> None:
    data = program.read_bytes()
    target = tmp_path / "cut"
    target.touch()
    target.chmod(0o755)
    for length in [*range(0, 1200, 7), *range(1200, len(data), 6007)]:
        target.write_bytes(data[:length])
        everything(target)


def test_no_mutated_file_does_more_than_say_so(program: Path, tmp_path: Path) -> None:
    data = program.read_bytes()
    headers = len(data) - struct.unpack_from("<H", data, 60)[0] * 64  # of the sections: at the end
    chance = random.Random(4)  # noqa: S311 # repeatable, not secret
    target = tmp_path / "mutated"
    target.touch()
    target.chmod(0o755)
    for _ in range(700):
        changed = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            region = chance.choice([(0, 64), (64, 1200), (headers, len(data)), (0, len(data))])
            changed[chance.randrange(*region)] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
        target.write_bytes(changed)
        everything(target)


# --- what a program is


def built(tmp_path: Path, *words: str) -> Path:
    shop = Shop(tmp_path)
    shop.write("a.c", HELLO)
    shop.plain("a.c", "-o", "a", *words).ok()
    return tmp_path / "a"


def test_ours(program: Path) -> None:
    found = classify(program)
    assert found.kind is Kind.OURS
    assert found.problem() is None
    assert found.note is not None
    assert found.note.share == 1.0


@pytest.mark.parametrize("words", [[], ["-no-pie"], ["-s"]])
def test_an_ordinary_program(tmp_path: Path, words: list[str]) -> None:
    problem = classify(built(tmp_path, *words)).problem()
    assert isinstance(problem, BadInput)
    assert "was not built by eitherway cc" in problem.message
    assert "CC='eitherway cc'" in problem.fix


@pytest.mark.parametrize("words", [["-static"], ["-static-pie"], ["-static", "-s"]])
def test_a_static_program(tmp_path: Path, words: list[str]) -> None:
    found = classify(built(tmp_path, *words))
    assert found.kind is Kind.STATIC
    problem = found.problem()
    assert problem is not None
    assert "without -static" in problem.fix


def test_a_program_with_the_runtime_of_another(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.write("rt.c", "void __tsan_init(void) {}\nvoid __tsan_func_entry(void *a) {}\n")
    shop.write("rt2.c", "void __tsan_func_exit(void) {}\n")
    shop.plain("-c", "rt.c", "rt2.c").ok()
    assert classify(built(tmp_path, "rt.o", "rt2.o")).kind is Kind.OTHER_RUNTIME
    shop.plain("-shared", "-fPIC", "rt.c", "rt2.c", "-o", "libtsan.so", "-Wl,-soname,libtsan.so.2")
    found = classify(built(tmp_path, "-Wl,--no-as-needed", "libtsan.so"))
    assert found.kind is Kind.OTHER_RUNTIME
    problem = found.problem()
    assert problem is not None
    assert problem.exit_code == Exit.BAD_INPUT


def test_a_note_that_was_removed(copy: Path) -> None:
    """Its runtime is still there, but nothing is known of it."""
    Shop(copy.parent).run("objcopy", "--remove-section=.note.eitherway", "copy").ok()
    assert classify(copy).kind is Kind.OTHER_RUNTIME


@pytest.mark.parametrize(
    ("data", "kind", "status"),
    [
        (b"#!/bin/sh\nexit 0\n", Kind.SCRIPT, Exit.USAGE),
        (b"plain text", Kind.NOT_EXECUTABLE, Exit.USAGE),
        (b"", Kind.NOT_EXECUTABLE, Exit.USAGE),
        (b"\x7fELF\x01\x01\x01" + bytes(60), Kind.BITS_32, Exit.BAD_INPUT),
        (b"\x7fELF\x02\x02\x01" + bytes(60), Kind.FOREIGN, Exit.BAD_INPUT),
        (b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xb7\0" + bytes(60), Kind.FOREIGN, Exit.BAD_INPUT),
        (b"\x7fELF\x02\x01\x01", Kind.DAMAGED, Exit.BAD_INPUT),
    ],
)
def test_what_is_no_program_of_ours(tmp_path: Path, data: bytes, kind: Kind, status: Exit) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    path.chmod(0o755)
    found = classify(path)
    problem = found.problem()
    assert found.kind is kind
    assert problem is not None
    assert problem.exit_code == status
    assert problem.message.startswith(str(path))


def test_missing_or_not_executable(copy: Path) -> None:
    assert classify(copy.parent / "missing").kind is Kind.MISSING
    assert classify(copy.parent).kind is Kind.NOT_EXECUTABLE
    copy.chmod(0o644)
    problem = classify(copy).problem()
    assert problem is not None
    assert problem.message == f"{copy} is not executable"
