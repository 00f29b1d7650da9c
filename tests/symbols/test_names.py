# SPDX-License-Identifier: Apache-2.0
"""Addresses of a real program to lines and variables, with each symbolizer the machine has."""

import shutil
import subprocess
from pathlib import Path

import pytest

from eitherway.errors import Unavailable
from eitherway.symbols import lines, variables
from eitherway.symbols.variables import variables_of

SOURCE = """\
int global_number = 3;
static volatile int table[5];
__attribute__((always_inline)) static inline int inner(int x) {
    return x + global_number;
}
__attribute__((noinline)) int outer(int x) {
    return inner(x) + table[1];
}
int main(void) { return outer(-3); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("symbols")
    (directory / "program.c").write_text(SOURCE, encoding="utf-8")
    command = ["gcc", "-g", "-O1", "program.c", "-o", "program"]
    subprocess.run(command, cwd=directory, check=True)
    return directory / "program"


def offset_of(program: Path, name: str) -> int:
    table = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return next(int(row.split()[0], 16) for row in table.splitlines() if row.split()[-1] == name)


@pytest.fixture(params=["llvm-symbolizer", "addr2line"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Only this symbolizer; binutils is always there, LLVM where it is installed."""
    name = str(request.param)
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    monkeypatch.setattr(lines, "_BACKENDS", {name: lines._BACKENDS[name]})
    return name


@pytest.mark.usefixtures("backend")
def test_an_inlined_function_stands_before_the_one_it_is_in(program: Path) -> None:
    offset = offset_of(program, "outer")
    (frames,) = lines.frames_at(str(program), [offset])
    assert frames[-1].function == "outer"
    assert not frames[-1].inlined
    assert [frame.function for frame in frames[:-1]] == ["inner"] * (len(frames) - 1)
    assert all(frame.inlined for frame in frames[:-1])
    assert frames[0].file.endswith("program.c")
    assert 3 <= frames[0].line <= 7


@pytest.mark.usefixtures("backend")
def test_answers_come_in_the_order_of_the_questions(program: Path) -> None:
    offsets = [offset_of(program, "main"), offset_of(program, "outer")] * 50
    names = [frames[-1].function for frames in lines.frames_at(str(program), offsets)]
    assert names == ["main", "outer"] * 50


@pytest.mark.usefixtures("backend")
def test_an_address_outside_is_a_frame_without_names(program: Path) -> None:
    (frames,) = lines.frames_at(str(program), [8])
    assert [(frame.function, frame.file, frame.line) for frame in frames] == [("", "", 0)]
    assert frames[0].offset == 8


def test_no_questions_need_no_symbolizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert lines.frames_at("anything", []) == []


def test_without_a_symbolizer_the_package_is_named(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unavailable, match="llvm-symbolizer or addr2line") as caught:
        lines.frames_at(str(program), [1])
    assert "binutils" in caught.value.fix
    with pytest.raises(Unavailable, match="nm"):
        variables_of(str(program))


def test_globals_are_found_by_any_of_their_bytes(program: Path) -> None:
    variables = variables_of(str(program))
    start = offset_of(program, "table")
    found = variables.at(start + 7)
    assert found is not None
    assert (found.name, found.start, found.size) == ("table", start, 20)
    past = variables.at(start + 20)
    assert past is None or past.name != "table"
    assert variables.at(0) is None


def test_code_is_no_variable(program: Path) -> None:
    assert variables_of(str(program)).at(offset_of(program, "outer")) is None


def test_a_stripped_program_has_no_variables(program: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", program, "-o", stripped], check=True)
    assert variables_of(str(stripped)).variables == ()


def test_parts_of_a_split_variable_have_its_name() -> None:
    """clang -O1 and above names them so; what is no such suffix stays."""
    assert variables.demangled(["_ZN12_GLOBAL__N_13boxE.0", "_ZL5table.12", "plain.3", "a.b"]) == [
        "(anonymous namespace)::box",
        "table",
        "plain",
        "a.b",
    ]
