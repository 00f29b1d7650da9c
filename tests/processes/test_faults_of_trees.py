# SPDX-License-Identifier: Apache-2.0
"""Trees that are hard on a recorder: thousands, tracers, daemons, setuid programs, a JVM, kills."""

import os
import shutil
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.processes.harness import (
    OTHER_USER,
    PROGRAMS,
    compiled,
    eitherway,
    folder,
    show_python,
    tool,
)
from tests.sandbox.harness import all_end, held, users_of, watch

from eitherway.errors import Exit
from eitherway.recording.read import Recording
from eitherway.sandbox.processes import children
from eitherway.worlds.processes.log import Log

RECORDERS = ("ptrace", "bpf")
DAEMON = 'mkfifo p; (setsid sh -c "read x < p" > /dev/null 2>&1 &); exit 4'


def recorded(work: Path, recorder: str, *command: str) -> tuple[int, str]:
    """Exit code and what was said; skipped where there is no BPF."""
    done = eitherway(work, "record", "--recorder", recorder, "--", *command)
    if "BPF cannot be used" in done.stderr:
        pytest.skip("this machine has no BPF")
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize(("recorder", "count"), [("ptrace", 1000), ("bpf", 10_000)])
def test_thousands_of_processes(work: Path, recorder: str, count: int) -> None:
    program = compiled(PROGRAMS / "many.c", work / "many")
    code, told = recorded(work, recorder, str(program), str(count), "100")
    assert (code, "lost" in told) == (0, False), told


@pytest.mark.parametrize("recorder", RECORDERS)
def test_what_is_left_behind_is_ended_and_said(work: Path, recorder: str) -> None:
    code, told = recorded(work, recorder, "sh", "-c", DAEMON)
    assert (code, "1 process went on when the command had ended" in told) == (4, True), told


BEATS = "while :; do echo beat >> beats; sleep 10; done"


def test_a_daemon_that_wakes_again_and_again_is_ended_and_said(work: Path) -> None:
    """Its sleep takes no time here: it would beat for ever, and fill the disk."""
    script = f"echo a > f & setsid sh -c '{BEATS}' > /dev/null 2>&1 & read x < /dev/null; exit 4"
    code, told = recorded(work, "ptrace", "sh", "-c", script)
    assert (code, "2 processes went on when the command had ended" in told) == (4, True), told
    checked = eitherway(work, "check", "--", "sh", "-c", f"echo 1 > f & echo 2 > f; {script}")
    assert checked.returncode == 1, checked.stdout
    assert "output-differs" in checked.stdout
    assert "none was tried" not in checked.stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("recorder", RECORDERS)
def test_a_program_that_traces_another(work: Path, recorder: str) -> None:
    code, told = recorded(work, recorder, "strace", "-o", "/dev/null", "true")
    refused = "wanted to trace another" in told
    assert (code != 0, refused) == ((True, True) if recorder == "ptrace" else (False, False)), told


# As ping has it: struct vfs_cap_data, of which version, with CAP_NET_RAW in force.
MAY_SEND_RAW = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)


def as_other_user() -> None:
    show_python()
    os.setgroups([])
    os.setresgid(OTHER_USER, OTHER_USER, OTHER_USER)
    os.setresuid(OTHER_USER, OTHER_USER, OTHER_USER)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
@pytest.mark.parametrize("gives", ["owner", "capabilities"])
@pytest.mark.parametrize("verb", ["check", "record"])
def test_setuid_programs_have_no_privileges_and_it_is_said(verb: str, gives: str) -> None:
    with folder() as place, folder(OTHER_USER) as work:
        program = compiled(PROGRAMS / "many.c", place / "setuid")
        if gives == "owner":
            program.chmod(0o4755)
        else:
            os.setxattr(program, "security.capability", MAY_SEND_RAW)
        done = eitherway(work, verb, "--", str(program), "1", "1", prepare=as_other_user)
    assert done.returncode == 0, done.stderr
    assert "1 setuid program ran without the privileges" in done.stdout + done.stderr


@contextmanager
def with_a_file_of_another_group() -> Iterator[Path]:
    """Its owner may write it, and the overlay of an ordinary user cannot make a copy of it."""
    with folder(OTHER_USER) as work:
        (work / "f").write_text("as it was")
        os.chown(work / "f", OTHER_USER, 0)
        yield work


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_run_to_which_the_sandbox_refuses_something_is_not_clean() -> None:
    with with_a_file_of_another_group() as work:
        words = ("check", "--", "sh", "-c", "echo a > f; (: > g) & (: > h) & wait")
        done = eitherway(work, *words, prepare=as_other_user)
        own = eitherway(work, "check", "--", "sh", "-c", "cat f", prepare=as_other_user)
    assert done.returncode == Exit.INCONCLUSIVE, done.stderr
    assert f"the sandbox refused to change {work}/f (EOVERFLOW)" in done.stdout
    assert "0 findings" in done.stdout
    assert (own.returncode, "refused" in own.stdout) == (Exit.OK, False)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed")
def test_a_branch_to_which_the_sandbox_refuses_something_is_no_failure() -> None:
    with with_a_file_of_another_group() as work:
        script = "([ ! -e x ] || echo a > f) & (: > x) & wait"
        done = eitherway(work, "check", "--", "sh", "-c", script, prepare=as_other_user)
    assert done.returncode == Exit.INCONCLUSIVE, done.stderr
    assert "refused to change a file, by the sandbox alone" in done.stdout


@pytest.mark.skipif(shutil.which("java") is None, reason="needs a JVM (default-jre-headless)")
@pytest.mark.parametrize("recorder", RECORDERS)
def test_a_jvm_is_recorded_and_its_races_are_found(work: Path, recorder: str) -> None:
    jvm = "java -Xshare:auto -Xlog:os=info:file=log -version"
    code, told = recorded(work, recorder, "sh", "-c", f"{jvm} & echo a > log; wait $!")
    assert code == 0, told
    races = eitherway(work, "races")
    assert (races.returncode, f"{work}/log" in races.stdout) == (1, True), races.stderr


# ---- kill -9


def below(process: int) -> Iterator[int]:
    for child in children(process):
        yield child
        yield from below(child)


def namespaces_of(processes: list[int]) -> set[str]:
    own = {os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "mnt")}
    links = (f"/proc/{process}/ns/{kind}" for process in processes for kind in ("pid", "mnt"))
    return {os.readlink(link) for link in links} - own


def test_what_no_ring_can_hold_is_counted_and_the_rest_is_whole(work: Path) -> None:
    """A recorder that stands still reads nothing; the tree goes on all the same."""
    blocks = 200_000  # two records each, of 120 bytes: 48 MB, in 16
    copies = f"dd if=/dev/zero of=/dev/null bs=1 count={blocks} status=none"
    code, told = recorded(
        work, "bpf", "sh", "-c", f"kill -STOP $PPID; {copies}; kill -CONT $PPID; exit 5"
    )
    assert (code, "calls were lost" in told) == (5, True), told
    (name,) = os.listdir(work / ".eitherway" / "recordings")
    with Recording.open(work / ".eitherway" / "recordings" / name) as recording:
        log = Log.read(recording)
    copied = log.calls[(log.calls["a2"] == 1) & (log.calls["number"] < 2)]
    assert set(copied["result"].tolist()) == {1}
    assert len(copied) <= 2 * blocks <= len(copied) + log.ending.lost


@pytest.mark.parametrize("victim", ["eitherway-recorder", "eitherway-loader"])
def test_a_killed_recorder_leaves_what_it_had_and_nobody(work: Path, victim: str) -> None:
    script = "i=0; while [ $i -lt 300 ]; do echo $i > f; i=$((i + 1)); done; echo go; read x < p"
    os.mkfifo(work / "p")
    running = tool(work, "record", "--recorder", "bpf", "--", "sh", "-c", script)
    assert running.stdout is not None
    if running.stdout.readline() != b"go\n":
        pytest.skip(f"this machine has no BPF: {running.communicate()[1].decode()}")
    started = list(below(running.pid))
    inside = namespaces_of(started)
    assert inside
    ends = watch(started)
    names = {int(p): Path(f"/proc/{p}/comm").read_text().strip() for p in started}
    (hit,) = [p for p, name in names.items() if victim.startswith(name)]
    with held(started):
        os.kill(hit, signal.SIGKILL)
        _, said = running.communicate(timeout=300)
        assert (running.returncode, b"killed" in said or b"loader" in said) == (69, True), said
        assert all_end(ends)
        assert not users_of(inside)
    (name,) = os.listdir(work / ".eitherway" / "recordings")
    whole = eitherway(work, "races", name)
    part = eitherway(work, "races", "--incomplete", name)
    assert (whole.returncode, part.returncode) == (65, 2), part.stderr
    assert "looked at" in part.stdout
