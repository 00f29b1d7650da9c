# SPDX-License-Identifier: Apache-2.0
"""Accesses that reach over the end of a block: what the runtime sees there no trace can confirm."""

from pathlib import Path

from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


def test_what_is_behind_a_block_is_no_disagreement(tmp_path: Path) -> None:
    build(Path(__file__).parent / "programs" / "astray.c", tmp_path / "astray")
    document = checked(tmp_path / "astray", "--schedules", "20")
    assert {finding.kind for finding in document.findings} == {Kind.DATA_RACE}
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)
    assert any("over the end of a block" in note for note in document.summary.notes)


def test_who_allocates_does_not_meet_who_writes_behind_the_block(tmp_path: Path) -> None:
    """Also where those bytes alone are traced: the run as a whole shows no such race."""
    source = (Path(__file__).parent / "programs" / "astray.c").read_text(encoding="utf-8")
    behind = source.replace("shown[0] = shown[12] = 1", "shown[12] = 1")
    (tmp_path / "behind.c").write_text(behind, encoding="utf-8")
    build(tmp_path / "behind.c", tmp_path / "behind")
    document = checked(tmp_path / "behind", "--schedules", "20")
    (finding,) = document.findings
    assert finding.operations[0].variable == "shown"
    assert any("over the end of a block" in note for note in document.summary.notes)
