# SPDX-License-Identifier: Apache-2.0
"""What a program is started with: standard input, and signals as whoever started us has them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build

Done = subprocess.CompletedProcess[str]

SOURCE = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int was_ignored(int number) {
    return signal(number, SIG_DFL) == SIG_IGN;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    unsigned word = 0;
    ssize_t size = 0;
    if (strcmp(what, "crash") == 0)
        abort();
    if (strcmp(what, "signals") == 0)
        printf("%d %d\\n", was_ignored(SIGCHLD), was_ignored(SIGUSR1));
    if (strcmp(what, "read") == 0)
        size = read(0, &word, 4);
    if (strcmp(what, "read") == 0)
        printf("%zd %08x\\n", size, word);
    if (strcmp(what, "end") == 0)
        printf("%lld\\n", (long long)lseek(0, 0, SEEK_END));
    return 0;
}
"""


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("asking")
    (folder / "asking.c").write_text(SOURCE, encoding="utf-8")
    build(folder / "asking.c", folder / "asking")
    return str(folder / "asking")


def eitherway(folder: Path, script: str, *words: str, ignored: tuple[int, ...] = ()) -> Done:
    """A line of sh, in which "$@" is the tool with these words; without one, no sh is between."""
    shell = ["sh", "-c", script, "sh"] if script else []

    def ignore() -> None:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    return subprocess.run(
        [*shell, sys.executable, "-m", "eitherway", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=ignore,
    )


# --- signals


def test_a_crash_is_one_also_where_the_ends_of_children_are_ignored(
    asking: str, tmp_path: Path
) -> None:
    words = ("record", "--verify", "--", asking, "crash")
    done = eitherway(tmp_path, "", *words, ignored=(signal.SIGCHLD,))
    assert done.returncode == 128 + signal.SIGABRT, done.stderr
    assert "killed by signal 6" in done.stderr


def test_signals_that_were_ignored_are_ignored_again(asking: str, tmp_path: Path) -> None:
    words = ("record", "--", asking, "signals")
    done = eitherway(tmp_path, "", *words, ignored=(signal.SIGCHLD, signal.SIGUSR1))
    assert done.stdout == "1 1\n"
    again = eitherway(tmp_path, "", "replay")
    assert (again.returncode, again.stdout) == (0, "1 1\n"), again.stderr
    plain = eitherway(tmp_path, "", *words)
    assert plain.stdout == "0 0\n"


# --- standard input


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
@pytest.mark.parametrize("what", ["nothing", "read"])
def test_a_device_is_read_as_the_program_reads_it(
    asking: str, device: str, what: str, tmp_path: Path
) -> None:
    done = eitherway(tmp_path, f'"$@" <{device}', "record", "--", asking, what)
    assert done.returncode == 0, done.stderr
    again = eitherway(tmp_path, '"$@"', "replay")
    assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr


def token_of(done: Done) -> str:
    return next(line.split()[-1] for line in done.stderr.splitlines() if "token:" in line)


@pytest.mark.parametrize("script", ['"$@" </dev/zero', 'mkfifo it; exec 3<>it; "$@" <it'])
def test_a_token_does_not_wait_for_the_end_of_input(
    asking: str, script: str, tmp_path: Path
) -> None:
    token = token_of(eitherway(tmp_path, '"$@"', "record", "--", asking))
    done = eitherway(tmp_path, script, "replay", token, "--", asking)
    assert done.returncode == 0, done.stderr


def test_a_device_is_no_input_for_many_runs(asking: str, tmp_path: Path) -> None:
    done = eitherway(tmp_path, '"$@" </dev/zero', "check", "--", asking)
    assert (done.returncode, "a device has no end" in done.stderr) == (64, True), done.stderr


def test_a_large_file_stays_where_it_is(asking: str, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.write(b"skipped behold")
        os.truncate(file.fileno(), 20 << 30)
    script = '{ dd bs=8 count=1 of=/dev/null 2>/dev/null; "$@"; } <large'
    done = eitherway(tmp_path, script, "record", "--verify", "--", asking, "read")
    assert (done.returncode, done.stdout) == (0, f"4 {int.from_bytes(b'beho', 'little'):08x}\n"), (
        done.stderr
    )
    assert eitherway(tmp_path, '"$@" <large', "record", "--", asking, "end").stdout == (
        f"{20 << 30}\n"
    )
    large.unlink()
    gone = eitherway(tmp_path, '"$@"', "replay")
    assert (gone.returncode, f"standard input was {large}" in gone.stderr) == (65, True)
