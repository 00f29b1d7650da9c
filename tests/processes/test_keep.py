# SPDX-License-Identifier: Apache-2.0
"""`--keep`: the recorded run takes place among the user's own files, which is said."""

import json
from pathlib import Path

import pytest
from tests.processes.harness import eitherway

from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import ALL, Kind

WRITES = "echo a > made; (echo b >> made) & wait"
RACES = "(echo b >> made) & echo c >> made; wait"


@pytest.mark.parametrize("recorder", ["ptrace", "bpf"])
def test_what_a_kept_run_writes_is_there_afterwards(work: Path, recorder: str) -> None:
    words = ["record", "--recorder", recorder]
    done = eitherway(work, *words, "--", "sh", "-c", WRITES)
    if "BPF cannot be used" in done.stderr:
        pytest.skip("this machine has no BPF")
    assert (done.returncode, (work / "made").exists()) == (0, False), done.stderr
    done = eitherway(work, *words, "--keep", "--", "sh", "-c", WRITES)
    assert (done.returncode, (work / "made").read_text()) == (0, "a\nb\n"), done.stderr
    assert "the run is on your own files" in done.stderr
    assert "files: none, network: none, processes: none" in done.stderr
    assert "replay" not in done.stderr
    again = eitherway(work, "replay")
    assert (again.returncode, "what it did stayed (--keep)" in again.stderr) == (69, True)


@pytest.mark.usefixtures("box")
def test_a_kept_check_finds_races_and_tries_none(work: Path) -> None:
    words = ["check", "--keep", "--json", "found.json", "--", "sh", "-c", RACES]
    done = eitherway(work, *words)
    assert done.returncode == 1, done.stderr
    assert sorted((work / "made").read_text().split()) == ["b", "c"]  # once each
    assert "no other order is run: it runs among your own files" in done.stderr
    assert "doctor" not in done.stderr
    findings = json.loads((work / "found.json").read_text(encoding="utf-8"))["findings"]
    assert {finding["class"] for finding in findings} == {"unjudged"}


@pytest.mark.parametrize(
    "words",
    [
        ["record", "--keep", "--sandbox"],
        ["record", "--keep", "--seed", "3"],
        ["check", "--keep", "--checker", "true"],
        ["check", "--keep", "--expect-same", "made"],
        ["check", "--keep", "--expect-output", "/dev/null"],
    ],
    ids=" ".join,
)
def test_what_does_not_go_with_it_is_refused(work: Path, words: list[str]) -> None:
    done = eitherway(work, *words, "--", "touch", "made")
    assert (done.returncode, "--keep is one run" in done.stderr) == (64, True), done.stderr
    assert not (work / "made").exists()


def test_a_sandbox_without_anything_says_that_it_was_wanted() -> None:
    with Sandbox(require=(), without=ALL) as box:
        assert box.isolation.missing == tuple(Kind)
        assert {box.isolation.of(kind).why for kind in Kind} == {"it is to be left out"}
