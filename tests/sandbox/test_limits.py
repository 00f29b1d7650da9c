# SPDX-License-Identifier: Apache-2.0
"""Limits hold for what runs inside, and the machine outside does not feel it."""

import signal

import pytest
from tests.sandbox.harness import Place


def test_a_fork_bomb_is_contained(place: Place) -> None:
    ran = place.run([place.vandal, "multiply", "5000"], "--require", "all", "--processes", "50")
    if ran.status == 69 and place.user == 0:
        assert "Linux 6.14" in ran.errors
        pytest.skip("root's processes cannot be counted by this kernel")
    count, answer = ran.output.splitlines()
    assert answer == "multiply EAGAIN"
    assert 30 <= int(count.split()[1]) <= 350


def test_processes_that_end_make_room(place: Place) -> None:
    script = "i=0; while [ $i -lt 1000 ]; do /bin/true || exit 1; i=$((i+1)); done; echo done"
    ran = place.run(["sh", "-c", script], "--processes", "50")
    if ran.status == 69 and place.user == 0:
        pytest.skip("root's processes cannot be counted by this kernel")
    assert (ran.output, ran.errors) == ("done\n", "")


def test_a_disk_that_is_full(place: Place) -> None:
    options = ("--disk", str(4 << 20))
    assert place.act("fill", place.work / "big", str(64 << 20), options=options) == "ENOSPC"
    assert place.act("fill", place.work / "big", str(1 << 20), options=options) == "ok"


def test_a_file_that_is_too_large(place: Place) -> None:
    ran = place.run(
        [place.vandal, "fill", place.work / "big", str(4 << 20)], "--file-size", "100000"
    )
    assert ran.status == -signal.SIGXFSZ


def test_memory(place: Place) -> None:
    options = ("--memory", str(64 << 20))
    assert place.act("allocate", str(1 << 30), options=options) == "ENOMEM"
    assert place.act("allocate", str(1 << 20), options=options) == "ok"
    options = ("--address-space", str(256 << 20))
    assert place.act("allocate", str(1 << 30), options=options) == "ENOMEM"


def test_processor_time(place: Place) -> None:
    ran = place.run([place.vandal, "spin"], "--cpu", "1")
    assert ran.status == -signal.SIGXCPU
