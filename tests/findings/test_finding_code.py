# SPDX-License-Identifier: Apache-2.0
"""Source lines around the places of a finding: those that matter, and no other file's."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from eitherway.findings.code import LARGEST, WIDEST, Sources, with_code
from eitherway.model.finding import Excerpt, Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World


def finding(file: str, line: int = 6) -> Finding:
    side = FoundOperation("main thread", "write", stack=(Frame("f", file, line),))
    return Finding(World.THREADS, Kind.DATA_RACE, (side,))


def code_of(found: Finding, sources: Sources | None = None) -> tuple[Excerpt, ...]:
    (result,) = with_code([found], sources or Sources())
    return result.code


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.c"
    path.write_text("".join(f"line {n};\n" for n in range(1, 21)), encoding="utf-8")
    return path


def test_the_lines_around_a_frame_are_kept(source: Path) -> None:
    (excerpt,) = code_of(finding(str(source)))
    assert (excerpt.file, excerpt.first) == (str(source), 2)
    assert excerpt.lines == tuple(f"line {n};" for n in range(2, 11))


def test_what_a_finding_has_stays(source: Path) -> None:
    kept = replace(finding(str(source)), code=(Excerpt("x.c", 1, ("then",)),))
    assert code_of(kept) == kept.code


def test_a_line_behind_the_end_gives_nothing(source: Path) -> None:
    assert code_of(finding(str(source), 4000)) == ()


def test_files_are_found_below_other_folders(source: Path) -> None:
    built = "/build/elsewhere/../a.c"
    assert code_of(finding(built)) == ()
    (excerpt,) = code_of(finding(built), Sources([str(source.parent)]))
    assert excerpt.file == built


@pytest.mark.parametrize("name", ["secret", "id_rsa.pem", "shadow.txt", "a.c\0"])
def test_what_is_no_source_code_by_its_name_is_not_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name.strip("\0")
    path.write_text("secret\n" * 9, encoding="utf-8")
    assert code_of(finding(f"{tmp_path}/{name}")) == ()


def test_what_has_no_end_or_is_too_large_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.c")
    assert code_of(finding(str(tmp_path / "pipe.c"))) == ()
    with (tmp_path / "large.c").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert code_of(finding(str(tmp_path / "large.c"))) == ()
    (tmp_path / "binary.c").write_bytes(b"a\0b\n" * 20)
    assert code_of(finding(str(tmp_path / "binary.c"))) == ()


def test_lines_that_are_no_text_or_have_no_end_are_shown_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_bytes(b"\xff\xfe\tx\r\n" + b"y" * 4000 + b"\n")
    (excerpt,) = code_of(finding(str(path), 1))
    assert excerpt.lines[0].endswith("x")
    assert len(excerpt.lines[1]) == WIDEST
