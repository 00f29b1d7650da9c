# SPDX-License-Identifier: Apache-2.0
"""Bytes and seconds of a trace and its order: 10^7 operations of 1,000 actors, 10^6 edges.

python -m benchmarks.model [--largest N] [--write docs/benchmarks.md]
"""

from benchmarks.measure import MIB, Figures, alone, arguments, machine, published, table, timed
from benchmarks.traces import SHAPES, Size

from eitherway.model import order as ordering
from eitherway.model import trace as tracing
from eitherway.model.order import Order

ACTORS = 1_000


def case(operations: int) -> Figures:
    """A trace with an edge at every tenth operation, its order, and one sweep over all clocks."""
    size = Size(operations=operations, actors=ACTORS, objects=operations // 10)
    checking, trace = timed(lambda: SHAPES["meeting"](size))
    making, order = timed(lambda: Order.of(trace))
    sweeping, segments = timed(lambda: sum(1 for _ in order.sweep()))
    columns = (order.segment, order.actor, order.number, order.first)
    return {
        "trace": trace.operations.nbytes / MIB,
        "order": sum(column.nbytes for column in columns) / MIB,
        "segments": segments,
        "check": checking,
        "of": making,
        "sweep": sweeping,
    }


def main() -> None:
    """Measures and tells."""
    parser = arguments("Bytes and seconds of a trace and its order.")
    parser.add_argument("--largest", type=int, default=10**7, help="how many operations")
    chosen = parser.parse_args()
    sizes = [10**power for power in range(5, 8) if 10**power <= chosen.largest]
    rows = [_row(size, alone(case, size)) for size in sizes]
    head = [
        "operations",
        "trace MiB",
        "order MiB",
        "segments",
        "Order.of s",
        "sweep s",
        "peak MiB",
    ]
    each = tracing.BYTES_PER_OPERATION + ordering.BYTES_PER_OPERATION
    text = (
        f"An operation takes {tracing.BYTES_PER_OPERATION} bytes in the trace and "
        f"{ordering.BYTES_PER_OPERATION} more in its order: {each * 10**7 / MIB:.0f} MiB for 10^7."
    )
    published(f"{machine()}\n\n{text}\n\n{table(head, rows)}", "model", chosen.write)


def _row(size: int, figures: Figures) -> list[str]:
    return [
        f"{size:,}",
        f"{figures['trace']:.0f}",
        f"{figures['order']:.0f}",
        f"{figures['segments']:,.0f}",
        f"{figures['of']:.1f}",
        f"{figures['sweep']:.1f}",
        f"{figures['peak']:.0f}",
    ]


if __name__ == "__main__":
    main()
