# SPDX-License-Identifier: Apache-2.0
"""What one flip of two system calls takes: replayed, gone live, looked at, cleaned up.

The script loses an update when one of two shells reads a counter before the other has written it.
More and more other commands before that show the growth with what is replayed. Milliseconds of the
wall, medians; the bar is 50 for a script of about 300 calls.
"""

import os
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Watch, arguments, progress, published, started, table

from eitherway.detect import detect_all
from eitherway.model.outcome import Forced
from eitherway.model.words import Arm
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.isolation import Kind
from eitherway.worlds.processes.branch import Branches, Spec
from eitherway.worlds.processes.cut import Cuts, Pair
from eitherway.worlds.processes.run import run
from eitherway.worlds.processes.traced import Traced, traced
from eitherway.worlds.threads.launch import Launch

BAR = 50.0  # ms
BEFORE = (0, 4, 16, 64, 256)  # commands that come first
COUNT = "n=$(cat count); echo $((n + 1)) > count"
HEAD = ["calls", "replayed before the two", "flip ms", "lowest", "highest", "us a replayed call"]


@dataclass(frozen=True, slots=True)
class Flip:
    """One script."""

    calls: int
    replayed: int
    times: list[float]  # ms

    def row(self) -> list[str]:
        """Of the table."""
        middle = statistics.median(self.times)
        shown = f"{middle:.1f}"
        return [
            f"{self.calls:,}",
            f"{self.replayed:,}",
            f"**{shown}**" if middle > BAR and self.calls <= 400 else shown,
            f"{min(self.times):.1f}",
            f"{max(self.times):.1f}",
            f"{middle / self.replayed * 1000:.0f}",
        ]


def _pair(found: Traced) -> Pair:
    """The two that lose the update: one shell's write to the counter, the other's read of it."""
    cuts = Cuts(found)
    for race in detect_all(found.trace):
        anchors = cuts.anchors(race)
        about = [found.describe(number) for number in race.operations]
        if not isinstance(anchors, Pair) or any(
            not each.variable.endswith("/count") for each in about
        ):
            continue
        if (found.name(anchors.first), found.name(anchors.second)) == ("write", "read"):
            return anchors
    raise SystemExit("no read of the counter comes after a write of the other shell")


def measured(before: int, rounds: int) -> Flip:
    """One length of what comes first."""
    script = f"for i in $(seq {before}); do cat count > seen; done; " if before else ""
    script += f"({COUNT}) & ({COUNT}) & wait; cat count"
    with tempfile.TemporaryDirectory(prefix="eitherway-") as name:
        work = Path(name)
        (work / "count").write_text("0\n", encoding="ascii")
        launch = Launch(("/bin/sh", "-c", script), name, {"PATH": os.environ["PATH"]})
        with Sandbox(require=[Kind.FILES, Kind.PROCESSES], work=[name]) as box:
            with tempfile.TemporaryDirectory(prefix="eitherway-") as into:
                found = traced(run(launch, box, Path(into), seed=0).log, name)
            pair = _pair(found)
            replayed = len(Cuts(found).turns(pair, Arm.FLIP).calls)
            with Branches(launch, found) as branches:
                times = [_timed(branches, pair, box) for _ in range(rounds)]
    return Flip(len(found.log.calls), replayed, times)


def _timed(branches: Branches, pair: Pair, box: Sandbox) -> float:
    start = time.perf_counter()
    outcome = branches.branch(Spec(pair, Arm.FLIP, 1), box)
    took = (time.perf_counter() - start) * 1000
    lost = all(text.endswith("'1\\n'") for name, text in outcome.output.items() if "count" in name)
    if outcome.forced is not Forced.AS_ASKED or not lost:
        raise SystemExit(f"the flip did not lose the update: {outcome}")
    return took


def main() -> None:
    """The table."""
    options = arguments(__doc__, rounds=21).parse_args()
    watch = Watch()
    rows = []
    for before in BEFORE:
        progress(f"a flip behind {before} commands")
        rows.append(measured(before, options.rounds).row())
    published(f"{watch.told()}\n\n{table(HEAD, rows)}", "flips", options.write)


if __name__ == "__main__":
    started(main)
