# SPDX-License-Identifier: Apache-2.0
"""What is told of a file is recorded: its number, its times, its name if that was drawn."""

from pathlib import Path

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "makes_a_file.c"


def test_a_file_has_the_same_number_and_times_again(tmp_path: Path) -> None:
    built = tmp_path / "program"
    build(PROGRAM, built)
    launch = Launch.here([str(built), str(tmp_path / "made")])
    first, second = run(launch), run(launch)
    assert first.status == 0, first.err.beginning
    assert second.out != first.out  # the time, if not the number: otherwise this shows nothing
    for _ in range(3):
        assert run(launch, replay=first).differences(first) == []


def test_temporary_files_have_the_same_names_again(tmp_path: Path) -> None:
    built, folder = tmp_path / "program", tmp_path / "folder"
    folder.mkdir()
    build(Path(__file__).parent / "keeps_temporary.c", built)
    launch = Launch.here([str(built), str(folder)])
    first, second = run(launch), run(launch)
    assert (first.status, first.err.beginning) == (0, b"")
    assert second.out != first.out
    left = {path.name: path.stat().st_size for path in folder.glob("*.txt")}
    for _ in range(3):
        assert run(launch, replay=first).differences(first) == []
    assert {path.name: path.stat().st_size for path in folder.glob("*.txt")} == left
    assert set(left.values()) == {4}
