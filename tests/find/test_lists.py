# SPDX-License-Identifier: Apache-2.0
"""What the library does to the nodes of a std::list is told: who waits for one sees it change."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


@pytest.mark.parametrize(("way", "kinds"), [("right", set()), ("wrong", {Kind.DATA_RACE})])
def test_links_of_a_list_are_looked_at(tmp_path: Path, way: str, kinds: set[Kind]) -> None:
    build(Path(__file__).parent / "programs" / "list_queue.cc", tmp_path / "list")
    document = checked(tmp_path / "list", "--schedules", "60", arguments=[way])
    assert {finding.kind for finding in document.findings} == kinds
