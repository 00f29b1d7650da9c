# SPDX-License-Identifier: Apache-2.0
"""A run that the runtime ended itself is none of the program's: that is said, and no more."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus.checked import checked

REASON = "libgomp"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("given-up") / "refused"
    source = Path(__file__).parent / "programs" / "refused.c"
    command = [sys.executable, "-m", "eitherway", "cc", "-g", "-fopenmp", str(source)]
    subprocess.run([*command, "-o", str(program)], check=True, capture_output=True)
    return program


def test_a_program_that_no_schedule_can_be_run_of_is_refused(program: Path) -> None:
    command = [sys.executable, "-m", "eitherway", "check", "--schedules", "20", "--jobs", "1"]
    ran = subprocess.run(
        [*command, "--", program, "always"],
        cwd=program.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 69
    assert REASON in ran.stderr.splitlines()[-1]
    assert "schedules" not in ran.stdout


def test_of_single_schedules_it_is_said(program: Path) -> None:
    document = checked(program, "--schedules", "60", "--jobs", "1")
    assert document.findings == ()
    (said,) = [note for note in document.summary.notes if REASON in note]
    assert said.startswith("some schedules could not be run to the end")
    assert not any(note.startswith("all ") for note in document.summary.notes)
