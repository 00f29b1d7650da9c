# SPDX-License-Identifier: Apache-2.0
"""Every call of the table is made, seen, and worked out."""

import re
from pathlib import Path

import pytest
from format import calls as calls_of_format
from tests.processes.harness import PROGRAMS, calls, compiled, ran

from eitherway.model.words import OpKind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.meaning import micros


@pytest.fixture
def log(box: Sandbox, work: Path) -> Log:
    program = compiled(PROGRAMS / "every_call.c", work / "every_call")
    done = ran(box, work, str(program))
    assert (done.log.ending.status, done.err.beginning) == (0, b"")
    return done.log


def test_every_call_of_the_table_is_seen(log: Log) -> None:
    made = {call.name for call in calls(log)}
    assert made == {shape.name for shape in CALLS.values()}


def test_every_call_of_this_machine_is_somewhere_in_the_table() -> None:
    """What is newer than the table is counted by its number."""
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.exists():
        pytest.skip("this machine has no list of its calls")
    found = re.findall(r"#define __NR_(\w+) (\d+)", header.read_text(encoding="ascii"))
    table = calls_of_format.read()
    modelled = {call.name: call.x86_64 for call in table.calls}
    known = {**modelled, **table.own, **table.not_modelled}
    assert {(name, int(number)) for name, number in found if int(number) <= table.last} <= set(
        known.items()
    )


def test_what_each_does_is_what_the_table_says(log: Log) -> None:
    """A call whose table says that it stores does, as soon as it works."""
    modes = log.objects["mode"].tolist()
    stores: dict[str, bool] = {}
    for call in calls(log):
        if call.worked and call.found:
            done = [micro.kind for micro in micros(call, lambda number: modes[number])]
            stores[call.name] = stores.get(call.name, False) or OpKind.STORE in done
    assert {name for name, found in stores.items() if not found} >= {"stat", "access", "readlink"}
    assert {name for name, found in stores.items() if found} >= {
        "mkdir", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
        "symlink", "symlinkat", "mknod", "mknodat", "chmod", "chown", "truncate", "creat", "execve",
    }  # fmt: skip
