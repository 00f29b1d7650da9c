# SPDX-License-Identifier: Apache-2.0
"""Variables of optimised code, by the register that has them when another function is called."""

import shutil
import subprocess

import pytest

from eitherway.symbols.held_variables import variable_in
from eitherway.symbols.later_reads import KEPT, called_before
from eitherway.symbols.unwinding import rules_at

SOURCE = """\
void stop(void);
void stop_later(void);
int source(void);
static inline void inlined(int handed) {
    stop_later();
    if (handed > 8)
        source();
}
__attribute__((noinline)) int function(int first) {
    int seen = source();
    stop();
    inlined(seen);
    return seen + first;
}
int main(void) { return function(3); }
"""
OTHERS = "void stop(void) {}\nvoid stop_later(void) {}\nint source(void) { return 7; }\n"

pytestmark = pytest.mark.skipif(
    shutil.which("llvm-dwarfdump") is None, reason="llvm-dwarfdump is not installed"
)


@pytest.fixture(scope="module", params=["-gdwarf-5", "-gdwarf-4"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("held_variables")
    (folder / "program.c").write_text(SOURCE, encoding="utf-8")
    (folder / "others.c").write_text(OTHERS, encoding="utf-8")
    command = ["gcc", str(request.param), "-O2", "program.c", "others.c", "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "program")


def call_of(program: str, name: str) -> int:
    """The last byte of the call within the function."""
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = [row.split() for row in table.splitlines()]
    start = next(int(row[0], 16) for row in rows if row[-1] == "function")
    rules = rules_at(program, start)
    assert rules is not None
    codes = (
        code for code in range(start, rules.end) if called_before(program, rules, code) == name
    )
    return next(codes) - 1


@pytest.mark.parametrize("call", ["stop", "stop_later"])
def test_what_a_call_keeps_has_the_names_of_variables(program: str, call: str) -> None:
    code = call_of(program, call)
    names = {variable_in(program, code, register) for register in KEPT}
    assert {"seen", "first"} <= names
    assert variable_in(program, code, 5) == ""  # rdi, which a call does not keep


def test_a_register_that_holds_no_variable_yet_has_no_name(program: str) -> None:
    names = {variable_in(program, call_of(program, "source"), register) for register in KEPT}
    assert "seen" not in names
    assert "first" in names


def test_where_there_is_no_code_nothing_has_a_name(program: str) -> None:
    assert variable_in(program, 1, 3) == ""
    assert variable_in("/nowhere", 0x1000, 3) == ""
