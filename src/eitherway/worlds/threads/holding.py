# SPDX-License-Identifier: Apache-2.0
"""Where the processes of a run find its memory: at whoever holds it open, by a path under /proc.

Descriptors that are inherited would be seen by the program, and closed by some of those that start
others. In a sandbox, which has processes of its own, somebody in there has to hold them.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox


@contextmanager
def held(descriptors: Mapping[str, int], box: Sandbox | None) -> Iterator[dict[str, str]]:
    """The same by paths, good for as long as this lasts."""
    if box is None:
        yield paths(descriptors, os.getpid())
        return
    numbers = list(descriptors.values())
    with box.popen(["cat"], stdin=subprocess.PIPE, pass_fds=numbers) as holder:
        yield paths(descriptors, _number_inside(box.process_of(holder)))


def paths(descriptors: Mapping[str, int], holder: int) -> dict[str, str]:
    """Of what a process has open."""
    return {name: f"/proc/{holder}/fd/{number}" for name, number in descriptors.items()}


def _number_inside(process: int) -> int:
    """A process has a number in each pid namespace that it is in, the innermost last."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise Unavailable(f"the sandbox holds no memory for a run: {error.strerror}") from error
    numbers = [line.split() for line in status.splitlines() if line.startswith("NSpid:")]
    return int(numbers[0][-1]) if numbers else process
