# SPDX-License-Identifier: Apache-2.0
"""What both orders leave in memory, also where code without hooks stores it."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.judge.bench import bench

from eitherway.find.states import BY_STORES
from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.sandbox.processes import descendants

pytestmark = pytest.mark.usefixtures("fixed")

SOURCES = Path(__file__).parent / "programs"
DIFFERS = "At the end, memory differs: "


@pytest.fixture(scope="session")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program, with a library that was not built with `eitherway cc`."""
    folder = tmp_path_factory.mktemp("unseen")
    library = ["gcc", "-g", "-shared", "-fPIC", str(SOURCES / "unhooked.c")]
    subprocess.run([*library, "-o", str(folder / "libunhooked.so")], check=True)
    command = [sys.executable, "-m", "eitherway", "cc", "-g", str(SOURCES / "unseen.c")]
    command += ["-o", str(folder / "unseen"), f"-L{folder}", f"-Wl,-rpath,{folder}", "-lunhooked"]
    subprocess.run(command, check=True)
    return str(folder / "unseen")


def judged(program: str, mode: str, folder: Path) -> list[Finding]:
    """The race on the level, in both orders."""
    with bench([program, mode]) as made:
        runs = [made.explorer.run(seed=seed, detect=True) for seed in range(3)]
        findings = [
            made.judge.judged(finding, ran, lambda _: folder)
            for ran in runs
            for finding in made.races_in(ran).values()
            if finding.operations[0].variable == "level"
        ]
    assert findings
    assert {finding.klass for finding in findings} == {Class.K_WITNESS_HARMLESS}
    return findings


def told(findings: list[Finding]) -> set[tuple[str, ...]]:
    """What is said to differ at the end."""
    return {
        tuple(line for line in finding.explanation if line.startswith("At the end"))
        for finding in findings
    }


LEFT = {
    "library": "'noted.last'.",
    "assembly": "'by_assembly'.",
    "list": "bytes 8 to 15 ('node.value' by its size) of heap block of 16 bytes.",
    "moved": "bytes 0 to 7 of heap block of 1000 bytes.",
}


@pytest.mark.parametrize("mode", LEFT)
def test_what_nobody_saw_being_stored_is_told(unseen: str, mode: str, tmp_path: Path) -> None:
    assert told(judged(unseen, mode, tmp_path)) == {(f"{DIFFERS}{LEFT[mode]}",)}


@pytest.mark.parametrize("mode", ["nothing", "stale", "stale_moved", "same", "clock"])
def test_what_is_no_difference_is_not_told(unseen: str, mode: str, tmp_path: Path) -> None:
    """Garbage in blocks, what is the same again, and what differs in each run."""
    assert told(judged(unseen, mode, tmp_path)) == {()}


def test_where_memory_is_not_known_that_is_said(
    unseen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the kernel refuses the copy: what was seen being stored is all that there is."""
    monkeypatch.setattr("eitherway.find.states.compared", lambda *_: None)
    findings = judged(unseen, "assembly", tmp_path)
    assert told(findings) == {(BY_STORES,)}


def test_nothing_is_left_of_the_copies(unseen: str, tmp_path: Path) -> None:
    """Each is ended and waited for by the branch that it is a copy of."""
    with bench([unseen, "list"]) as made:
        ran = made.explorer.run(seed=1, detect=True)
        for finding in made.races_in(ran).values():
            made.judge.judged(finding, ran, lambda _: tmp_path)
        assert list(descendants(made.explorer.process)) == [made.explorer.process]
