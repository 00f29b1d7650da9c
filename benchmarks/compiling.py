# SPDX-License-Identifier: Apache-2.0
"""How much longer a call of `eitherway cc` takes than the compiler behind it.

Bare and wrapped calls alternate; what is told is the median of each and of the difference, in
milliseconds, wall clock and processor time of the call with all its children. The bare link links
the same runtime by hand. Bytecode is cached as in an installed package.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import arguments, machine, published, table

from eitherway.worlds.threads.build import COMPILE, link_flags

PROGRAM = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
TOOL = str(Path(sys.executable).with_name("eitherway"))


def one(words: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Wall clock and processor time of one call."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall * 1000, spent * 1000


def pair(
    what: str, words: list[str], by_hand: list[str], rounds: int, pyc: str
) -> Iterator[list[str]]:
    """Measure one call both ways; `by_hand` is what the bare one needs besides."""
    compiler, *rest = words
    environment = {**os.environ, "EITHERWAY_CC": compiler, "PYTHONPYCACHEPREFIX": pyc}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    one([TOOL, "cc", *rest], environment)  # fills the cache
    both = [
        (one([compiler, *by_hand, *rest], environment), one([TOOL, "cc", *rest], environment))
        for _ in range(rounds)
    ]
    for unit, kind in enumerate(("wall", "processor")):
        bare = statistics.median(bare[unit] for bare, _ in both)
        more = statistics.median(ours[unit] - bare[unit] for bare, ours in both)
        yield [f"{what}, {kind}", f"{bare:.0f}", f"{more:+.0f}"]


def rows(rounds: int) -> Iterator[list[str]]:
    """All calls, for each compiler of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("a.c").write_text(PROGRAM, encoding="utf-8")
        for compiler in filter(shutil.which, ("gcc", "clang")):
            compile_only = [compiler, "-O1", "-c", "a.c", "-o", "a.o"]
            link = [compiler, "a.o", "-o", "a"]
            yield from pair(f"{compiler} -c", compile_only, [*COMPILE], rounds, f"{folder}/pyc")
            yield from pair(f"{compiler} link", link, link_flags(), rounds, f"{folder}/pyc")


def main() -> None:
    """The table."""
    options = arguments(__doc__, rounds=15).parse_args()
    file = options.write and options.write.resolve()
    head = ["call", "bare ms", "eitherway cc ms"]
    published(f"{machine()}\n\n{table(head, list(rows(options.rounds)))}", "compiling", file)


if __name__ == "__main__":
    main()
