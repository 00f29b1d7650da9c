# SPDX-License-Identifier: Apache-2.0
"""What is done where a machine lacks namespaces, BPF, or room for a recording."""

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.machine.restrict import NOBODY, restrict
from tests.processes.harness import LOST_UPDATE, compiled, eitherway, folder, show_python, tool
from tests.sandbox.harness import all_end, mount, mount_privately, watch

from eitherway.sandbox.processes import children

Prepare = Callable[[], None]
NEW_USERS, READ_ONLY, REMOUNT = 0x10000000, 1, 32
CONTAINERS = {"root": 0, "nobody": NOBODY}


def contained(user: int) -> Prepare:
    """What Docker permits by default, made real."""

    def prepare() -> None:
        if user:
            show_python()
        restrict("docker", nobody=user != 0)

    return prepare


def in_container(user: int, work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return eitherway(work, *words, prepare=contained(user))


@pytest.fixture(params=CONTAINERS)
def user(request: pytest.FixtureRequest) -> int:
    wanted = CONTAINERS[request.param]
    if os.geteuid() != 0:
        pytest.skip("another user is needed")
    return wanted


# ---- no namespaces, no overlay


def test_in_a_container_races_are_found_and_not_tried(user: int) -> None:
    with folder(user) as work:
        words = ["check", "--json", "found.json", "--", "sh", "-c", LOST_UPDATE]
        done = in_container(user, work, *words)
        assert done.returncode == 1, done.stderr
        assert "no other order is run: files and processes cannot be kept apart" in done.stderr
        assert "runs once, on your own files" in done.stderr
        assert "none was tried: files and processes cannot be kept apart" in done.stdout
        assert "files: none" in done.stdout
        assert (work / "count").read_text() in ("1\n", "2\n")  # by the run itself
        document = json.loads((work / "found.json").read_text(encoding="utf-8"))
        found = document["findings"]
        assert {finding["class"] for finding in found} == {"unjudged"}
        assert all("cannot be kept apart" in finding["reason"] for finding in found)
        assert not any(finding.get("replay") for finding in found)
        written = [
            finding
            for finding in found
            if any(op["variable"] == f"{work}/count" for op in finding["operations"])
        ]
        assert written
        judged = in_container(user, work, "judge", written[0]["id"])
        assert (judged.returncode, "cannot be done again" in judged.stdout) == (1, True)


def test_in_a_container_nothing_found_is_no_failure(user: int) -> None:
    with folder(user) as work:
        done = in_container(user, work, "check", "--", "sh", "-c", "echo a")
    assert (done.returncode, "0 races" in done.stdout) == (0, True), done.stderr


def test_in_a_container_what_asks_for_branches_is_refused(user: int) -> None:
    with folder(user) as work:
        words = ["check", "--checker", "true", "--", "touch", "made"]
        done = in_container(user, work, *words)
        assert (done.returncode, os.listdir(work)) == (69, [".eitherway"])
    assert "no order can be held against what is asked" in done.stderr


def test_in_a_container_what_was_recorded_is_not_replayed(user: int) -> None:
    with folder(user) as work:
        done = in_container(user, work, "record", "--", "sh", "-c", "echo a > made")
        assert (done.returncode, (work / "made").read_text()) == (0, "a\n")
        assert "on your own files" in done.stderr
        assert "replay" not in done.stderr
        # Elsewhere too: the files are what it left.
        for again in (in_container(user, work, "replay"), eitherway(work, "replay")):
            assert (again.returncode, "cannot be done again" in again.stderr) == (69, True)
        refused = in_container(user, work, "record", "--sandbox", "--", "touch", "b")
        assert (refused.returncode, (work / "b").exists()) == (69, False)


@pytest.mark.parametrize("verb", ["check", "record"])
def test_where_calls_cannot_be_made_to_stop_nothing_is_found_clean(work: Path, verb: str) -> None:
    """A command that was never run has no run that is clean."""

    def prepare() -> None:
        restrict("no-seccomp", nobody=False)

    done = eitherway(work, verb, "--", "touch", "made", prepare=prepare)
    assert done.returncode == 69, done.stdout
    assert "seccomp is refused: Operation not permitted" in done.stderr
    assert "recorded run" not in done.stdout
    assert not (work / "made").exists()


def test_a_run_on_ones_own_files_has_real_random_bytes() -> None:
    """What it makes of them stays: a key must not be one that others can tell."""
    with folder() as work:
        script = "import os; print(os.getrandom(16).hex())"
        words = ["check", "--", sys.executable, "-c", script]
        runs = [eitherway(work, *words, prepare=contained(0)).stdout for _ in range(2)]
    assert runs[0].splitlines()[0] != runs[1].splitlines()[0]


def no_more_namespaces() -> None:
    """A user namespace in which no other can be made, though no call is forbidden."""
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USERS) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    for kind in ("user", "mnt", "pid", "net"):
        Path(f"/proc/sys/user/max_{kind}_namespaces").write_text("0", encoding="ascii")


def test_where_namespaces_are_used_up_the_reason_is_told(work: Path) -> None:
    try:
        done = eitherway(work, "check", "--", "sh", "-c", LOST_UPDATE, prepare=no_more_namespaces)
    except subprocess.SubprocessError:
        pytest.skip("this machine has no user namespaces")
    assert done.returncode == 1, done.stderr
    assert "ENOSPC" in done.stderr


def test_where_ptrace_is_refused_too_nothing_runs(work: Path) -> None:
    refused = partial(restrict, "docker-no-ptrace", nobody=False)
    done = eitherway(work, "check", "--", "touch", "made", prepare=refused)
    assert (done.returncode, "ptrace is refused" in done.stderr) == (69, True), done.stderr
    assert not (work / "made").exists()


def test_nobody_outlives_a_tool_that_is_killed_in_a_container(work: Path) -> None:
    os.mkfifo(work / "p")
    words = ["record", "--", "sh", "-c", "echo go; read x < p"]
    with tool(work, *words, prepare=contained(os.geteuid())) as running:
        assert running.stdout
        assert running.stdout.readline() == b"go\n"
        started = watch(_below(running.pid))
        assert len(started) >= 4  # keeper, door, tracer, command
        running.send_signal(signal.SIGKILL)
    assert all_end(started)


def _below(process: int) -> list[int]:
    return [each for child in children(process) for each in (child, *_below(child))]


# ---- no BPF


def test_without_bpf_it_is_said_and_what_does_without(user: int) -> None:
    with folder(user) as work:
        words = ["record", "--recorder", "bpf", "--", "touch", "made"]
        done = in_container(user, work, *words)
        assert done.returncode == 69
        assert "BPF cannot be used" in done.stderr
        assert "--recorder ptrace" in done.stderr
        assert not (work / "made").exists()


# ---- no room


def small_disk(point: Path, *, size: int | None) -> Prepare:
    """A tmpfs that has room for so many bytes; None: nothing can be written to it."""

    def prepare() -> None:
        mount_privately(point)
        if size is None:
            mount("", point, flags=REMOUNT | READ_ONLY)
        else:
            mount("", point, flags=REMOUNT, data=f"size={size}")

    return prepare


@pytest.fixture
def disk(work: Path) -> Path:
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    point = work / "disk"
    point.mkdir()
    return point


@pytest.mark.parametrize("verb", ["check", "record"])
def test_a_disk_that_is_read_only_is_told_before_anything_runs(
    work: Path, disk: Path, verb: str
) -> None:
    words = [verb, "--", "sh", "-c", "echo ran"]
    store = str(disk / "store")
    done = eitherway(work, *words, prepare=small_disk(disk, size=None), EITHERWAY_DIR=store)
    assert (done.returncode, done.stdout) == (69, ""), done.stderr
    assert "Read-only file system" in done.stderr


@pytest.mark.parametrize("recorder", ["ptrace", "bpf"])
def test_a_disk_that_is_full_is_told(work: Path, disk: Path, recorder: str) -> None:
    program = work / "many.c"
    text = "#include <unistd.h>\nint main(void) { for (;;) if (lseek(0, 0, SEEK_CUR) == 1) break; }"
    program.write_text(text, encoding="ascii")
    endless = compiled(program, work / "many")
    words = ["record", "--recorder", recorder, "--", str(endless)]
    store = str(disk / "store")
    done = eitherway(work, *words, prepare=small_disk(disk, size=1 << 20), EITHERWAY_DIR=store)
    if "BPF cannot be used" in done.stderr:
        pytest.skip("this machine has no BPF")
    assert done.returncode == 69, done.stderr
    assert "the recording cannot be written: No space left on device" in done.stderr
    assert "try: EITHERWAY_DIR=" in done.stderr
