# SPDX-License-Identifier: Apache-2.0
"""What looking for races costs a program that clang compiled, with hooks in place of their calls.

Each program is built by the same clang at the same level: bare, by `eitherway cc` with clang's
integrated assembler, which leaves every hook a call, by `eitherway cc` as it is, and with
-fsanitize=thread. They run in turn as in `detecting`.
"""

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.detecting import DETECTING, Rounds, Tool, compared, processor, ratio
from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.sources import FLAGS, OURS, Kit, need
from benchmarks.subjects.all import chosen
from benchmarks.subjects.subject import Size, Subject

COMPUTING = ("pbzip2", "xz", "array", "hashtable", "tree", "read_mostly")
_CLANG = ("env", "EITHERWAY_CC=clang", "EITHERWAY_CXX=clang++")
_QUIET = ("env", "TSAN_OPTIONS=report_bugs=0")
_SANITIZED = Kit("clang-libtsan", ("clang", "-fsanitize=thread"), ("clang++", "-fsanitize=thread"))
TOOLS = {
    "bare": Tool(Kit("clang", ("clang",), ("clang++",))),
    "calls": Tool(
        Kit(
            "clang-calls",
            (*_CLANG, *OURS.cc),
            (*_CLANG, *OURS.cxx),
            (*FLAGS, "-fintegrated-as"),
        ),
        DETECTING,
    ),
    "ours": Tool(Kit("clang-ours", (*_CLANG, *OURS.cc), (*_CLANG, *OURS.cxx)), DETECTING),
    "libtsan": Tool(_SANITIZED, before=_QUIET),
}
HEAD = ["program", "bare: cpu s", "with calls", "in place", "clang's libtsan"]
HEAD += ["above bare, of that with calls", "of libtsan's"]


def above(found: Rounds, other: str) -> float:
    """Of another tool's cost above bare, ours."""
    rounds = zip(found["bare"], found["ours"], found[other], strict=True)
    return statistics.median(
        (ours.processor - bare.processor) / (theirs.processor - bare.processor)
        for bare, ours, theirs in rounds
    )


def row(subject: Subject, found: Rounds) -> list[str]:
    """Processor time."""
    bare = found["bare"]
    return [
        subject.name,
        f"{statistics.median(map(processor, bare)):.2f}",
        *(f"{ratio(found[name], bare, processor):.1f}" for name in ("calls", "ours", "libtsan")),
        f"{above(found, 'calls'):.2f}",
        f"{above(found, 'libtsan'):.2f}",
    ]


def published_table(subjects: Sequence[Subject], rounds: int, file: Path | None) -> None:
    """A row a program."""
    watch = Watch()
    rows = []
    for subject in subjects:
        rows.append(row(subject, compared(subject, TOOLS, Size.SECOND, rounds)))
        progress(str(rows[-1]))
    published(f"{watch.told()}\n\n{table(HEAD, rows)}", "clang hooks", file)


def main() -> None:
    """The table."""
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("programs", nargs="*", help="only these")
    options = parser.parse_args()
    need("clang", "clang libclang-rt-dev")
    published_table(chosen(options.programs or COMPUTING), options.rounds, options.write)


if __name__ == "__main__":
    started(main)
