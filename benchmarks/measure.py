# SPDX-License-Identifier: Apache-2.0
"""Runs one case in a process of its own, and puts tables into documents.

A case says itself what it took the time for; the peak of memory is that of its whole process, with
Python and NumPy (about 35 MB) in it.
"""

import argparse
import multiprocessing
import os
import platform
import re
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from eitherway.errors import Problem

MIB = 1 << 20

Result = TypeVar("Result")
Figures = dict[str, float]


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of processor time, and what came out."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def alone(case: Callable[..., Figures], *arguments: object) -> Figures:
    """The figures of a case, with its `peak` in MiB."""
    context = multiprocessing.get_context("spawn")  # a fork would begin with what we have
    with context.Pool(1) as pool:
        return pool.apply(_with_peak, (case, arguments))


def _with_peak(case: Callable[..., Figures], arguments: tuple[object, ...]) -> Figures:
    figures = case(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    return {**figures, "peak": peak}


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; numbers to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    lines = ("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
    return "\n".join(lines)


def machine() -> str:
    """What the figures were measured on."""
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="ascii"))
    name = model[1] if model else platform.machine()
    return f"One core of {name}, Linux {platform.release()}, Python {platform.python_version()}."


class Watch:
    """How busy the machine was with other things since this was made."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._others = _busy() - _own()

    def told(self) -> str:
        """What the figures were measured on, and beside what."""
        processors = os.cpu_count() or 1
        seconds = (time.monotonic() - self._start) * processors
        share = max(_busy() - _own() - self._others, 0) / seconds
        return (
            f"{machine()} It has {processors} processors; "
            f"other processes took {share:.0%} of their time meanwhile."
        )


def _busy() -> float:
    """Seconds that all processors worked, or were taken from this machine by its host."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    user, nice, system, _idle, _waiting, interrupt, soft, stolen, *_ = map(int, first.split()[1:])
    return (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")


def _own() -> float:
    """Seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def arguments(description: str | None, rounds: int | None = None) -> argparse.ArgumentParser:
    """The options all benchmarks have; and how often, for those that do it in rounds."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", metavar="FILE", type=Path, help="put the tables into this file")
    if rounds is not None:
        told = f"of each (default: {rounds})"
        parser.add_argument("--rounds", type=int, default=rounds, metavar="N", help=told)
    return parser


def published(text: str, name: str, file: Path | None) -> None:
    """Prints the text, or puts it between the marks `begin: name` and `end: name` of the file."""
    print(text, flush=True)
    if file is None:
        return
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    head, found, rest = file.read_text(encoding="utf-8").partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{file} has no marks '{begin}' and '{end}' to put the figures between")
    file.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def progress(words: str) -> None:
    """What is being done, for whoever waits."""
    print(f"... {words}", file=sys.stderr, flush=True)


def started(main: Callable[[], None]) -> None:
    """Run a benchmark; what this machine cannot do is said, and ends it with its exit code."""
    try:
        main()
    except Problem as problem:
        fix = f"; {problem.fix}" if problem.fix else ""
        print(f"{problem.message}{fix}", file=sys.stderr)
        raise SystemExit(problem.exit_code) from problem
