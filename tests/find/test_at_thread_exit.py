# SPDX-License-Identifier: Apache-2.0
"""A result that is ready when its thread ends orders what it should, though the library does it."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


@pytest.mark.parametrize(("way", "kinds"), [("right", set()), ("wrong", {Kind.DATA_RACE})])
def test_who_gets_a_result_comes_behind_its_thread(
    tmp_path: Path, way: str, kinds: set[Kind]
) -> None:
    build(Path(__file__).parent / "programs" / "at_thread_exit.cc", tmp_path / "at_exit")
    document = checked(tmp_path / "at_exit", "--schedules", "200", arguments=[way])
    assert {finding.kind for finding in document.findings} == kinds
