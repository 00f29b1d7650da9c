# SPDX-License-Identifier: Apache-2.0
"""How much processor time ids, merging, suppressing and reporting take for a list of findings.

    python benchmarks/findings.py [COUNT]

Each finding has two stacks of eight frames and two of three, with names as C++ programs have them;
one in three comes a second time, as from another run.
"""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

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


def timed(what: str, work: Callable[[], Result]) -> Result:
    """Do it and print what it took."""
    start = time.process_time()
    result = work()
    print(f"{what:<28} {time.process_time() - start:6.2f} s")
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


def main(count: int) -> None:
    """Measure each step once."""
    bare = [finding(number) for number in range(count)]
    start = time.process_time()
    every = timed("ids", lambda: list(map(identified, bare)))
    again = [replace(one, evidence="another run") for one in every[::3]]
    merged_list = timed("merge", lambda: merged([*every, *again]))
    sieved = timed("suppressions", lambda: sieve(merged_list, defaults()))
    known = timed("baseline, write and read", lambda: parse(written(sieved.kept), "baseline"))
    assert compare(sieved.kept, known).new == ()
    summary = summarized(sieved.kept, compare(sieved.kept, Baseline()))
    text, document = io.StringIO(), io.StringIO()
    timed("text report", lambda: report("text").write(sieved.kept, summary, text))
    timed("JSON report", lambda: report("json").write(sieved.kept, summary, document))
    print(f"{'together':<28} {time.process_time() - start:6.2f} s")
    written_document = document.getvalue()
    timed("reading the document again", lambda: read_document(written_document))
    size = len(written_document) / 1e6
    print(f"{len(merged_list)} findings; text {text.tell() / 1e6:.1f} MB, JSON {size:.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT)
