# SPDX-License-Identifier: Apache-2.0
"""Unwind tables, held against what readelf says of them."""

import re
import subprocess
from pathlib import Path

import pytest

from eitherway.symbols.unwinding import RETURN, RSP, Stack, rules_at, unwound

SOURCE = """\
#include <stdlib.h>
#include <string.h>
int outside(int *);
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g) {
    int sum = outside(&a) + outside(&b) + outside(&c);
    if (sum > 3)
        return sum + a * b * c * d * e * f * g;
    return outside(&d) * e + outside(&f) * g + sum;
}
__attribute__((noinline)) int varies(int count) {
    int *room = __builtin_alloca(count * sizeof *room);
    memset(room, count, count * sizeof *room);
    return outside(room) + count;
}
int outside(int *at) { return *at + (getenv("x") ? 1 : 0); }
int main(int count, char **words) {
    (void)words;
    return many(count, 2, 3, 4, 5, 6, 7) + varies(count);
}
"""
_NUMBERS = {"rbx": 3, "rbp": 6, "rsp": RSP, "ra": RETURN} | {f"r{n}": n for n in range(8, 16)}
_FUNCTION = re.compile(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)")
_ROW = re.compile(r"^([0-9a-f]{16}) (r\w+)\+(\d+)\s+(.*)$")


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unwinding")
    (folder / "program.c").write_text(SOURCE, encoding="utf-8")
    command = ["gcc", "-g", str(request.param), "program.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "program"


def as_readelf_says(program: Path) -> dict[int, tuple[int, int, dict[int, int]]]:
    """By address: the register and the offset of the frame's end, and what is saved where."""
    command = ["readelf", "--debug-dump=frames-interp", str(program)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows: dict[int, tuple[int, int, dict[int, int]]] = {}
    names: list[str] = []
    for line in answer.splitlines():
        if line.lstrip().startswith("LOC"):
            names = line.split()[2:]
        elif row := _ROW.match(line):
            saved = zip(names, row[4].split(), strict=True)
            known = {_NUMBERS[name]: int(at[1:]) for name, at in saved if at.startswith("c")}
            rows[int(row[1], 16)] = _NUMBERS[row[2]], int(row[3]), known
        elif "CIE" in line:
            names = []
    return rows


def test_every_row_is_as_readelf_has_it(program: Path) -> None:
    known = 0
    for code, expected in as_readelf_says(program).items():
        rules = rules_at(str(program), code)
        if rules is None:  # of the linker's own tables, whose rows are computed
            continue
        assert (rules.register, rules.above, rules.saved) == expected, hex(code)
        known += 1
    assert known > 20


def test_what_is_no_function_has_no_rules(program: Path) -> None:
    assert rules_at(str(program), 1) is None
    assert rules_at(str(program.parent / "program.c"), 0x1000) is None
    assert rules_at("/nowhere", 0x1000) is None


def test_frames_end_where_the_stack_is_not_known(program: Path) -> None:
    """A stack that says nothing sensible leads to no endless way."""
    names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    main = next(int(row.split()[0], 16) for row in names.splitlines() if row.endswith(" main"))

    def rules(code: int) -> object:
        return rules_at(str(program), code)

    stack = Stack(0x7000, bytes(64))
    frames = list(unwound(main, {6: 0x7000, 3: 1}, stack, rules))  # type: ignore[arg-type]
    assert len(frames) == 1
    assert (frames[0].sp, frames[0].end) == (0x7000, 0x7008)
    assert not list(unwound(main, {}, Stack(0x7000, b""), rules))[1:]  # type: ignore[arg-type]
