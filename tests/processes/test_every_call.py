# SPDX-License-Identifier: Apache-2.0
"""Every call of the table is made, seen, and worked out."""

from pathlib import Path

import pytest
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
