# SPDX-License-Identifier: Apache-2.0
"""Which types have parts, as far as their names tell it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from eitherway.symbols.fields import Entry, part_of
from eitherway.symbols.variables import Variable


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("int", True),
        ("const long unsigned int", True),
        ("volatile _Bool", True),
        ("char *", True),
        ("queue *", True),
        ("bool", False),  # in C a structure may have that name
        ("interval", False),
        ("int[3]", False),
        ("char *[3]", False),
        ("std::vector<int *>", False),
        ("", False),
    ],
)
def test_a_number_or_a_pointer_has_no_parts(name: str, is_one: bool) -> None:
    entry = Entry("DW_TAG_variable", "0x10", {"DW_AT_type": f'0x00031bde "{name}"'})
    assert entry.is_one is is_one


SOURCE = """
static struct { int count; char text[3]; } slots[4];
int main(void) { slots[2].text[1] = 1; return slots[1].count; }
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("version", [4, 5])
def test_parts_are_known_however_the_compiler_tells_addresses(
    compiler: str, version: int, tmp_path: Path
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"needs {compiler}")
    source, program = tmp_path / "slots.c", tmp_path / "slots"
    source.write_text(SOURCE)
    subprocess.run([compiler, f"-gdwarf-{version}", source, "-o", program], check=True)
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    (start,) = (int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(" slots"))
    variable = Variable("slots", start, 32)
    assert part_of(str(program), variable, 2 * 8 + 5, 1) == "[2].text[1]"
