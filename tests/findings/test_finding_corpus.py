# SPDX-License-Identifier: Apache-2.0
"""Input that once broke the tool, kept: each is read or refused, with its exit code."""

from pathlib import Path

import pytest

from eitherway.cli.main import main

CORPUS = Path(__file__).parent / "corpus"
ENDINGS = {
    "class-twice.json": 65,  # readers disagree on which of two fields counts
    "count-at-its-end.json": 0,  # the sum left what the schema allows
    "escapes.json": 0,
    "name-of-5000-letters.json": 0,  # with the patterns of stars.supp
    "name-of-ampersands.json": 0,  # 2^40 ways to take the name apart
    "name-of-versions.json": 0,  # the square of 8000
    "newer-format.json": 65,
    "two-kinds-one-id.json": 65,
}


def test_every_file_of_the_corpus_has_its_ending() -> None:
    assert sorted(ENDINGS) == sorted(path.name for path in CORPUS.glob("*.json"))


@pytest.mark.parametrize("name", ENDINGS)
def test_what_once_broke_the_tool(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document, written = tmp_path / "again.json", str(tmp_path / "known.txt")
    patterns = ["--suppressions", str(CORPUS / "stars.supp")]
    files = ["--json", str(document), "--write-baseline", written]
    status = main(["report", str(CORPUS / name), *patterns, *files])
    shown = "".join(capsys.readouterr())
    assert status == ENDINGS[name], shown
    assert "Traceback" not in shown
    assert "\x1b" not in shown
    assert document.exists() == (status == 0)
    if document.exists():
        assert main(["report", str(document), "--baseline", written]) == 0
