# SPDX-License-Identifier: Apache-2.0
"""Seconds and memory of the detectors, by shape and by size of the trace.

python -m benchmarks.detect [--operations N] [--largest N] [--write docs/benchmarks.md]
"""

from functools import partial

from benchmarks.measure import Figures, alone, arguments, machine, published, table, timed
from benchmarks.traces import SHAPES, Size

from eitherway.detect import DETECTORS, Detector
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace

SECONDS, MEBIBYTES = 15, 2048  # what 10^6 operations may take
NAMES = list(dict.fromkeys(detector.name for detector in DETECTORS))


def case(shape: str, size: Size) -> Figures:
    """All detectors of the trace's world, one after the other, each with its order."""
    trace = SHAPES[shape](size)
    figures: Figures = {"races": 0, "all": 0}
    for detector in DETECTORS:
        if trace.world in detector.worlds:
            seconds, races = timed(partial(_found, detector, trace))
            figures[detector.name] = figures.get(detector.name, 0) + seconds
            figures["all"] += seconds
            figures["races"] += len(races)
    return figures


def _found(detector: Detector, trace: Trace) -> list[Race]:
    return detector.find(Order.of(trace, detector.edges))


def row(name: str, figures: Figures) -> list[str]:
    """One line of a table; what is over the bar is bold."""
    seconds = [_bold(figures.get(name), SECONDS, ".1f") for name in NAMES]
    memory = _bold(figures["peak"], MEBIBYTES, ".0f")
    return [name, *seconds, f"{figures['all']:.1f}", memory, f"{figures['races']:,.0f}"]


def _bold(value: float | None, bar: float, how: str) -> str:
    if value is None:
        return "-"
    return f"**{value:{how}}**" if value > bar else f"{value:{how}}"


HEAD = ["", *NAMES, "all", "peak MiB", "races"]


def by_shape(operations: int) -> str:
    """Every shape at one size, and the hot object with many more actors."""
    size = Size(operations=operations, objects=operations // 10)
    rows = [row(shape, alone(case, shape, size)) for shape in SHAPES]
    crowd = Size(operations=operations, objects=1, actors=1_000)
    rows.append(row("hot, 1,000 actors", alone(case, "hot", crowd)))
    return table(["shape, seconds for each detector", *HEAD[1:]], rows)


def by_size(shape: str, largest: int) -> str:
    """One shape at growing sizes, with one object for every ten operations."""
    sizes = [10**power for power in range(4, 8) if 10**power <= largest]
    rows = [row(f"{n:,}", alone(case, shape, Size(operations=n, objects=n // 10))) for n in sizes]
    return table(["operations, seconds for each detector", *HEAD[1:]], rows)


def main() -> None:
    """Measures and tells."""
    parser = arguments("Seconds and memory of the detectors.")
    parser.add_argument("--operations", type=int, default=10**6, help="of each shape")
    parser.add_argument(
        "--largest", type=int, default=10**7, help="size up to which growth is shown"
    )
    chosen = parser.parse_args()
    published(f"{machine()}\n\n{by_shape(chosen.operations)}", "detect by shape", chosen.write)
    growth = "\n\n".join(
        f"Growth of `{shape}`:\n\n{by_size(shape, chosen.largest)}"
        for shape in ("locked", "meeting")
    )
    published(growth, "detect by size", chosen.write)


if __name__ == "__main__":
    main()
