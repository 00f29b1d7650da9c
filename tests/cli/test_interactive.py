# SPDX-License-Identifier: Apache-2.0
"""Standard input that comes while the program runs: from a terminal, or from who reads it."""

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

# Another thread counts what the first has read; a prompt is answered before the next is written.
SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int lines, done;
static void *count(void *unused) {
    pthread_mutex_lock(&lock);
    for (int seen = 0; !done; seen = lines)
        while (seen == lines && !done)
            pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t thread;
    char name[64], rest[64];
    pthread_create(&thread, NULL, count, NULL);
    printf("terminal: %d\nname?\n", isatty(0));
    fflush(stdout);
    while (scanf("%63s", name) == 1 && strcmp(name, "nobody")) {
        pthread_mutex_lock(&lock);
        lines++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        printf("hello %s, %d\n", name, lines);
        fflush(stdout);
    }
    long left = (long)read(0, rest, sizeof rest);
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    printf("%d lines, %ld more\n", lines, left);
    return lines == 2 ? 0 : 1;
}
"""
COMMAND = [sys.executable, "-m", "eitherway"]


@pytest.fixture(scope="module")
def greeter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("greeter")
    (folder / "greeter.c").write_text(SOURCE, encoding="utf-8")
    build(folder / "greeter.c", folder / "greeter")
    return folder / "greeter"


def record(greeter: Path, folder: Path, stdin: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, "record", "--", greeter],
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def converse(process: "subprocess.Popen[bytes]", answers: int, last: bytes = b"") -> bytes:
    """Says a name whenever something was said; returns all that was said."""
    assert process.stdout
    said = [process.stdout.readline(), process.stdout.readline()]
    for name in (b"ann\n", b"bob\n"):
        os.write(answers, name)
        said.append(process.stdout.readline())
        assert said[-1].startswith(b"hello " + name.strip())
    os.write(answers, b"nobody\n" + last)
    if not last:
        os.close(answers)
    said.append(process.stdout.read())
    return b"".join(said)


def replay(folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Nobody answers now."""
    return subprocess.run(
        [*COMMAND, "replay", "--times", "3"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def check_replay(folder: Path, said: bytes) -> None:
    again = replay(folder)
    assert b"the same to the bit 3 of 3 times" in again.stderr
    assert (again.returncode, again.stdout) == (0, said * 3)


def test_a_pipe_whose_writer_answers_what_it_reads(greeter: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    with record(greeter, tmp_path, reader) as process:
        os.close(reader)
        said = converse(process, writer)
        assert process.wait() == 0
    assert said.startswith(b"terminal: 0\nname?\nhello ann, 1\nhello bob, 2\n")
    check_replay(tmp_path, said)


def test_a_pipe_that_ends(greeter: Path, tmp_path: Path) -> None:
    with subprocess.Popen(["printf", "ann bob"], stdout=subprocess.PIPE) as names:
        assert names.stdout
        ran = subprocess.run(
            [*COMMAND, "record", "--", greeter],
            cwd=tmp_path,
            stdin=names.stdout,
            capture_output=True,
            check=False,
        )
    assert (ran.returncode, ran.stdout[-16:]) == (0, b"2 lines, 0 more\n")
    check_replay(tmp_path, ran.stdout)


def test_a_person_at_a_terminal(greeter: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    settings = termios.tcgetattr(theirs)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    with record(greeter, tmp_path, theirs) as process:
        os.close(theirs)
        said = converse(process, ours, b"and more\n")
        assert process.wait() == 0
    os.close(ours)
    assert said.startswith(b"terminal: 1\nname?\nhello ann, 1\nhello bob, 2\n")
    check_replay(tmp_path, said)
