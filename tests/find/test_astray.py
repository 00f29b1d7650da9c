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
