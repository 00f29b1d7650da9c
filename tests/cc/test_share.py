# SPDX-License-Identifier: Apache-2.0
"""The share of instrumented code is counted from what the linker took."""

import re
from pathlib import Path

import pytest
from tests.cc.harness import Shop, has

from eitherway.worlds.threads.cc import archive

# number, name, kind, address, offset, then the size; the flags come after the size of an entry
CODE = re.compile(r"\] \S+ +\S+ +\w+ \w+ (\w+) \w+ +AX")
MAIN = "int a(void), b(void);\nint main(void) { return a() + b(); }\n"
A, B = "int x;\nint a(void) { return x; }\n", "int y;\nint b(void) { return y; }\n"


def text_size(shop: Shop, *names: str) -> int:
    """As binutils tell it: sections whose flags say that they are loaded (A) and code (X)."""
    lines = shop.run("readelf", "-SW", *names).ok().output.splitlines()
    return sum(int(match[1], 16) for line in lines if (match := CODE.search(line)))


def test_a_part_that_is_not_instrumented_is_counted_and_named(shop: Shop) -> None:
    shop.write("main.c", MAIN)
    shop.write("a.c", A)
    shop.write("b.c", B)
    shop.cc("-c", "main.c", "a.c").ok()
    shop.cc("-fno-sanitize=thread", "-c", "b.c").ok()
    shop.cc("main.o", "a.o", "b.o", "-o", "p").ok()
    found = shop.note("p")
    assert found.instrumented == text_size(shop, "main.o", "a.o")
    assert found.code == found.instrumented + text_size(shop, "b.o")
    assert (found.files, found.files_instrumented, found.unseen) == (3, 2, ("b.o",))


@pytest.mark.parametrize("options", ["rc", "rcT"])
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_members_of_static_libraries(gcc: Shop, options: str, linker: str) -> None:
    if not has(f"ld.{linker}"):
        pytest.skip(f"no {linker} on this machine: apt-get install binutils-{linker}")
    gcc.write("main.c", MAIN)
    long_name = "a-name-that-is-longer-than-sixteen-characters"
    gcc.write(f"{long_name}.c", A)
    gcc.write("b.c", B)
    gcc.write("unused.c", "int unused(void) { return 0; }\n")
    gcc.plain("-c", f"{long_name}.c", "unused.c").ok()
    gcc.cc("-c", "b.c").ok()
    (gcc.path / "lib").mkdir()
    gcc.run("ar", options, "lib/lib.a", f"{long_name}.o", "unused.o", "b.o").ok()
    gcc.cc(f"-fuse-ld={linker}", "main.c", "lib/lib.a", "-o", "p").ok()
    found = gcc.note("p")
    assert (found.files, found.files_instrumented) == (3, 2)
    (unseen,) = found.unseen
    assert long_name in unseen


def test_an_inline_function_of_many_files_counts_once(shop: Shop) -> None:
    shop.write("f.h", "#include <vector>\ninline int f(std::vector<int> v) { return v.at(0); }\n")
    for name in ("a", "b"):
        shop.write(f"{name}.cpp", f'#include "f.h"\nint {name}() {{ return f({{1}}); }}\n')
    shop.write("main.cpp", "int a();\nint b();\nint main() { return a() - b(); }\n")
    shop.cxx("main.cpp", "a.cpp", "-Wl,--unresolved-symbols=ignore-all").ok()
    alone = shop.note("a.out").code
    shop.cxx("main.cpp", "a.cpp", "b.cpp").ok()
    both = shop.note("a.out").code
    assert alone < both < alone + 1000  # b() itself, not a second std::vector


def test_a_shared_library_that_is_not_ours_is_listed_not_counted(shop: Shop) -> None:
    shop.write("main.c", MAIN)
    shop.write("ab.c", A + B)
    shop.plain("-shared", "-fPIC", "ab.c", "-o", "libab.so").ok()
    shop.cc("main.c", "-L.", "-lab", "-o", "p").ok()
    found = shop.note("p")
    assert (found.files, found.share) == (1, 1.0)
    assert "libab.so" in found.libraries


@pytest.mark.parametrize("damage", [8, 60, 70, 5000])
def test_a_damaged_library_ends_early(gcc: Shop, damage: int) -> None:
    gcc.write("a.c", A)
    gcc.plain("-c", "a.c").ok()
    gcc.run("ar", "rc", "lib.a", "a.o").ok()
    data = (gcc.path / "lib.a").read_bytes()
    whole = list(archive.members("lib.a", data))
    assert [member.name for member in whole] == ["a.o"]
    cut = data[:damage]
    assert len(list(archive.members("lib.a", cut))) <= 1
    assert list(archive.members("lib.a", data.replace(b"`\n", b"??"))) == []


def test_the_list_of_what_is_taken_over_is_that_of_the_runtime(gcc: Shop) -> None:
    from eitherway.installed import native

    text = Path(native("lib/eitherway_rt.list")).read_text(encoding="ascii")
    listed = set(text.replace(";", " ").split()) - {"{", "}"}
    lines = gcc.run("readelf", "-Ws", str(native("lib/libeitherway_rt.a"))).ok().output
    rows = [line.split() for line in lines.splitlines() if len(line.split()) == 8]
    exported = {
        row[7].removeprefix("ew_takes_")
        for row in rows
        if row[4] != "LOCAL" and row[5] == "DEFAULT" and row[6] != "UND"
    }
    assert listed == exported - {"Name"}
    assert {"pthread_create", "__tsan_init"} <= listed
