# SPDX-License-Identifier: Apache-2.0
"""What is told of a file is part of a recording: it has the same number and times again."""

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
