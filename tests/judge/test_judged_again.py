# SPDX-License-Identifier: Apache-2.0
"""A finding that was judged is told alike again, whichever order its evidence shows."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.calling import eitherway
from tests.judge.conftest import Program

WORDS = ("--schedules", "1", "--scheduler", "round-robin", "--json", "told.json")


def told(folder: Path, *words: str) -> dict[str, Any]:
    eitherway(folder, *words)
    findings: list[dict[str, Any]] = json.loads((folder / "told.json").read_text())["findings"]
    (finding,) = (finding for finding in findings if finding["kind"] == "data-race")
    return finding


@pytest.mark.usefixtures("fixed")
def test_the_evidence_may_lack_the_second_access(program: Program, tmp_path: Path) -> None:
    """Who was slow never came there in the run that fails."""
    first = told(tmp_path, "check", *WORDS, "--judge", "--", program("gives_up"))
    assert first["class"] == "spec-violated"
    second = told(tmp_path, "judge", "--json", "told.json", first["id"])
    assert (second["class"], second["reason"]) == ("spec-violated", "")
    assert [order["does"] for order in second["orders"]] == [
        "the program is killed by SIGABRT",
        "the program ends with exit status 0",
    ]
