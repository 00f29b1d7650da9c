# SPDX-License-Identifier: Apache-2.0
"""How long it takes to find the races among the system calls of a long recorded run.

Two shells beside each other pack files and unpack them in one directory, recorded as they come. The
recording is then read, turned into micro-operations, ordered and looked through. The bar: 10^6
calls in two minutes of the processor and 4 GiB, all steps together.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import (
    MIB,
    Figures,
    Watch,
    alone,
    arguments,
    progress,
    published,
    started,
    table,
    timed,
)
from benchmarks.running import workplace
from benchmarks.workloads import archive

from eitherway.detect import detect_all
from eitherway.installed import native
from eitherway.recording.read import Recording
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.run import TRACER
from eitherway.worlds.processes.traced import traced

CALLS = (100_000, 1_000_000)
BAR_SECONDS, BAR_MIB, BAR_CALLS = 120.0, 4096.0, 1_000_000
A_TURN = 80_000  # calls that both shells make together in one turn, about
HEAD = ["calls", "processes", "micro-operations", "races", "read s", "trace s", "detect s"]
HEAD += ["all s", "peak MiB", "file MiB"]


def recorded(place: Path, calls: int, into: Path) -> None:
    """A run of at least about so many calls."""
    work = archive(place).folder
    turns = max(1, round(calls / A_TURN))
    pack = f"tar cf $d.tar -C {place} files; tar xf $d.tar"  # both unpack into one directory
    shell = f"(for i in $(seq {turns}); do {pack}; done)"
    script = f"d=a; {shell} & d=b; {shell} & wait"
    work.mkdir()
    descriptor = os.open(into, os.O_RDONLY)
    words = [str(native(TRACER)), "--into", str(descriptor), "--", "/bin/sh", "-c", script]
    try:
        subprocess.run(
            words, cwd=work, pass_fds=[descriptor], check=True, stderr=subprocess.DEVNULL
        )
    finally:
        os.close(descriptor)


def looked_through(folder: str, directory: str) -> Figures:
    """Every step in turn."""
    path = Path(folder)
    with Recording.open(path) as recording:
        reading, log = timed(lambda: Log.read(recording))
    making, found = timed(lambda: traced(log, directory))
    detecting, races = timed(lambda: detect_all(found.trace))
    return {
        "calls": len(log.calls),
        "processes": sum(life.is_process for life in found.tree.lives.values()),
        "operations": len(found.trace),
        "races": len(races),
        "read": reading,
        "trace": making,
        "detect": detecting,
        "size": sum(file.stat().st_size for file in path.iterdir()) / MIB,
    }


def row(calls: int) -> list[str]:
    """One length."""
    progress(f"{calls:,} calls")
    with workplace() as place, tempfile.TemporaryDirectory(prefix="eitherway-") as into:
        recorded(place, calls, Path(into))
        found = alone(looked_through, into, str(place / "work"))
    whole = found["read"] + found["trace"] + found["detect"]
    cells = [f"{found[name]:,.0f}" for name in ("calls", "processes", "operations", "races")]
    cells += [f"{found[name]:.1f}" for name in ("read", "trace", "detect")]
    over = found["calls"] <= 2 * BAR_CALLS and whole > BAR_SECONDS
    cells.append(f"**{whole:.1f}**" if over else f"{whole:.1f}")
    cells.append(f"**{found['peak']:.0f}**" if found["peak"] > BAR_MIB else f"{found['peak']:.0f}")
    return [*cells, f"{found['size']:.0f}"]


def main() -> None:
    """The table."""
    parser = arguments(__doc__ or "")
    parser.add_argument("calls", nargs="*", type=int, help="about so many (default: 10^5, 10^6)")
    options = parser.parse_args()
    watch = Watch()
    rows = [row(calls) for calls in options.calls or CALLS]
    published(f"{watch.told()}\n\n{table(HEAD, rows)}", "tree detection", options.write)


if __name__ == "__main__":
    started(main)
