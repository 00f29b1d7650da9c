# SPDX-License-Identifier: Apache-2.0
"""A condition that waits with any lock has a mutex of its own, which the lock is handed on to."""

from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.words import Kind


@pytest.mark.parametrize(("way", "kinds"), [("right", set()), ("wrong", {Kind.LOST_WAKEUP})])
def test_lost_only_without_the_lock(tmp_path: Path, way: str, kinds: set[Kind]) -> None:
    build(Path(__file__).parent / "programs" / "any_condition.cc", tmp_path / "any")
    document = checked(tmp_path / "any", "--schedules", "60", arguments=[way])
    assert {finding.kind for finding in document.findings} == kinds
