# SPDX-License-Identifier: Apache-2.0
"""`eitherway doctor` as a person and a script meet it, and what it leaves behind: nothing."""

import ctypes
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.machine.harness import UNDER, RunDoctor

import eitherway
from eitherway.cli.main import main
from eitherway.machine.definitions import DEFINITIONS
from eitherway.model.words import World

ESCAPE = "\x1b["
PR_SET_CHILD_SUBREAPER = 36


def command(probe: Path, *arguments: str) -> list[str]:
    return [
        sys.executable,
        str(UNDER),
        str(probe.parent.parent),
        "none",
        "ROOT",
        "doctor",
        *arguments,
    ]


def in_terminal(arguments: list[str], environ: dict[str, str]) -> str:
    """What the command writes when its output is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, stdout=theirs, env=environ) as process:
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # EIO: the last writer is gone
                break
            if not chunk:
                break
            chunks.append(chunk)
        process.wait()
    os.close(ours)
    return b"".join(chunks).decode()


@pytest.fixture
def reaper() -> Iterator[None]:
    """Orphans of what we start become our children, so that none can hide."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def test_it_leaves_nothing_behind(run_doctor: RunDoctor, reaper: None) -> None:
    def state() -> tuple[str, set[str]]:
        namespaces = {os.readlink(entry) for entry in Path("/proc/self/ns").iterdir()}
        return Path("/proc/self/mountinfo").read_text(), namespaces

    before = state()
    doctor = run_doctor("--all")  # also checks that its temporary folder is empty again
    assert doctor.status in (0, 69)
    assert state() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("width", ["80", "200"])
@pytest.mark.parametrize("extra", [[], ["--all"], ["--world", "kernel"]])
def test_the_text_fits_and_is_plain_when_piped(
    run_doctor: RunDoctor, width: str, extra: list[str]
) -> None:
    doctor = run_doctor(*extra, environ={"COLUMNS": width, "NO_COLOR": ""})
    lines = doctor.output.splitlines()[:-1]  # the last names the file that was written
    assert max(map(len, lines)) <= int(width)
    assert ESCAPE not in doctor.output
    assert not any(line.endswith(" ") for line in lines)
    assert doctor.output.splitlines()[-1].startswith("wrote ")


def test_colour_is_for_terminals_and_can_be_refused(probe: Path) -> None:
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    coloured = in_terminal(command(probe), {**plain, "TERM": "xterm-256color"})
    assert ESCAPE in coloured
    refused = in_terminal(command(probe), {**plain, "TERM": "xterm-256color", "NO_COLOR": "1"})
    assert ESCAPE not in refused  # nor bold, nor dim
    assert "threads" in refused


def test_json_on_standard_output_is_alone_there(probe: Path) -> None:
    ran = subprocess.run(command(probe, "--json", "-"), capture_output=True, text=True, check=False)
    document = json.loads(ran.stdout)
    assert {row["name"] for row in document["capabilities"]} == {d.name for d in DEFINITIONS}
    assert [state["world"] for state in document["worlds"]] == list(World)
    assert document["tool"] == {"name": "eitherway", "version": eitherway.__version__}


def test_every_row_is_whole(run_doctor: RunDoctor) -> None:
    for row in run_doctor().document["capabilities"]:
        assert row["purpose"]
        assert row["detail"]
        for field in ("missing", "fix", "lost"):
            assert bool(row[field]) == (row["state"] != "yes"), row


def test_what_is_not_built_is_not_claimed(run_doctor: RunDoctor) -> None:
    doctor = run_doctor()
    unbuilt = [s["world"] for s in doctor.document["worlds"] if not s["built"]]
    assert unbuilt == ["kernel"]
    said = " ".join(doctor.output.split())
    for world in unbuilt:
        assert world in said.partition("does not yet run your programs in: ")[2]


def test_the_answer_is_there_for_a_world_at_a_time(run_doctor: RunDoctor) -> None:
    doctor = run_doctor("--world", "threads")
    assert "changed pages" in doctor.output
    assert "recorder" not in doctor.output


@pytest.mark.parametrize(
    "arguments", [["--world", "moon"], ["--json"], ["extra"], ["--json", "/nowhere/at/all.json"]]
)
def test_wrong_usage(probe: Path, arguments: list[str]) -> None:
    ran = subprocess.run(command(probe, *arguments), capture_output=True, text=True, check=False)
    assert ran.returncode == 64
    assert ran.stderr.startswith("eitherway: ")


def test_a_checkout_without_its_native_part_says_what_to_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(eitherway, "__path__", [str(tmp_path)])
    # The modules are loaded already; only the search for native files sees the empty package.
    assert main(["doctor"]) == 69
    assert "make setup" in capsys.readouterr().err


def test_the_page_of_documentation_has_every_row() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "doctor.md").read_text()
    for definition in DEFINITIONS:
        worlds = ", ".join(definition.worlds) or "none"
        cells = (f"`{definition.name}`", worlds, definition.purpose, definition.lost)
        assert f"| {' | '.join(cells)} |" in page
