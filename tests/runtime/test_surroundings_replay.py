# SPDX-License-Identifier: Apache-2.0
"""A replay tells what was told, whatever mask, limits and processors whoever replays it has."""

import os
import resource
from pathlib import Path

from tests.runtime.test_conformance import compile_program

from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "programs" / "surroundings.c"


def test_mask_limits_and_processors_are_told_again(tmp_path: Path) -> None:
    compile_program(PROGRAM, tmp_path / "program", controlled=True)
    launch = Launch.here([str(tmp_path / "program")])
    first = run(launch)
    assert first.status == 0, first.err.beginning
    files, mask = resource.getrlimit(resource.RLIMIT_NOFILE), os.umask(0o111)
    processors = os.sched_getaffinity(0)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files[0] - 1, files[1]))
        os.sched_setaffinity(0, list(processors)[:1])
        again = run(launch, replay=first)
    finally:
        os.umask(mask)
        resource.setrlimit(resource.RLIMIT_NOFILE, files)
        os.sched_setaffinity(0, processors)
    assert again.differences(first) == [], again.err.beginning
