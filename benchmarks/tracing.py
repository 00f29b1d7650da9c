# SPDX-License-Identifier: Apache-2.0
"""What a trace costs: time against a replay without one, bytes, and memory to read it.

One run of a hash table with a mutex for every 16 buckets is recorded, and replayed at each depth.
Seconds are processor time, that of writing the file among it.
"""

import os
import tempfile
from pathlib import Path

from benchmarks.measure import (
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

from eitherway.recording.read import Recording
from eitherway.symbols.variables import variables_of
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.events import Names, parts
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.recorded import Recorded
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.trace_hash import trace_hash
from eitherway.worlds.threads.traced import Depth, TraceRequest, Where, trace_into

PROGRAM = Path(__file__).parent / "programs" / "hashtable.c"
OPERATIONS = 100_000  # of the program, for each of its four threads
LARGE = 2_600_000  # about 10^8 operations of the trace
ROUNDS = 3


def spent() -> float:
    """CPU seconds of children that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def recorded(program: Path, operations: int) -> Recorded:
    """A run to be traced."""
    launch = Launch.here([str(program), str(operations)])
    return Recorded(launch, run(launch, seed=1))


def replayed(subject: Recorded) -> float:
    """CPU seconds of a replay without a trace: the best of some."""
    times = []
    for _ in range(ROUNDS):
        before = spent()
        run(subject.launch, replay=subject.ran)
        times.append(spent() - before)
    return min(times)


def traced(subject: Recorded, request: TraceRequest) -> Figures:
    """CPU seconds, operations and bytes."""
    with tempfile.TemporaryDirectory(prefix="eitherway-bench-") as name:
        path = Path(name)
        before = spent()
        trace_into(path, subject, request)
        seconds = spent() - before
        return {"seconds": seconds, "operations": counted(path), "bytes": size_of(path)}


def counted(path: Path) -> int:
    """Operations of a trace."""
    with Recording.open(path) as recording:
        return sum(len(part.events) for part in parts(recording, Names.read(recording)))


def size_of(path: Path) -> int:
    """Bytes of a trace."""
    return sum(file.stat().st_size for file in path.iterdir())


def best(subject: Recorded, request: TraceRequest) -> Figures:
    """The fastest of some."""
    return min((traced(subject, request) for _ in range(ROUNDS)), key=lambda f: f["seconds"])


def requests(program: Path, steps: int) -> dict[str, TraceRequest]:
    """What is asked, by how a person asks for it."""
    (count,) = [v for v in variables_of(str(program)).variables if v.name == "operations"]
    where = Where(count.start, count.start + count.size, relative=True)
    middle = steps // 2
    return {
        "`--depth sync`": TraceRequest(Depth.SYNC),
        "`--depth accesses --callers 0`": TraceRequest(frames=0),
        "`--depth accesses`": TraceRequest(),
        "`--depth values`": TraceRequest(Depth.VALUES),
        "`--at operations`": TraceRequest(where=where),
        "`--steps` a thousandth": TraceRequest(start=middle, stop=middle + steps // 1000),
    }


def costs(program: Path) -> str:
    """Each request, against a replay without a trace."""
    subject = recorded(program, OPERATIONS)
    bare = replayed(subject)
    rows = []
    for name, request in requests(program, subject.ran.schedule.steps).items():
        progress(name)
        figures = best(subject, request)
        each = (figures["seconds"] - bare) / figures["operations"] * 1e9
        few = figures["operations"] < subject.ran.schedule.steps // 100
        rows.append(
            [
                name,
                f"{figures['operations']:,.0f}",
                f"{figures['seconds']:.2f}",
                f"{figures['seconds'] / bare:.1f}",
                "-" if few else f"{each:.0f}",
                f"{figures['bytes'] / figures['operations']:.1f}",
            ]
        )
    head = ["asked", "operations", "s", "of a replay", "ns an operation", "bytes an operation"]
    said = f"{subject.ran.schedule.steps:,} steps; a replay without a trace takes {bare:.2f} s."
    return f"{said}\n\n{table(head, rows)}"


def read_hash(path: str) -> Figures:
    """Seconds of the hash."""
    return {"seconds": timed(lambda: trace_hash(path))[0]}


def trace_once(path: str, program: str, rounds: int) -> Figures:
    """Seconds that it takes; in a process of its own, for a long schedule fills ours."""
    subject = recorded(Path(program), rounds)
    before = spent()
    trace_into(Path(path), subject)
    return {"seconds": spent() - before}


def reading(program: Path) -> str:
    """How long reading takes, and how much memory, for two lengths."""
    rows = []
    for rounds in (OPERATIONS, LARGE):
        progress(f"reading a trace of {rounds:,} rounds")
        with tempfile.TemporaryDirectory(prefix="eitherway-bench-") as name:
            made = alone(trace_once, name, str(program), rounds)
            figures = alone(read_hash, name)
            size = size_of(Path(name))
            rows.append(
                [
                    f"{counted(Path(name)):,}",
                    f"{size / 1e9:.2f}",
                    f"{made['seconds']:.1f}",
                    f"{figures['seconds']:.1f}",
                    f"{figures['peak']:.0f}",
                ]
            )
    return table(["operations", "GB", "traced s", "hash s", "hash MiB"], rows)


def main() -> None:
    """Measure, and publish."""
    options = arguments(__doc__ or "")
    options.add_argument(
        "--small", action="store_true", help="without the trace of 10^8 operations"
    )
    asked = options.parse_args()
    fix_addresses()
    watch = Watch()
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "hashtable"
        build(PROGRAM, program)
        cost = costs(program)
        length = "" if asked.small else "\n\n" + reading(program)
        published(f"{watch.told()}\n\n{cost}{length}", "tracing", asked.write)


if __name__ == "__main__":
    started(main)
