# SPDX-License-Identifier: Apache-2.0
"""Runs commands under the tracer, as root and as an ordinary user, and reads what it wrote down."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.sandbox.harness import as_user, mount, own_mounts

from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.calls import Call, call_of
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.run import Limits, Ran, run
from eitherway.worlds.threads.launch import Launch

OTHER_USER = 12345
MS_BIND = 0x1000
PROGRAMS = Path(__file__).parent / "programs"
PATIENCE = 20  # seconds: what hangs must not take the suite with it
LIMITS = Limits(PATIENCE)
LOST_UPDATE = """\
echo 0 > count
(read n < count; echo $((n + 1)) > count) &
(read n < count; echo $((n + 1)) > count) &
wait
"""

Result = TypeVar("Result")


@contextmanager
def folder(user: int = 0) -> Iterator[Path]:
    """A directory that this user owns, in one that everybody may enter."""
    path = Path(tempfile.mkdtemp(prefix="eitherway-test-", dir="/tmp"))
    os.chown(path, user, user)
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


def eitherway(
    work: Path, *words: str, prepare: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The tool, as a person starts it; `prepare` is done in its process before."""
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *words],
        cwd=work,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=prepare,
    )


def tool(
    work: Path, *words: str, prepare: Callable[[], None] | None = None
) -> "subprocess.Popen[bytes]":
    """The same, under way."""
    return subprocess.Popen(
        [sys.executable, "-m", "eitherway", *words],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=prepare,  # noqa: PLW1509  there is one thread
    )


def show_python() -> None:
    """Who may not enter where our Python lies can start it: here, and in what comes of us."""
    python = Path(sys.base_prefix)
    closed = [folder for folder in python.parents if not folder.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return
    own_mounts()
    descriptor = os.open(python, os.O_PATH)
    mount("test", closed[-1], "tmpfs", data="mode=0755")
    python.mkdir(parents=True)
    mount(f"/proc/self/fd/{descriptor}", python, flags=MS_BIND)
    os.close(descriptor)


def launch(work: Path, *command: str, stdin: bytes = b"") -> Launch:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(work)}
    return Launch(command, str(work), environment, stdin)


def ran(
    box: Sandbox,
    work: Path,
    *command: str,
    seed: int | None = 0,
    stdin: bytes = b"",
    limits: Limits = LIMITS,
) -> Ran:
    """One run; its log is read and forgotten."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as into:
        started = launch(work, *command, stdin=stdin)
        return run(started, box, Path(into), seed=seed, limits=limits)


def calls(log: Log, name: str | None = None) -> list[Call]:
    """All of them, or those of one name."""
    every = (call_of(log, number) for number in range(len(log.calls)))
    return [call for call in every if name in (None, call.name)]


def compiled(source: Path, target: Path) -> Path:
    words = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", str(source)]
    subprocess.run([*words, "-o", str(target)], check=True)
    return target


def as_each(user: int, work: Callable[[], Result]) -> Result:
    """In a process of that user."""
    return as_user(user, work)
