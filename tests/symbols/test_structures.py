# SPDX-License-Identifier: Apache-2.0
"""What a block of the heap is, by its size; and that nothing is said where that is not clear."""

import shutil
import subprocess
from pathlib import Path

import pytest

from eitherway.symbols.structures import field_in_block

pytestmark = pytest.mark.skipif(
    shutil.which("llvm-dwarfdump") is None, reason="no llvm-dwarfdump: apt-get install llvm"
)

C = """\
#include <pthread.h>
#include <stdlib.h>
struct point { int x, y; };
struct account { long balance; int count; struct point at[2]; char name[4]; };
struct pair { void *one, *two; };
struct couple { void *his, *hers; };
struct words { short a, b, c, d, e; };
struct wide { long a; short b; };
typedef struct { double d[3]; } triple;
static volatile struct account account; static volatile struct pair pair; struct couple couple;
static volatile struct words words; static volatile struct wide wide; static volatile triple three;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
void *make(size_t size) { return malloc(size); }
"""
CXX = """\
#include <stdlib.h>
namespace shop { struct base { int id; }; class till : base { public: int open; long sum[4]; }; }
volatile shop::till till;
void *make(size_t size) { return malloc(size); }
"""


def built(folder: Path, name: str, text: str, *options: str) -> tuple[str, int]:
    """The program, and where `make` is in it."""
    (folder / name).write_text(text, encoding="utf-8")
    more = folder / "main.c"
    more.write_text("struct foreign { long a[4]; } f; int main(void) { return 0; }\n")
    program = folder / "program"
    compiler = "g++" if name.endswith("cc") else "gcc"
    objects = [f"{name}.o", "main.o"]
    for source, made in zip((name, "main.c"), objects, strict=True):
        command = [compiler if source == name else "gcc", *(options or ("-g",)), "-O1", "-c"]
        subprocess.run([*command, source, "-o", made], cwd=folder, check=True)
    subprocess.run([compiler, *objects, "-o", program], cwd=folder, check=True)
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = (row.split() for row in table.splitlines())
    return str(program), next(int(row[0], 16) for row in rows if "make" in row[-1])


@pytest.fixture(scope="module")
def of_c(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    return built(tmp_path_factory.mktemp("c"), "a.c", C)


@pytest.mark.parametrize(
    ("block", "offset", "size", "field"),
    [
        (32, 0, 8, "account.balance"),
        (32, 8, 4, "account.count"),
        (32, 24, 4, "account.at[1].y"),
        (32, 29, 1, "account.name[1]"),
        (24, 16, 8, "triple.d[2]"),
        (32, 28, 3, "account.name"),  # some of its elements, as strcpy stores them
        (32, 28, 4, "account.name"),
        (24, 0, 16, "triple.d"),
        (24, 4, 8, ""),  # halves of two
        (24, 0, 12, ""),  # one, and half of the next
        (32, 12, 12, ""),  # one and a half of `at`
        (32, 0, 12, ""),  # two of its parts
        (32, 0, 4, ""),  # half of one
        (41, 0, 8, ""),  # no structure is so large
        (64, 0, 8, ""),  # two of them, or something else
        (10, 8, 2, "words.e"),
        (56, 0, 4, ""),  # only one of the machine's own is as large
        (16, 0, 8, ""),  # three are as large
        (16, 8, 2, "wide.b"),  # and of only one that is a part
    ],
)
def test_a_block_of_the_size_of_one_structure(
    of_c: tuple[str, int], block: int, offset: int, size: int, field: str
) -> None:
    program, make = of_c
    assert field_in_block(program, make, block, offset, size) == field


def test_other_units_do_not_count(of_c: tuple[str, int]) -> None:
    """main.c has a structure of 32 bytes too: nobody there asked for the block."""
    program, make = of_c
    assert field_in_block(program, make, 32, 0, 8) == "account.balance"
    assert field_in_block(program, 0x7FFF_FFFF, 32, 0, 8) == ""


def test_a_class_in_a_namespace(tmp_path: Path) -> None:
    program, make = built(tmp_path, "a.cc", CXX)
    assert field_in_block(program, make, 40, 4, 4) == "till.open"
    assert field_in_block(program, make, 40, 16, 8) == "till.sum[1]"


@pytest.mark.parametrize("option", ["-g0", "-s"])
def test_without_debug_information_nothing_is_said(tmp_path: Path, option: str) -> None:
    program, make = built(tmp_path, "a.c", C, "-g0")
    if option == "-s":
        subprocess.run(["strip", program], check=True)
    assert field_in_block(program, make, 32, 0, 8) == ""
