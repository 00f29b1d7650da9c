# SPDX-License-Identifier: Apache-2.0
"""What looking for races costs a program while it runs, beside gcc's libtsan and Helgrind.

Each program is built by the same compiler at the same level: bare, by `eitherway cc`, and with
-fsanitize=thread. The three run in turn; ours under the random walk with races looked for, each
round with another seed, libtsan with its reports left out. What counts is the cost above bare as a
share of libtsan's: the median of the rounds, as is every other figure. Helgrind takes the bare
build of a smaller input.
"""

import shutil
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table
from benchmarks.running import Spent, spent, workplace
from benchmarks.sources import BARE, LIBTSAN, OURS, Kit
from benchmarks.subjects.all import chosen
from benchmarks.subjects.subject import Size, Subject

DETECTING = "scheduler=random-walk:seed={}:detect=1"  # of the round
COST_BAR, MEMORY_BAR = 0.5, 0.65


@dataclass(frozen=True, slots=True)
class Tool:
    """A way to run a program."""

    kit: Kit
    options: str = ""
    before: tuple[str, ...] = ()


TOOLS = {
    "bare": Tool(BARE),
    "ours": Tool(OURS, DETECTING),
    "libtsan": Tool(LIBTSAN, before=("env", "TSAN_OPTIONS=report_bugs=0")),
}
HELGRIND = Tool(BARE, before=("valgrind", "--tool=helgrind", "-q", "--log-file=/dev/null"))

COST_HEAD = ["program", "bare: cpu s", "ours", "libtsan", "Helgrind", "above bare, of libtsan's"]
REST_HEAD = ["program", "bare: wall s", "ours", "libtsan"]
REST_HEAD += ["bare: MiB", "ours", "libtsan", "of libtsan's"]

Rounds = dict[str, list[Spent]]


def compared(subject: Subject, tools: dict[str, Tool], size: Size, rounds: int) -> Rounds:
    """Every tool once per round, in turn."""
    found: Rounds = {name: [] for name in tools}
    with workplace() as folder:
        jobs = {
            name: subject.job(subject.build(tool.kit), size, folder / "work")
            for name, tool in tools.items()
        }
        for number in range(rounds):
            progress(f"{subject.name}, round {number + 1} of {rounds}")
            for name, tool in tools.items():
                found[name].append(spent(jobs[name], tool.options.format(number), tool.before))
    return found


# --- figures


def processor(run: Spent) -> float:
    """Seconds."""
    return run.processor


def wall(run: Spent) -> float:
    """Seconds."""
    return run.wall


def resident(run: Spent) -> float:
    """MiB."""
    return run.resident / 1024


Unit = Callable[[Spent], float]


def median(runs: Sequence[Spent], unit: Unit) -> float:
    """Of the rounds."""
    return statistics.median(map(unit, runs))


def ratio(runs: Sequence[Spent], bare: Sequence[Spent], unit: Unit) -> float:
    """The median of the rounds' ratios."""
    pairs = zip(runs, bare, strict=True)
    return statistics.median(unit(mine) / unit(theirs) for mine, theirs in pairs)


def share(found: Rounds) -> float:
    """Of libtsan's cost above bare, ours."""
    rounds = zip(found["bare"], found["ours"], found["libtsan"], strict=True)
    return statistics.median(
        (ours.processor - bare.processor) / (libtsan.processor - bare.processor)
        for bare, ours, libtsan in rounds
    )


def held(figure: float, bar: float) -> str:
    """Bold when it is over the bar."""
    return f"**{figure:.2f}**" if figure > bar else f"{figure:.2f}"


# --- rows


def helgrind_cell(subject: Subject) -> str:
    """Once, of a smaller input; nothing where it is not installed, or cannot."""
    if shutil.which("valgrind") is None:
        return "-"
    try:
        found = compared(subject, {"bare": TOOLS["bare"], "Helgrind": HELGRIND}, Size.PART, 1)
    except subprocess.CalledProcessError as problem:
        progress(f"{subject.name} under Helgrind: {problem}")
        return "-"
    return f"{ratio(found['Helgrind'], found['bare'], processor):.0f}"


def cost_row(subject: Subject, found: Rounds) -> list[str]:
    """Processor time."""
    bare = found["bare"]
    cells = [f"{ratio(found[name], bare, processor):.1f}" for name in ("ours", "libtsan")]
    return [
        subject.name,
        f"{median(bare, processor):.2f}",
        *cells,
        helgrind_cell(subject),
        held(share(found), COST_BAR),
    ]


def rest_row(subject: Subject, found: Rounds) -> list[str]:
    """Wall and memory."""
    bare, ours, libtsan = found.values()
    return [
        subject.name,
        f"{median(bare, wall):.2f}",
        *(f"{ratio(runs, bare, wall):.1f}" for runs in (ours, libtsan)),
        *(f"{median(runs, resident):.0f}" for runs in found.values()),
        held(ratio(ours, libtsan, resident), MEMORY_BAR),
    ]


def published_tables(subjects: Sequence[Subject], rounds: int, file: Path | None) -> None:
    """Both of them."""
    watch = Watch()
    cost, rest = [], []
    for subject in subjects:
        found = compared(subject, TOOLS, Size.SECOND, rounds)
        cost.append(cost_row(subject, found))
        rest.append(rest_row(subject, found))
        progress(f"{cost[-1]} {rest[-1]}")
    text = f"{watch.told()}\n\n{table(COST_HEAD, cost)}\n\n{table(REST_HEAD, rest)}"
    published(text, "detection cost", file)


def main() -> None:
    """The tables."""
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("programs", nargs="*", help="only these")
    options = parser.parse_args()
    published_tables(chosen(options.programs), options.rounds, options.write)


if __name__ == "__main__":
    started(main)
