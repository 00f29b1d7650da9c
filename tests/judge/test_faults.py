# SPDX-License-Identifier: Apache-2.0
"""A branch may do anything: it is contained, and who stands beside sees nothing of it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.calling import eitherway
from tests.judge.bench import Bench, bench
from tests.judge.conftest import Program
from tests.judge.observer import await_end, marked, seen

from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.sandbox.memory import Share
from eitherway.sandbox.processes import descendants, worked
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.run import Ran

AGAINST_PARENT = Path(__file__).parents[1] / "threads" / "programs" / "against_parent.c"
MIB = 1 << 20
PLAN = Plan(timeout=60, stopping=0.5, share=Share(256 * MIB))


def recorded(made: Bench) -> tuple[Finding, Ran]:
    """The first run in which the program behaves, with the race that decides whether it does."""
    ran = made.explorer.run(scheduler="round-robin", detect=True)
    (finding,) = (f for f in made.races_in(ran).values() if f.operations[0].variable == "ready")
    assert (ran.status, finding.operations[0].op) == (0, "write of size 4")
    return finding, ran


def judged(program: str, folder: Path, *words: str) -> Finding:
    with bench([program, *words], PLAN, disk=64 * MIB, continuations=2) as made:
        finding, ran = recorded(made)
        return made.judge.judged(finding, ran, lambda _: folder / "run")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("kept", "loved", "moved"):
        (folder / name).write_text(f"{name} as it was\n")
    return [str(folder / name) for name in ("kept", "loved", "moved")]


@pytest.fixture
def port() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


pytestmark = pytest.mark.usefixtures("fixed")


@pytest.mark.parametrize(
    ("mode", "klass"),
    [
        ("writes_outside", Class.OUTPUT_DIFFERS),
        ("fills_disk", Class.OUTPUT_DIFFERS),
        ("fills_a_hole", Class.SPEC_VIOLATED),
        ("fills_memory", Class.INCONCLUSIVE),
        ("forks", Class.INCONCLUSIVE),
        ("leaves_a_daemon", Class.INCONCLUSIVE),
        ("ignores_signals", Class.SPEC_VIOLATED),
        ("stops_itself", Class.SPEC_VIOLATED),
        ("stops_itself_by_number", Class.SPEC_VIOLATED),
    ],
)
def test_nothing_is_changed(
    program: Program,
    tmp_path: Path,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    klass: Class,
) -> None:
    path, mark = program("misbehaves"), uuid.uuid4().hex
    monkeypatch.setenv("MARK", mark)
    before = seen(tmp_path)
    assert judged(path, tmp_path, mode, *files).klass is klass
    assert seen(tmp_path) == before
    assert marked(mark) == set()


def let_go_on(over: threading.Event) -> None:
    """All that is below us and has stopped, until it is over."""
    while not over.wait(0.01):
        for process in descendants(os.getpid()):
            if is_stopped(process):
                os.kill(process, signal.SIGCONT)


def is_stopped(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


def test_who_was_let_go_on_is_again(program: Program, tmp_path: Path) -> None:
    """It stops in each order, as in the recorded run: that is no hang."""
    over = threading.Event()
    with bench([program("misbehaves"), "always_stops"], PLAN, continuations=2) as made:
        helper = threading.Thread(target=let_go_on, args=[over])
        helper.start()
        ran = made.explorer.run(scheduler="round-robin", detect=True)
        over.set()
        helper.join()
        findings = made.races_in(ran).values()
        (finding,) = (f for f in findings if f.operations[0].variable == "ready")
        assert made.judge.judged(finding, ran, lambda _: tmp_path).klass is (
            Class.K_WITNESS_HARMLESS
        )


def test_nobody_is_called(program: Program, tmp_path: Path, port: socket.socket) -> None:
    number = str(port.getsockname()[1])
    finding = judged(program("misbehaves"), tmp_path, "uses_network", number)
    assert finding.klass is Class.INCONCLUSIVE
    with pytest.raises(BlockingIOError):
        port.accept()


def test_nobody_is_killed(program: Program, tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as bystander:
        judged(program("misbehaves"), tmp_path, "kills_others", str(bystander.pid))
        assert bystander.poll() is None


@pytest.mark.parametrize("late", [[], ["late"]], ids=["whole runs", "copies"])
@pytest.mark.parametrize(
    ("what", "klass"),
    [
        ("stop_unseen", Class.OUTPUT_DIFFERS),
        ("kill_unseen", Class.INCONCLUSIVE),
        ("all_unseen", Class.INCONCLUSIVE),
    ],
)
def test_who_runs_branches_may_be_their_aim(
    tmp_path: Path, what: str, klass: Class, late: list[str]
) -> None:
    """Of a copy it is the run that it is a copy of."""
    build(AGAINST_PARENT, tmp_path / "program")
    assert judged(str(tmp_path / "program"), tmp_path, what, *late).klass is klass


def test_who_stands_beside_sees_what_is_changed(
    tmp_path: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, mark = seen(tmp_path), uuid.uuid4().hex
    os.unlink(files[0])
    assert seen(tmp_path).files != before.files
    monkeypatch.setenv("MARK", mark)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        os.write(child.stdin.fileno(), b"here")
        assert os.read(child.stdout.fileno(), 4) == b"here"
        assert marked(mark) == {child.pid}
        assert await_end({child.pid}, 0) == {child.pid}


# --- the tool itself is killed

CHECKER = """#!/bin/sh
echo here > {there}/began
read word < {there}/go
"""


@pytest.fixture
def begun(program: Program, tmp_path: Path) -> Path:
    """A folder with a race that was found and not judged, and a checker that waits for us."""
    path = program("misbehaves")
    home = tmp_path / "home"
    home.mkdir()
    done = eitherway(home, "check", "--no-judge", "--schedules", "20", "--", path, "nothing")
    assert done.returncode == 1
    for name in ("began", "go"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "checker").write_text(CHECKER.format(there=tmp_path))
    (tmp_path / "checker").chmod(0o755)
    (tmp_path / "scratch").mkdir()
    return home


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("verb", ["judge", "check"])
def test_a_killed_judge_leaves_nothing_but_what_it_has_to_do_still(
    begun: Path, program: Program, verb: str, number: signal.Signals
) -> None:
    words = ["judge"]
    if verb == "check":  # from nothing, and what it has found is there when it is killed
        shutil.rmtree(begun / ".eitherway")
        words = ["check", "--judge", "--schedules", "20"]
    command = ["--", program("misbehaves"), "nothing"] if verb == "check" else []
    there, mark = begun.parent, uuid.uuid4().hex
    mounts = seen(begun).mounts
    began, go = (os.open(there / name, os.O_RDWR) for name in ("began", "go"))
    said = (there / "said").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "eitherway", *words, "--checker", f"{there}/checker", *command],
        cwd=begun,
        env={**os.environ, "MARK": mark, "TMPDIR": str(there / "scratch")},
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
    )
    assert os.read(began, 5) == b"here\n"  # a branch was run, and is looked at
    below = marked(mark)
    assert len(below) > 1
    process.send_signal(number)
    os.write(go, b"on\n" * 100)  # for all that wait, or begin to
    process.wait()
    with said:
        said.seek(0)
        told = said.read()
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "EitherWay: 1 finding: 1 unjudged" in told
        assert "0 of 1 findings were judged" in told
        assert told.endswith("eitherway: interrupted; this is what was found until then\n")
    assert await_end(below, 300) == set()
    assert marked(mark) == set()
    os.close(began)
    os.close(go)
    assert seen(begun).mounts == mounts
    assert os.listdir(there / "scratch") == []
    again = eitherway(begun, "judge")
    assert "1 of 1 findings were judged" in again.stdout + again.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_branch_without_an_end_is_not_waited_for(
    program: Program, tmp_path: Path, number: signal.Signals
) -> None:
    mark, path = uuid.uuid4().hex, program("misbehaves")
    words = ["--timeout", "100000", "--schedules", "1", "--scheduler", "round-robin", "--judge"]
    process = subprocess.Popen(
        [sys.executable, "-m", "eitherway", "check", *words, "--", path, "computes"],
        cwd=tmp_path,
        env={**os.environ, "MARK": mark, "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    while not any(runs(pid, path) and worked(pid) > 1 for pid in marked(mark)):
        assert process.poll() is None
    process.send_signal(number)
    _, told = process.communicate()
    assert process.returncode == 128 + number, told
    assert b"what was found until then" in told
    assert await_end(marked(mark), 300) == set()


def runs(process: int, path: str) -> bool:
    try:
        return Path(f"/proc/{process}/exe").readlink().name == Path(path).name
    except OSError:
        return False
