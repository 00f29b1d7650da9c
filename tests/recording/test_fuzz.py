# SPDX-License-Identifier: Apache-2.0
"""A few thousand spoilt recordings, and those that once were a bug."""

import shutil
from pathlib import Path

import pytest
from tests.recording import fuzz

COUNT = 4000
GROWTH = 64 << 20  # bytes that the readers of recordings of a few KB never need


def test_spoilt_recordings_are_read_or_refused(tmp_path: Path) -> None:
    fuzzer = fuzz.Fuzzer(20250102, tmp_path, keep=tmp_path)
    before = fuzz.peak_memory()
    for number in range(COUNT):
        fuzzer.run(number)
    assert fuzz.peak_memory() - before < GROWTH
    assert fuzzer.outcomes["good / good"] > COUNT // 100
    refused = [what for what in fuzzer.outcomes if "good" not in what]
    assert len(refused) > 50, "the mutations reach many different refusals"


def test_the_fuzzer_notices_what_is_not_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_path: Path, *, incomplete: bool) -> None:
        raise KeyError(incomplete)

    monkeypatch.setattr(fuzz, "check", broken)
    fuzzer = fuzz.Fuzzer(1, tmp_path, keep=tmp_path)
    with pytest.raises(KeyError):
        fuzzer.run(0)
    assert (tmp_path / "seed-1-0").is_dir()


def test_the_same_number_gives_the_same_recording(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        fuzzer = fuzz.Fuzzer(7, tmp_path / name, keep=tmp_path)
        for number in range(20):
            fuzzer.run(number)
        (tmp_path / name / "outcomes").write_text(str(fuzzer.outcomes))
    outcomes = [(tmp_path / name / "outcomes").read_text() for name in ("one", "two")]
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("sample", sorted(path.stem for path in fuzz.CORPUS.glob("*.txt")))
def test_what_once_was_a_bug_is_one_no_more(tmp_path: Path, sample: str) -> None:
    """NAME.txt says what should come of the recording NAME."""
    shutil.copytree(fuzz.CORPUS / sample, tmp_path / "r", symlinks=True)
    expected = (fuzz.CORPUS / f"{sample}.txt").read_text(encoding="utf-8").strip()
    assert fuzz.outcome(tmp_path / "r") == expected
