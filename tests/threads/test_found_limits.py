# SPDX-License-Identifier: Apache-2.0
"""What a program does very often neither ends the looking for races nor fills the memory."""

import os
import subprocess

from tests.threads.conftest import Program

BARE = {name: value for name, value in os.environ.items() if name != "EITHERWAY_OPTIONS"}


def resident_after(program: Program, what: str, times: int) -> int:
    """Kilobytes, when it has done that so often; its race is found all the same."""
    command = [program("found_limits"), what, str(times)]
    ran = subprocess.run(command, capture_output=True, text=True, env=BARE, check=False)
    assert ran.returncode == 66
    assert "data race" in ran.stderr
    return int(ran.stdout)


def test_more_threads_than_segments_can_be_handed_out_to(program: Program) -> None:
    """Each new thread has a block of 64 segments, of which there are 2^20: then all begins anew."""
    resident_after(program, "threads", (1 << 20) + 10)


def test_what_was_known_of_memory_goes_when_it_is_unmapped(program: Program) -> None:
    few, many = (resident_after(program, "mappings", times) for times in (2, 10))
    assert many - few < 8 << 10  # one mapping of 4 MiB that stayed would be 32 MiB
