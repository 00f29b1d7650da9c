# SPDX-License-Identifier: Apache-2.0
"""A recording is a file that anybody may have made: what it names is not started unseen."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eitherway.errors import Problem
from eitherway.model.words import World
from eitherway.recording.layout import BlockType
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording
from eitherway.recording.write import RecordingWriter
from eitherway.worlds.threads.recorded import load

MEMBER: dict[str, int] = {
    "parent": -1,
    "ordinal": 0,
    "identity": 1,
    "again": 0,
    "state": 2,
    "status": 0,
    "number": 2,
    "steps": 1,
    "hash": 0,
    "reached": 0,
    "switches": 1,
    "inputs": 0,
}
WRITTEN = {"size": 0, "digest": "0" * 64, "unordered": "0" * 64}
FACTS: dict[str, Any] = {
    "directory": "/",
    "environment": [["PATH", "/usr/bin:/bin"]],
    "stdin": "given",
    "ignored": [],
    "sandbox": False,
    "status": 0,
    "members": [MEMBER],
    "out": WRITTEN,
    "err": WRITTEN,
}


def hostile(
    path: Path, facts: object, *command: str, build_ids: dict[str, str] | None = None
) -> Path:
    manifest = Manifest(World.THREADS, "runtime", command, build_ids or {})
    with RecordingWriter(path, manifest) as writer:
        writer.stream("schedule").rows(BlockType.CHOICES, np.zeros(4, dtype="<u4"))
        stream = writer.stream("input")
        stream.input(256, 0, facts if isinstance(facts, bytes) else json.dumps(facts).encode())
        for kind in (257, 258, 259):
            stream.input(kind, 0, b"")
    return path


@pytest.mark.parametrize("verb", [["races"], ["races", "--again"], ["replay"]], ids=" ".join)
def test_a_command_that_is_not_ours_is_never_started(verb: list[str], tmp_path: Path) -> None:
    mark = tmp_path / "started"
    path = hostile(tmp_path / "evil", FACTS, "/bin/sh", "-c", f"touch {mark}")
    run = subprocess.run(
        [sys.executable, "-m", "eitherway", *verb, path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode in (64, 65)
    assert "Traceback" not in run.stderr
    assert not mark.exists()


def test_a_run_from_elsewhere_is_not_traced_unasked(tmp_path: Path) -> None:
    path = hostile(tmp_path / "given", FACTS, "/bin/true")
    run = subprocess.run(
        [sys.executable, "-m", "eitherway", "races", path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 64
    assert "--again" in run.stderr


BENT: list[object] = [
    b"",
    b"\xff",
    b"[]",
    b"{",
    {},
    {**FACTS, "environment": [["PATH", 1]]},
    {**FACTS, "stdin": "telepathy"},
    {**FACTS, "ignored": [65]},
    {**FACTS, "environment": [["PATH"]]},
    {**FACTS, "environment": {"PATH": "/bin"}},
    {**FACTS, "directory": 5},
    {**FACTS, "directory": ""},
    {**FACTS, "members": {}},
    {**FACTS, "members": []},
    {**FACTS, "members": [{}]},
    {**FACTS, "members": [MEMBER, MEMBER]},
    {**FACTS, "members": [{**MEMBER, "steps": "q"}]},
    {**FACTS, "members": [{**MEMBER, "steps": -1}]},
    {**FACTS, "members": [{**MEMBER, "hash": []}]},
    {**FACTS, "members": [{**MEMBER, "reached": -1}]},
    {**FACTS, "members": [{**MEMBER, "parent": 0}]},
    {**FACTS, "members": [{**MEMBER, "state": 4}]},
    {**FACTS, "members": [{**MEMBER, "switches": 2}]},
    {**FACTS, "members": [{**MEMBER, "inputs": 8}]},
    {**FACTS, "status": 10**9},
    {**FACTS, "out": [0, ""]},
    {**FACTS, "out": {**WRITTEN, "digest": "x"}},
    {**FACTS, "more": 1},
]


@pytest.mark.parametrize("facts", BENT, ids=str)
def test_facts_that_are_bent_are_refused(facts: object, tmp_path: Path) -> None:
    path = hostile(tmp_path / "bent", facts, "/bin/true")
    with Recording.open(path) as recording, pytest.raises(Problem, match="no recording of a run"):
        load(recording)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((), "names no command"),
        (("",), "names no command"),
        (("/nowhere/at/all",), "which is gone"),
        (("/etc/passwd",), "not executable"),
        (("/bin/sh",), "was not built by eitherway cc"),
        (("sh",), "was not built by eitherway cc"),
    ],
)
def test_programs_that_cannot_be_it_are_refused(
    command: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    path = hostile(tmp_path / "odd", FACTS, *command, build_ids={os.devnull: "00"})
    with Recording.open(path) as recording, pytest.raises(Problem, match=said):
        load(recording)
