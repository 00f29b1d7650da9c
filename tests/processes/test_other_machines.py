# SPDX-License-Identifier: Apache-2.0
"""Recordings of other machines: what their numbers of calls mean, or that this is not known."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.processes.harness import eitherway

from eitherway.errors import BadInput
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.call_table import CALLS, ON_AARCH64
from eitherway.worlds.processes.log import Ending, numbers_here

SOME = Path("some")


def test_numbers_of_aarch64_mean_the_same_calls() -> None:
    numbers = np.array([56, 63, 64, 220, 260, 56], dtype=np.uint32)
    names = [CALLS[number].name for number in numbers_here(numbers, "aarch64", SOME).tolist()]
    assert names == ["openat", "read", "write", "clone", "wait4", "openat"]
    assert set(ON_AARCH64.values()) <= CALLS.keys()


def test_calls_without_a_meaning_have_no_names_of_this_machine() -> None:
    ending = Ending(1, 2, "as asked", 0, 0, not_modelled="112 3", machine="aarch64")
    assert ending.calls_not_modelled == {"call 112": 3}


@pytest.mark.parametrize("machine", ["sparc64", ""])
def test_numbers_of_others_are_not_guessed(machine: str) -> None:
    with pytest.raises(BadInput, match="whose calls are not known"):
        numbers_here(np.array([0], dtype=np.uint32), machine, SOME)


@pytest.mark.parametrize("machine", ["sparc64", "aarch64"])
def test_what_does_not_fit_the_machine_is_refused(work: Path, box: Sandbox, machine: str) -> None:
    """Of x86-64 in truth: some of its calls aarch64 does not have."""
    assert box
    assert eitherway(work, "record", "--", "sh", "-c", "true & wait").returncode == 0
    manifest = (work / ".eitherway" / "latest").resolve() / "MANIFEST"
    document = json.loads(manifest.read_text(encoding="utf-8"))
    document["host"]["machine"] = machine
    manifest.write_text(json.dumps(document), encoding="utf-8")
    done = eitherway(work, "races")
    told = f"recorded on '{machine}', whose calls are not known" in done.stderr
    assert (done.returncode, told) == (65, True), done.stderr
