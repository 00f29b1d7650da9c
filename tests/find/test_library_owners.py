# SPDX-License-Identifier: Apache-2.0
"""What libstdc++ counts the owners of is destroyed behind all who let go of it, and not before."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


@pytest.mark.parametrize(
    ("way", "kinds"), [("right", set()), ("wrong", {Kind.DATA_RACE, Kind.MEMORY_ERROR})]
)
def test_the_last_owner_comes_behind_the_others(tmp_path: Path, way: str, kinds: set[Kind]) -> None:
    build(Path(__file__).parent / "programs" / "library_owners.cc", tmp_path / "owners")
    document = checked(tmp_path / "owners", "--schedules", "100", arguments=[way])
    assert {finding.kind for finding in document.findings} == kinds
