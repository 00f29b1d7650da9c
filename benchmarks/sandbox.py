# SPDX-License-Identifier: Apache-2.0
"""What a sandbox costs: to start, to ask whether it is dirty, to reset, to bring a command into.

    python benchmarks/sandbox.py [REPETITIONS]

As root, all is measured once more as an ordinary user. Times are of the wall, medians; bare starts
of the same command are interleaved with those through a door.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.layers import What

REPETITIONS = 50
ORDINARY = 65534
COMMAND = ["/bin/true"]


def timed(work: Callable[[], object], repetitions: int) -> list[float]:
    """Microseconds of each."""
    found = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1e6)
    return found


def tell(what: str, found: list[float]) -> None:
    """One line."""
    median, least = statistics.median(found), min(found)
    print(f"  {what:<34} {median:9.0f} us   (least {least:.0f}, of {len(found)})")


def start_and_close() -> None:
    """A whole life."""
    with Sandbox():
        pass


def write_and_reset(box: Sandbox) -> list[float]:
    """The time of the reset alone, after something was written."""
    box.popen(["sh", "-c", "echo > /tmp/eitherway-benchmark"]).wait()
    return timed(box.reset, 1)


def measure(repetitions: int) -> None:
    """All figures for the user this process has."""
    os.chdir("/")
    with Sandbox() as box:
        layers = sum(layer.what in (What.UPPER, What.MIRROR) for layer in box.layers)
        print(f"uid {os.geteuid()}: {box.isolation}; {layers} layers")
        tell("start and close", timed(start_and_close, repetitions))
        tell("dirty?", timed(box.dirty, repetitions * 20))
        tell("reset of a clean one", timed(box.reset, repetitions))
        tell("reset after a write", [t for _ in range(repetitions) for t in write_and_reset(box)])
        bare, inside = [], []
        for _ in range(repetitions):
            bare += timed(lambda: subprocess.Popen(COMMAND).wait(), 1)
            inside += timed(lambda: box.popen(COMMAND).wait(), 1)
        tell("/bin/true, bare", bare)
        tell("/bin/true, through a door", inside)


def measure_as_ordinary_user(repetitions: int) -> None:
    """In a process of its own, for there is no way back."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(ORDINARY, ORDINARY, ORDINARY)
        os.setresuid(ORDINARY, ORDINARY, ORDINARY)
        measure(repetitions)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS
    measure(asked)
    if os.geteuid() == 0:
        measure_as_ordinary_user(asked)
