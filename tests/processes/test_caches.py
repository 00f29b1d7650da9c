# SPDX-License-Identifier: Apache-2.0
"""What several put into a cache races, and is meant to."""

from pathlib import Path

import pytest
from tests.processes.harness import launch

from eitherway.find.trees import Checked, TreeSearch
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.worlds.processes.known import CCACHE

BOTH = "mkdir -p {at}; (echo a > {at}/f) & (echo b > {at}/f) & wait"


def checked(work: Path, script: str) -> Checked:
    with TreeSearch(launch(work, "sh", "-c", script), Store(work / "store"), jobs=2) as search:
        return search.check(600.0, lambda _: None)


@pytest.mark.usefixtures("box")
def test_neither_races_in_a_cache_nor_what_lies_in_it_are_told(work: Path) -> None:
    found = checked(work, BOTH.format(at=".ccache/2"))
    assert found.findings == {}
    assert found.left_out[CCACHE] > 0


@pytest.mark.usefixtures("box")
def test_a_directory_of_that_name_is_no_cache(work: Path) -> None:
    found = checked(work, BOTH.format(at="ccache/source"))
    assert {finding.klass for finding in found.findings.values()} == {Class.OUTPUT_DIFFERS}
