# SPDX-License-Identifier: Apache-2.0
"""`--redact`: arguments, environment and data stay out of a recording; races are found in it."""

import json
import os
from pathlib import Path

import pytest
from tests.processes.harness import eitherway

SECRETS = ("argument-that-is-secret", "value-that-is-secret", "word-that-is-secret")
SCRIPT = """\
/bin/echo "$1"
/bin/echo word-that-is-secret
head -c 4 /dev/urandom | od -x
(read n < count; echo a > count) &
(read n < count; echo b > count) &
wait
"""


def files_of(work: Path) -> bytes:
    """All that lies in the store."""
    top = work / ".eitherway"
    return b"".join(path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file())


def started(work: Path, *words: str) -> str:
    """What it said; the script is a file, so that its text is no argument."""
    (work / "two.sh").write_text(SCRIPT, encoding="ascii")
    (work / "count").write_text("0\n", encoding="ascii")
    done = eitherway(work, *words, "--", "sh", "two.sh", SECRETS[0], SECRET=SECRETS[1])
    if "BPF cannot be used" in done.stderr:
        pytest.skip("this machine has no BPF")
    assert done.returncode in (0, 1), done.stderr
    assert SECRETS[0] in done.stdout  # it ran as ever
    return done.stdout + done.stderr


def test_without_it_they_are_there_and_nobody_else_can_read_them(work: Path) -> None:
    started(work, "record")
    assert all(secret.encode() in files_of(work) for secret in SECRETS)
    latest = work / ".eitherway" / "latest"
    assert {file.stat().st_mode & 0o777 for file in latest.iterdir()} == {0o600}
    assert latest.resolve().stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("recorder", ["ptrace", "bpf"])
def test_with_it_they_are_not(work: Path, recorder: str) -> None:
    told = started(work, "record", "--redact", "--recorder", recorder)
    assert "eitherway replay" not in told
    held = files_of(work)
    assert not [secret for secret in SECRETS if secret.encode() in held]
    assert b"two.sh" not in (work / ".eitherway" / "latest" / "MANIFEST").read_bytes()
    races = eitherway(work, "races", "--json", "found.json")
    assert races.returncode == 1, races.stderr
    found = json.loads((work / "found.json").read_text(encoding="utf-8"))["findings"]
    names = {op["variable"] for finding in found for op in finding["operations"]}
    assert f"{work}/count" in names  # names of files are what a race is about
    assert "<argument 1, 6 bytes>" in races.stdout


def test_what_was_left_out_is_not_replayed(work: Path) -> None:
    started(work, "record", "--redact")
    again = eitherway(work, "replay")
    assert (again.returncode, "(--redact)" in again.stderr) == (69, True)


def test_check_finds_and_tries_nothing(work: Path) -> None:
    told = started(work, "check", "--redact")
    assert "no other order is run: what it would be done again with is left out" in told
    assert not [secret for secret in SECRETS if secret.encode() in files_of(work)]
    assert (work / "count").read_text() == "0\n"  # it was kept apart all the same
    (_,) = os.listdir(work / ".eitherway" / "recordings")


def test_it_is_for_processes(work: Path) -> None:
    done = eitherway(work, "record", "--redact", "--world", "threads", "--", "true")
    assert (done.returncode, "--world processes" in done.stderr) == (64, True)
