# SPDX-License-Identifier: Apache-2.0
"""Where addresses are random, runs replay all the same, and traces of one run are equal."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from eitherway.model.trace import Trace
from eitherway.recording.read import Recording
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.trace_hash import trace_hash

HERE = Path(__file__).parent


def eitherway(cwd: Path, *arguments: str, randomized: bool = True) -> str:
    """What it says; it must go well."""
    module = [str(HERE / "randomized.py")] if randomized else ["-m", "eitherway"]
    run = subprocess.run(
        [sys.executable, *module, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recorded run and two traces of it, one read by another name of the folder."""
    folder = tmp_path_factory.mktemp("randomized")
    build(HERE / "everywhere.c", folder / "everywhere")
    eitherway(folder, "record", "--seed", "5", "--", "./everywhere")
    for name in ("one", "two"):
        assert "the same to the bit" in eitherway(folder, "replay", "--trace", name)
    return folder


def events_of(path: Path) -> Events:
    with Recording.open(path) as recording:
        return Events.read(recording)


def test_addresses_differ_and_the_hash_does_not(place: Path) -> None:
    one, two = (events_of(place / name) for name in ("one", "two"))
    assert one.names.modules[0].base != two.names.modules[0].base
    assert not np.array_equal(one.events["address"], two.events["address"])
    assert trace_hash(place / "one") == trace_hash(place / "two")


def test_the_named_traces_are_equal(place: Path) -> None:
    one, two = (trace_of(events_of(place / name)) for name in ("one", "two"))
    for field in fields(Trace):
        mine, theirs = getattr(one, field.name), getattr(two, field.name)
        assert np.array_equal(mine, theirs), field.name


def test_every_kind_of_memory_was_touched(place: Path) -> None:
    from eitherway.worlds.threads.memory import Memory

    run = events_of(place / "one")
    memory = Memory(run.names.modules, run.names.regions)
    numbers = np.arange(len(run.events))
    spaces, _ = memory.locate(run.events["address"], numbers)
    kinds = {memory.spaces[number].kind for number in np.unique(spaces)}
    assert kinds == {"module", "heap", "stack", "arguments", "memory"}


def test_a_run_that_was_recorded_there_replays_where_addresses_are_fixed(place: Path) -> None:
    said = eitherway(place, "replay", "--trace", "fixed", randomized=False)
    assert "the same to the bit" in said


def test_another_schedule_has_another_hash(place: Path, tmp_path: Path) -> None:
    command = str(place / "everywhere")
    eitherway(tmp_path, "record", "--seed", "6", "--", command)
    eitherway(tmp_path, "replay", "--trace", "other")
    assert trace_hash(tmp_path / "other") != trace_hash(place / "one")
