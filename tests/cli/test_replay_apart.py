# SPDX-License-Identifier: Apache-2.0
"""A replay changes nothing of the user's: no files, no processes; where it can be kept apart."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

WRITES = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    FILE *log = fopen("log", "a");
    fputs("line\n", log);
    fclose(log);
    FILE *command = popen("cat > copied", "w");
    fputs("hello\n", command);
    int local;
    printf("%p %d %d\n", (void *)&local, pclose(command), system("echo more >> appended"));
}
"""
# Signals whom it is told by number, in every way there is.
SIGNALS = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>
int main(void) {
    char line[20] = "";
    if (read(0, line, sizeof line - 1) <= 0)
        return 1;
    pid_t told = atoi(line);
    int process = pidfd_open(told, 0);
    printf("%d %d", kill(told, SIGRTMIN), tgkill(told, told, SIGRTMIN));
    printf(" %d", pidfd_send_signal(process, SIGRTMIN, NULL, 0));
    printf(" %d", sigqueue(told, SIGRTMIN, (union sigval){0}));
    printf(" %d\n", killpg(told, SIGRTMIN));
}
"""
WAYS = 5
# Says who has sent it signals, each of which is kept until it is looked at.
HEARS = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
print("ready", flush=True)
while True:
    print(signal.sigwaitinfo([signal.SIGRTMIN]).si_pid, flush=True)
"""


def made(folder: Path, source: str) -> Path:
    (folder / "program.c").write_text(source, encoding="utf-8")
    build(folder / "program.c", folder / "program")
    return folder / "program"


def eitherway(
    folder: Path, *words: str, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eitherway", *words],
        cwd=folder,
        input=given or "",
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def files_apart() -> None:
    try:
        Sandbox(require=[Kind.FILES]).close()
    except Unavailable as refused:
        pytest.skip(str(refused))


@pytest.mark.usefixtures("files_apart")
@pytest.mark.parametrize("how", [["replay"], ["replay", "--trace", "traced"], ["races"]])
def test_a_replay_writes_no_files(tmp_path: Path, how: list[str]) -> None:
    made(tmp_path, WRITES)
    first = eitherway(tmp_path, "record", "--", "./program")
    assert first.returncode == 0, first.stderr
    files = {name: (tmp_path / name).read_bytes() for name in ("log", "copied", "appended")}
    assert files == {"log": b"line\n", "copied": b"hello\n", "appended": b"more\n"}
    again = eitherway(tmp_path, *how)
    assert again.returncode == 0, again.stderr
    assert files == {name: (tmp_path / name).read_bytes() for name in files}


@pytest.mark.usefixtures("files_apart")
def test_verifying_writes_no_files(tmp_path: Path) -> None:
    made(tmp_path, WRITES)
    first = eitherway(tmp_path, "record", "--verify", "--", "./program")
    assert (first.returncode, "the same to the bit" in first.stderr) == (0, True), first.stderr
    assert (tmp_path / "log").read_bytes() == b"line\n"


def test_it_writes_them_when_that_is_asked(tmp_path: Path) -> None:
    made(tmp_path, WRITES)
    assert eitherway(tmp_path, "record", "--", "./program").returncode == 0
    kept = eitherway(tmp_path, "replay", "--keep")
    assert kept.returncode == 0, kept.stderr
    assert (tmp_path / "log").read_bytes() == b"line\nline\n"
    assert (tmp_path / "copied").read_bytes() == b"hello\n"  # and all that was written to it
    assert eitherway(tmp_path, "replay", "--keep", "--sandbox").returncode == 64


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[str]]:
    """A process of the user's, in a group of its own."""
    words = [sys.executable, "-c", HEARS]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, process_group=0) as started:
        yield started
        started.kill()


def test_a_replay_signals_nobody_else(tmp_path: Path, stranger: subprocess.Popen[str]) -> None:
    """Also not where nothing is isolated: the number could be anybody's by now."""
    assert stranger.stdout
    assert stranger.stdout.readline() == "ready\n"
    launch = Launch.here([str(made(tmp_path, SIGNALS))], str(stranger.pid).encode())
    first = run(launch)
    assert first.out.beginning == b"0 0 0 0 0\n", first.err.beginning
    assert len([stranger.stdout.readline() for _ in range(WAYS)]) == WAYS
    assert run(launch, replay=first).differences(first) == []
    os.kill(stranger.pid, signal.SIGRTMIN)
    assert int(stranger.stdout.readline()) == os.getpid()  # and nobody before


def test_it_signals_a_child_of_its_own_that_is_not_ours(tmp_path: Path) -> None:
    """A shell that was ended is ended again, else the replay would leave it."""
    source = """
        #include <signal.h>
        #include <stdio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            int status;
            pid_t child = fork();
            if (child == 0) {
                execlp("sleep", "sleep", "1000", (char *)NULL);
                _exit(1);
            }
            kill(child, SIGTERM);
            waitpid(child, &status, 0);
            printf("%d\\n", WTERMSIG(status));
        }
    """
    launch = Launch.here([str(made(tmp_path, source))])
    first = run(launch)
    assert first.out.beginning == b"15\n", first.err.beginning
    again = run(launch, replay=first, plan=Plan(timeout=60))
    assert again.differences(first) == []
    assert again.left == 0
