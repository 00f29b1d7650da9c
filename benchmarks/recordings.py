# SPDX-License-Identifier: Apache-2.0
"""How fast a large trace is written into a recording and read again."""

import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.measure import arguments, machine, published, table
from benchmarks.traces import Size, meeting

from eitherway.model.words import World
from eitherway.recording.manifest import Manifest
from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace, write_trace

OPERATIONS = 10_000_000
ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    """By the wall clock, because the disk is part of it."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def checksum(path: Path) -> None:
    """The bound: the bytes of the file and their CRC."""
    with path.open("rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            zlib.crc32(part)


def read(path: Path) -> None:
    """The whole trace."""
    with Recording.open(path) as recording:
        read_trace(recording)


def main() -> None:
    """Median of several rounds of each."""
    options = arguments(__doc__ or "").parse_args()
    trace = meeting(Size(OPERATIONS))
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        manifest = Manifest(World.THREADS, "benchmark")
        steps: dict[str, Callable[[int], object]] = {
            "write, on the disk": lambda n: write_trace(folder / str(n), trace, manifest),
            "read": lambda n: read(folder / str(n)),
            "the file and its CRC alone": lambda n: checksum(folder / str(n) / "trace.blocks"),
        }
        for what, step in steps.items():
            taken = statistics.median(seconds(partial(step, n)) for n in range(ROUNDS))
            size = (folder / "0" / "trace.blocks").stat().st_size / 1e6
            rows.append([what, f"{taken:.2f}", f"{size / taken:.0f}"])
    told = f"{machine()}\n\n{len(trace):,} operations, {size:.0f} MB.\n\n"
    published(told + table(["step", "s", "MB/s"], rows), "recordings", options.write)


if __name__ == "__main__":
    main()
