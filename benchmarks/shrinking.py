# SPDX-License-Identifier: Apache-2.0
"""How much shorter `explain` makes the schedules of failures, and how often one pair decides.

Of each program of the corpus the first schedule that fails is taken, of so many of the random walk,
with what the program does to fail: crashes, exit codes, deadlocks, hangs, misuse of memory.
"""

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.measure import Watch, arguments, progress, published, started, table
from tests.corpus.checked import build
from tests.corpus.expect import Truth, truths

from eitherway.errors import UsageError
from eitherway.find.explained import Explainer, switches
from eitherway.model.outcome import Ending, Outcome, signal_name
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran

SCHEDULES, SECONDS = 60, 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """One failure."""

    program: str
    failure: str
    before: int
    after: int
    runs: int
    pair: bool
    pairs: int  # that were tried
    seconds: float


def explained(truth: Truth) -> Row | None:
    """Nothing when no schedule of those that are tried fails."""
    with tempfile.TemporaryDirectory(prefix="eitherway-") as folder:
        program = Path(folder) / truth.name
        build(truth.source, program)
        launch = Launch.here([str(program)])
        with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=5)) as explorer:
            ran = failing(explorer)
            return None if ran is None else row(truth.name, explorer, ran)


def failing(explorer: Explorer) -> Ran | None:
    """The first schedule that fails."""
    for seed in range(SCHEDULES):
        ran = explorer.run(seed=seed, detect=True)
        outcome = outcome_of(ran)
        if outcome.ending is not Ending.BUDGET and outcome.fails:
            return ran
    return None


def row(name: str, explorer: Explorer, ran: Ran) -> Row:
    """What `explain` makes of it."""
    since = perf_counter()
    explainer = Explainer(explorer, fixed=True, tell=lambda _: None)
    short = explainer.shorten(ran, SECONDS)
    sought = explainer.cause(short, SECONDS)
    return Row(
        name,
        _failure(short.outcome),
        switches(ran.schedule),
        switches(short.ran.schedule),
        short.runs,
        sought.cause is not None,
        sought.pairs,
        perf_counter() - since,
    )


def _failure(outcome: Outcome) -> str:
    if outcome.complaints:
        return "memory"
    if outcome.ending is Ending.SIGNAL:
        return signal_name(outcome.code)
    return f"exit {outcome.code}" if outcome.ending is Ending.EXIT else outcome.ending.value


def summary(rows: Sequence[Row], programs: int) -> str:
    """All of them in words, then each."""
    if not rows:
        return f"None of {programs} programs failed in {SCHEDULES} schedules.\n"
    before, after = (
        statistics.median(getattr(one, n) for one in rows) for n in ("before", "after")
    )
    told = (
        f"{len(rows)} of {programs} programs failed in one of {SCHEDULES} schedules; the median of "
        f"switches went from {before:g} to {after:g}, in the sum from "
        f"{sum(one.before for one in rows):,} to {sum(one.after for one in rows):,}. One pair "
        f"decides in {sum(one.pair for one in rows)} of them.\n"
    )
    head = ["program", "failure", "switches", "after", "runs", "pair", "tried", "s"]
    cells = [
        [
            one.program,
            one.failure,
            str(one.before),
            str(one.after),
            str(one.runs),
            "yes" if one.pair else "-",
            str(one.pairs),
            f"{one.seconds:.1f}",
        ]
        for one in rows
    ]
    return f"{told}\n{table(head, cells)}"


def main() -> None:
    """Measure, and put the table into the page."""
    parser = arguments(__doc__ or "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: all")
    options = parser.parse_args()
    if not fix_addresses():
        raise UsageError("addresses cannot be fixed on this machine")
    every = {truth.name: truth for truth in truths()}
    if unknown := sorted(set(options.programs) - every.keys()):
        raise UsageError(f"there is no program {', '.join(unknown)} in tests/programs")
    watch, rows = Watch(), []
    for name in options.programs or every:
        progress(name)
        if (one := explained(every[name])) is not None:
            rows.append(one)
    count = len(options.programs or every)
    published(f"{watch.told()}\n\n{summary(rows, count)}", "shrinking", options.write)


if __name__ == "__main__":
    started(main)
