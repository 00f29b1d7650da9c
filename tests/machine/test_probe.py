# SPDX-License-Identifier: Apache-2.0
"""eitherway-probe: one line whatever happens, and nothing left behind."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.machine.harness import ask, build_probe

from eitherway.machine.definitions import DEFINITIONS
from eitherway.machine.native import parse

NATIVE = [definition.name for definition in DEFINITIONS if definition.probe is None]
LINE = re.compile(r"(yes|partly|unknown) \S.*|no (-|E[A-Z0-9]+|SIGSYS) \S.*")

# Stand-ins for three probes, put in their place by the linker.
BAD_PROBES = """
// SPDX-License-Identifier: Apache-2.0
#include "probe.h"
#include <signal.h>
#include <unistd.h>
probe __wrap_probe_memfd, __wrap_probe_thp, __wrap_probe_pidfd;
struct answer __wrap_probe_memfd(void) {
    for (int i = 0; i < 3; i++)
        fork();
    if (fork() == 0)
        setsid();
    for (;;)
        pause();
}
struct answer __wrap_probe_thp(void) {
    if (fork() == 0)
        for (;;)
            pause();
    raise(SIGSEGV);
    return yes("not reached");
}
struct answer __wrap_probe_pidfd(void) {
    _exit(3);
}
"""


def processes_of(program: Path) -> list[str]:
    """Processes that run this file, seen from outside."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "exe").startswith(str(program)):
                found.append(entry.name)
        except OSError:
            continue  # ended, or of another user
    return found


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sanitized")
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    return build_probe(folder / "eitherway-probe", *flags)


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misbehaving")
    source = folder / "bad.c"
    source.write_text(BAD_PROBES)
    wraps = (f"-Wl,--wrap=probe_{name}" for name in ("memfd", "thp", "pidfd"))
    header = Path(__file__).parent.parent.parent / "native" / "probe"
    return build_probe(folder / "eitherway-probe", f"-I{header}", *wraps, sources=(source,))


def test_the_probe_and_the_table_have_the_same_names(probe: Path) -> None:
    listed = subprocess.run([str(probe), "--list"], capture_output=True, text=True, check=True)
    assert sorted(listed.stdout.split()) == sorted(NATIVE)


@pytest.mark.parametrize("name", NATIVE)
def test_each_probe_answers_in_one_line(probe: Path, name: str) -> None:
    line = ask(probe, name)
    assert LINE.fullmatch(line), line
    assert not line.startswith("unknown"), line
    assert processes_of(probe) == []


@pytest.mark.parametrize("name", NATIVE)
def test_sanitizers_find_nothing(probe: Path, sanitized: Path, name: str) -> None:
    # A complaint of theirs is on stderr, or ends the probe's child: "unknown".
    assert parse(ask(sanitized, name)).state == parse(ask(probe, name)).state


def test_the_probe_moves_in_memory_unless_told_not_to(probe: Path) -> None:
    """Were it not position-independent, equal addresses would prove nothing."""
    header = probe.read_bytes()[:18]
    assert int.from_bytes(header[16:18], "little") == 3  # ET_DYN


def test_a_probe_that_hangs_is_ended_with_all_it_started(misbehaving: Path) -> None:
    assert ask(misbehaving, "memfd") == "unknown no answer within 2 s"
    assert processes_of(misbehaving) == []


def test_a_probe_that_crashes_is_told_from_a_refusal(misbehaving: Path) -> None:
    assert ask(misbehaving, "thp") == "unknown the probe died of signal 11 (Segmentation fault)"
    assert ask(misbehaving, "pidfd") == "unknown the probe ended with status 3"
    assert processes_of(misbehaving) == []


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["ptrace", "memfd"], [""]])
def test_a_wrong_command_line_is_a_usage_error(probe: Path, arguments: list[str]) -> None:
    ran = subprocess.run([str(probe), *arguments], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (64, "")
    assert ran.stderr


def test_an_inherited_ignore_of_sigchld_changes_nothing(probe: Path) -> None:
    shell = ["sh", "-c", 'trap "" CHLD; exec "$0" ptrace', str(probe)]
    ran = subprocess.run(shell, capture_output=True, text=True, check=True, timeout=300)
    assert ran.stdout.rstrip("\n") == ask(probe, "ptrace")
