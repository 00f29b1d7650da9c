# SPDX-License-Identifier: Apache-2.0
"""A path from an open directory begins at that directory, whatever its number led to before."""

import errno
import sys
from pathlib import Path

import pytest
from tests.processes.harness import calls, ran

from eitherway.sandbox.box import Sandbox

# Each step says at which inode a path begins, and then opens "here" from there.
BEGINNING = """
import os
for name in "abc":
    os.mkdir(name)
def at(directory):
    print(os.fstat(directory).st_ino)
    try:
        os.close(os.open("here", os.O_WRONLY | os.O_CREAT, dir_fd=directory))
    except NotADirectoryError:
        pass
one = os.open("a", os.O_RDONLY)
at(one)
at(one)
"""
STEPS = {
    "copied over": 'os.dup2(os.open("b", os.O_RDONLY), one); at(one)',
    "closed and opened": 'os.close(one); assert os.open("b", os.O_RDONLY) == one; at(one)',
    "moved": 'os.rename("a", "d"); at(one); os.mkdir("a"); at(one)',
    "all closed": 'os.closerange(one, 64); assert os.open("c", os.O_RDONLY) == one; at(one)',
    "no directory": 'os.dup2(os.open("a/here", os.O_RDONLY), one); at(one)',
    "in a child": """
child = os.fork()
if child == 0:
    at(one)
    os.dup2(os.open("b", os.O_RDONLY), one)
    at(one)
else:
    os.waitpid(child, 0)
    at(one)
""",
    "by a thread": """
import threading
thread = threading.Thread(target=lambda: os.dup2(os.open("b", os.O_RDONLY), one))
thread.start(); thread.join(); at(one)
""",
}


@pytest.mark.parametrize("name", STEPS)
def test_where_a_path_begins(box: Sandbox, work: Path, name: str) -> None:
    done = ran(box, work, sys.executable, "-u", "-c", BEGINNING + STEPS[name], seed=None)
    assert done.log.ending.status == 0, done.err
    inodes = done.log.objects["inode"].tolist()
    opened = [
        call
        for call in calls(done.log, "openat")
        if [found.name for found in call.found] == ["here"]
    ]
    told = list(map(int, done.out.beginning.split()))
    assert [inodes[call.found[0].directory] for call in opened] == told
    results = [call.result == -errno.ENOTDIR for call in opened]
    assert results == [False, False, *[name == "no directory"] * (len(told) - 2)]
