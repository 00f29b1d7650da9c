# SPDX-License-Identifier: Apache-2.0
"""Who tries again what an exception ended comes behind it ([thread.once.callonce])."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("again") / "tried_again"
    build(Path(__file__).parent / "programs" / "tried_again.cc", program)
    return program


@pytest.mark.parametrize("way", ["once", "static"])
def test_what_was_left_is_no_race(program: Path, way: str) -> None:
    document = checked(program, "--schedules", "40", arguments=[way])
    assert document.findings == ()
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)
