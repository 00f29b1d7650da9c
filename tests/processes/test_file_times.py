# SPDX-License-Identifier: Apache-2.0
"""In a branch the time is the recorded one: so must be the times of the files that it makes."""

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.processes.harness import LIMITS, calls, launch, ran

from eitherway.find.trees import TreeSearch
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.plan import Plans, Turns
from eitherway.worlds.processes.run import Follow, run

ASKS = """\
import os, time
open("one", "w").close()
first, one = time.time_ns(), os.stat("one").st_mtime_ns
open("two", "w").close()
print(first, one, os.lstat("two").st_mtime_ns, time.time_ns())
"""
COMMAND = [sys.executable, "-c", ASKS]
REAL = 0
DAY = 86400 * 10**9  # nanoseconds
MAKE = """\
printf 'all: a b\\na b: c\\n\\tcp c $@\\nc:\\n\\techo c > c\\n' > Makefile
make -j2 -s
"""


def told_again(box: Sandbox, work: Path, log: Log, turns: int) -> list[int]:
    """What is told by a run that follows so many calls of a log."""
    return [int(word) for word in told_by(COMMAND, box, work, log, turns).split()]


def told_by(command: list[str], box: Sandbox, work: Path, log: Log, turns: int) -> bytes:
    """The same of any command."""
    box.reset()
    follow = Follow(Plans(log), Turns(range(turns)))
    with TemporaryDirectory(dir="/dev/shm") as into:
        done = run(launch(work, *command), box, Path(into), seed=0, follow=follow, limits=LIMITS)
    assert done.log.ending.began == log.ending.began
    return bytes(done.out.beginning)


def test_no_file_comes_from_the_future(box: Sandbox, work: Path) -> None:
    recorded = ran(box, work, *COMMAND)
    first, _, _, last = map(int, recorded.out.beginning.split())
    told = told_again(box, work, recorded.log, len(recorded.log.calls))
    assert (told[0], told[3]) == (first, last)
    assert told[1] <= told[0]
    assert told[1] <= told[2] <= told[3]


def test_time_goes_on_from_what_was_followed(box: Sandbox, work: Path) -> None:
    """Of a run of yesterday, whose clock was not asked yet."""
    log = ran(box, work, *COMMAND).log
    began = log.ending.began - DAY
    log = replace(log, ending=replace(log.ending, began=began))
    asked = [call.number for call in calls(log, "clock_gettime") if call.arguments[0] == REAL]
    told = told_again(box, work, log, asked[0])
    first, one, two, last = told
    assert began <= one <= first
    assert one <= two <= last
    assert last - began < DAY // 2


def test_a_file_has_the_same_time_in_each_branch(box: Sandbox, work: Path) -> None:
    """To the nanosecond: what notes it, as the index of git does, would differ by itself."""
    script = ["sh", "-c", "echo a > f; stat --format %.9Z f"]
    log = ran(box, work, *script).log
    last = calls(log, "statx")[-1].number
    told = {told_by(script, box, work, log, last) for _ in range(5)}
    assert len(told) == 1, told


@pytest.mark.usefixtures("box")
def test_make_finds_no_clock_skew_in_what_the_run_made(work: Path) -> None:
    (work / "run.sh").write_text(MAKE)
    with TreeSearch(launch(work, "sh", "run.sh"), Store(work / "store"), jobs=1) as search:
        found = search.check(600.0, lambda _: None)
    assert found.findings == {}
