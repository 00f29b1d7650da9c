# SPDX-License-Identifier: Apache-2.0
"""Processes in harder ways: orphans, killed ones, closed descriptors, pipes, forks at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from eitherway.errors import BadInput
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.threads import family
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.family import State
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.program import Kind, classify
from eitherway.worlds.threads.recorded import Recorded, load, save
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.server import Server

Program = Callable[[str], str]

IN_TIME = Plan(timeout=60)
WAYS = {"orphan": 4, "killed": 6, "closing": 5, "talk": 3, "threads": 8, "clean": 3}


def relatives(program: Program, how: str, monkeypatch: pytest.MonkeyPatch) -> Launch:
    path = Path(program("relatives"))
    monkeypatch.chdir(path.parent)
    return Launch.here([str(path), how])


@pytest.mark.parametrize("how", WAYS)
def test_every_process_does_it_again(
    how: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = relatives(program, how, monkeypatch)
    for seed in range(5):
        first = run(launch, seed=seed, plan=IN_TIME)
        assert (first.status, first.left, len(first.members)) == (0, 0, WAYS[how])
        assert run(launch, replay=first, plan=IN_TIME).differences(first) == []


@pytest.mark.parametrize("how", WAYS)
def test_served_too(how: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(relatives(program, how, monkeypatch)) as server:
        for seed in range(5):
            first = server.run(seed=seed, plan=IN_TIME)
            assert (first.status, len(first.members)) == (0, WAYS[how])
            assert server.run(replay=first, plan=IN_TIME).differences(first) == []


def test_no_descriptor_of_ours_is_seen_and_the_options_are_not(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run(relatives(program, "clean", monkeypatch))
    (line,) = ran.out.beginning.splitlines()
    assert set(line.partition(b"=")[2]) == {ord(":")}


def test_a_fork_bomb_ends(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run may have so many processes; the next fork fails, in a replay at the same one."""
    rows = 4096  # where they begin: behind twenty slots, on the next page
    monkeypatch.setattr(family, "ROOM", 20)
    monkeypatch.setattr(family, "_AREAS", family._AREAS - family._ROWS + rows)
    monkeypatch.setattr(family, "_ROWS", rows)
    launch = relatives(program, "bomb", monkeypatch)
    first = run(launch, seed=3)
    assert first.out.beginning == b"19 made, 1\n"
    assert b"fork: refused: the run has as many processes as it may have" in first.err.beginning
    assert len(first.members) == 20
    assert run(launch, replay=first).differences(first) == []


def script(folder: Path, text: str) -> Launch:
    path = folder / "script"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return Launch.here([str(path)])


def test_a_script_may_lead_a_run(program: Program, tmp_path: Path) -> None:
    launch = script(tmp_path, f"{program('relatives')} test")
    assert classify(launch.command[0]).may_lead(launch.command[0])
    ran = run(launch)
    assert [member.state for member in ran.members] == [State.ENDED]
    path = save(Recorded(launch, ran), Store(tmp_path / "store"))
    with Recording.open(path) as recording:
        assert run(launch, replay=load(recording).ran).differences(ran) == []
        assert set(recording.manifest.build_ids) == {launch.command[0], program("relatives")}
    os.rename(path, tmp_path / "elsewhere")
    (tmp_path / "script").write_text("#!/bin/sh\n# another\n", encoding="utf-8")
    with Recording.open(tmp_path / "elsewhere") as recording, pytest.raises(BadInput):
        load(recording)


def test_a_script_of_elsewhere_is_not_followed(program: Program, tmp_path: Path) -> None:
    launch = script(tmp_path, f"{program('relatives')} test")
    path = save(Recorded(launch, run(launch)), Store(tmp_path / "store"))
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in path.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    with Recording.open(copy) as recording, pytest.raises(Exception, match="is a script"):
        load(recording)


def test_a_script_that_starts_nothing_of_ours_has_no_members(tmp_path: Path) -> None:
    launch = script(tmp_path, "true")
    assert run(launch).members == ()
    found = classify(launch.command[0])
    assert found.kind is Kind.SCRIPT
    assert "started no program of ours" in str(found.nothing_of_ours())
