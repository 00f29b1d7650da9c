# SPDX-License-Identifier: Apache-2.0
"""How fast a large trace is written and read: `python -m tests.recording.speed`."""

import argparse
import os
import tempfile
import time
import zlib
from dataclasses import replace
from pathlib import Path

from tests.recording import samples
from tests.recording.whole import check

from eitherway.recording.read import Recording
from eitherway.recording.trace import read_trace, write_trace


def main() -> None:
    """One line per step, in MB of recording per second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    trace = samples.random_trace(1, parser.parse_args().operations)
    trace = replace(trace, values=trace.operations["range"].astype("<u8"))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "r"
        began = time.monotonic()
        write_trace(path, trace, samples.MANIFEST)
        _tell("write, with fsync", began, path)
        for _ in range(3):
            began = time.monotonic()
            with Recording.open(path) as recording:
                read_trace(recording)
            _tell("read_trace", began, path)
        began = time.monotonic()
        for block in _blocks(path):
            zlib.crc32(block)
        _tell("read the file and its CRC alone", began, path)
        began = time.monotonic()
        check(path)
        _tell("check (reads it three times)", began, path)


def _blocks(path: Path) -> list[bytes]:
    with (path / "trace.blocks").open("rb") as file:
        return list(iter(lambda: file.read(1 << 20), b""))


def _tell(what: str, began: float, path: Path) -> None:
    seconds = time.monotonic() - began
    size = os.path.getsize(path / "trace.blocks") / 1e6
    print(f"{what:34} {seconds:6.2f} s  {size / seconds:6.0f} MB/s  ({size:.0f} MB)")


if __name__ == "__main__":
    main()
