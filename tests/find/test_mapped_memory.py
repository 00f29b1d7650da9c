# SPDX-License-Identifier: Apache-2.0
"""Memory lies where it lies, whether or not races are looked for and a run is traced."""

from pathlib import Path

from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


def test_a_race_in_a_block_that_is_mapped_is_confirmed(tmp_path: Path) -> None:
    build(Path(__file__).parent / "programs" / "mapped.c", tmp_path / "mapped")
    document = checked(tmp_path / "mapped", "--schedules", "20")
    (finding,) = document.findings
    assert finding.kind is Kind.DATA_RACE
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)
