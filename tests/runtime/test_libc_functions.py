# SPDX-License-Identifier: Apache-2.0
"""Every function of the C library is taken over, harmless for a reason, or reported when called."""

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.cc.link import parts
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "native" / "runtime" / "libc_functions.h").read_text(encoding="utf-8")
PAGE = ROOT / "docs" / "threads.md"
REPORTED = dict(re.findall(r'^REPORTED\((\w+), "([^"]+)"\)$', TABLE, re.MULTILINE))
HARMLESS = re.findall(r'^HARMLESS\("([^"]+)",\s+"([^"]+)"\)$', TABLE, re.MULTILINE)
LIBRARIES = (
    "libc.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libanl.so.1",
    "libresolv.so.2",
)


def taken_over() -> set[str]:
    return set(re.findall(r"^(\w+);", Path(parts().exported).read_text(), re.MULTILINE))


def functions_of(library: str) -> set[str]:
    """What a program linked today can call: default versions, and none that are libc's own."""
    command = ["gcc", f"-print-file-name={library}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r" [TWi] (\w+)@@(?!GLIBC_PRIVATE)", listed)
    return set(found)


def all_functions() -> set[str]:
    return set().union(*(functions_of(library) for library in LIBRARIES))


def is_harmless(name: str) -> bool:
    patterns = (pattern for names, _ in HARMLESS for pattern in names.split())
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def test_every_line_of_the_table_was_read() -> None:
    lines = [line for line in TABLE.splitlines() if re.match(r"(REPORTED|HARMLESS)\(", line)]
    assert len(lines) == len(REPORTED) + len(HARMLESS) > 100


def test_every_function_of_libc_is_in_one_of_the_classes() -> None:
    functions = all_functions()
    assert len(functions) > 2000  # or they were not found
    unknown = {name for name in functions - taken_over() if not is_harmless(name)}
    assert not unknown, "take them over, or write them into libc_functions.h with the reason"


def test_what_is_reported_is_taken_over_for_that() -> None:
    assert set(REPORTED) <= taken_over()


def test_nothing_is_both_reported_and_harmless() -> None:
    assert {name for name in REPORTED if is_harmless(name)} == set()


def listed() -> str:
    """The table for a reader: what is reported, by what is said of it."""
    by_what: dict[str, list[str]] = {}
    for name, what in REPORTED.items():
        if not name.startswith("_"):
            by_what.setdefault(what, []).append(f"`{name}`")
    return "\n".join(f"- {what}: {', '.join(names)}" for what, names in by_what.items())


def test_the_page_lists_what_is_reported() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r"<!-- begin: reported -->\n(.*?)\n<!-- end: reported -->", page, re.DOTALL)
    assert found, "docs/threads.md has lost its markers"
    assert found[1] == listed()


CALLS = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **arguments) {
    double loads[3];
    for (int i = 0; i < 3; i++)
        printf("%d\\n", getloadavg(loads, 3));
    for (int i = 0; count > 1 && i < 2; i++)
        printf("%ld\\n", syscall(atoi(arguments[1]), -1, 0, 0, 0, 0, 0));
    return 0;
}
"""


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported")
    (folder / "calls.c").write_text(CALLS)
    build(folder / "calls.c", folder / "calls")
    return folder / "calls"


def test_a_call_is_let_through_and_said_once(caller: Path) -> None:
    ran = run(Launch.here([str(caller)]))
    assert (ran.status, ran.out.beginning) == (0, b"3\n3\n3\n")
    said = ran.err.beginning.decode()
    assert said == f"eitherway: getloadavg: {REPORTED['getloadavg']}\n"


IO_URING_ENTER, UMASK = 426, 95


def test_a_system_call_that_is_not_known_is_said_too(caller: Path) -> None:
    ran = run(Launch.here([str(caller), str(IO_URING_ENTER)]))
    assert ran.out.beginning.endswith(b"-1\n-1\n")
    said = ran.err.beginning.decode().splitlines()[1:]
    assert said == [f"eitherway: syscall({IO_URING_ENTER}): this system call is not controlled"]


def test_a_harmless_system_call_is_let_through_in_silence(caller: Path) -> None:
    ran = run(Launch.here([str(caller), str(UMASK)]))
    assert ran.status == 0
    assert b"syscall" not in ran.err.beginning
