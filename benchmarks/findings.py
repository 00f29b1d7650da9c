# SPDX-License-Identifier: Apache-2.0
"""How much processor time ids, merging, suppressing and reporting take for a list of findings.

Each finding has two stacks of eight frames and two of three, with names as C++ programs have them;
one in three comes a second time, as from another run.
"""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from benchmarks.measure import arguments, machine, published, table, timed

from eitherway.findings.baseline import Baseline, compare, parse, written
from eitherway.findings.merge import merged
from eitherway.findings.summary import summarized
from eitherway.findings.suppressions import defaults, sieve
from eitherway.model.document import read_document
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.identity import identified
from eitherway.model.words import Class, Kind, World
from eitherway.report import report

COUNT = 5000
FUNCTIONS = 4000  # distinct ones, as a large program has on its racing stacks

Result = TypeVar("Result")


class Steps:
    """What each step took, in seconds of processor time."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []

    def timed(self, what: str, work: Callable[[], Result]) -> Result:
        """Do it and note what it took."""
        seconds, result = timed(work)
        self.rows.append([what, f"{seconds:.2f}"])
        return result


def frame(number: int) -> Frame:
    """One of `FUNCTIONS` places."""
    scope = f"shop::Shelf<std::vector<int, std::allocator<int> >, {number % 7}>"
    return Frame(
        function=f"void {scope}::put_{number % FUNCTIONS}<int>(std::function<void (int)> const&)",
        file=f"/home/ann/shop/src/file_{number % 97}.cpp",
        line=number % 900 + 1,
        column=7,
        module="/home/ann/shop/build/shop",
        offset=0x1000 + number,
    )


def operation(number: int) -> FoundOperation:
    """One side."""
    return FoundOperation(
        actor=f"thread T{number % 16} 'worker'",
        op="write of size 4",
        object="global",
        variable=f"shop::(anonymous namespace)::counter_{number % 3000}",
        stack=tuple(frame(number * 31 + depth * 17) for depth in range(8)),
        locks=("mutex 'till'",),
        created=tuple(frame(depth) for depth in range(3)),
    )


def finding(number: int) -> Finding:
    """A race of two functions."""
    return Finding(
        World.THREADS,
        Kind.DATA_RACE,
        (operation(number), operation(number + 7)),
        klass=list(Class)[number % len(Class)],
        explanation=("Let A be one thing.", "Let B be another.", "However, they do not meet."),
    )


def main() -> None:
    """Measure each step once."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--count", type=int, default=COUNT, help=f"findings (default: {COUNT})")
    options = parser.parse_args()
    steps = Steps()
    bare = [finding(number) for number in range(options.count)]
    every = steps.timed("ids", lambda: list(map(identified, bare)))
    again = [replace(one, evidence="another run") for one in every[::3]]
    merged_list = steps.timed("merge", lambda: merged([*every, *again]))
    sieved = steps.timed("suppressions", lambda: sieve(merged_list, defaults()))
    known = steps.timed("baseline, write and read", lambda: parse(written(sieved.kept), "baseline"))
    assert compare(sieved.kept, known).new == ()
    summary = summarized(sieved.kept, compare(sieved.kept, Baseline()))
    text, document = io.StringIO(), io.StringIO()
    steps.timed("text report", lambda: report("text").write(sieved.kept, summary, text))
    steps.timed("JSON report", lambda: report("json").write(sieved.kept, summary, document))
    steps.timed("reading the JSON again", lambda: read_document(document.getvalue()))
    sizes = f"text {text.tell() / 1e6:.1f} MB, JSON {document.tell() / 1e6:.1f} MB"
    told = f"{machine()}\n\n{len(merged_list):,} findings; {sizes}.\n\n"
    published(told + table(["step", "s"], steps.rows), "findings", options.write)


if __name__ == "__main__":
    main()
