# SPDX-License-Identifier: Apache-2.0
"""What a command leaves is found and ended, also when it has hidden behind a second fork."""

import os
import subprocess
import sys

from eitherway.sandbox.processes import (
    adopting,
    born,
    children,
    children_by_search,
    descendants,
    end_children,
    has_ended,
)

# The daemon's number, told once it has left its parent and its session.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        sys.stdin.read()
    os._exit(0)
os.wait()
"""


def test_children_are_found_without_the_kernels_list() -> None:
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert child.pid in children_by_search(os.getpid())
    assert sorted(children(os.getpid())) == sorted(children_by_search(os.getpid()))
    assert list(descendants(child.pid)) == [child.pid]
    assert born(child.pid) >= born(os.getpid()) > 0
    child.communicate()
    assert children(child.pid) == []
    assert born(child.pid) == 0


def test_a_daemon_is_found_and_ended() -> None:
    known = children(os.getpid())
    with adopting():
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        parent = subprocess.Popen([sys.executable, "-c", DAEMON], **pipes)  # type: ignore[call-overload]
        daemon = int(parent.stdout.readline())
        parent.wait()
        assert not has_ended(daemon)
        assert end_children(but=known) == 1
    assert has_ended(daemon)
    assert children(os.getpid()) == known
    parent.stdin.close()
    parent.stdout.close()


def test_without_strays_nothing_is_ended() -> None:
    with adopting():
        assert end_children(but=children(os.getpid())) == 0
