# SPDX-License-Identifier: Apache-2.0
"""What a schedule of a ten-line program costs under each policy while races are looked for."""

import resource
import statistics
from pathlib import Path

from benchmarks.measure import Watch, arguments, published, started, table
from benchmarks.sources import OURS, small_program

from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.policies import POLICIES, Turn
from eitherway.worlds.threads.server import Server

ROUNDS = 5
RUNS = 1000
WALK = "random-walk"


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cost(program: Path, threads: int, policy: str, seed: int) -> float:
    """Microseconds of CPU for one schedule, with the shared places known."""
    before = _cpu()
    with Server(Launch.here([str(program), str(threads)]), threads=threads) as server:
        places = server.survey(range(20), detect=True).shown.places
        shown = server.run(guidance=Guidance(places), detect=True).shown
        guidance = Turn(policy, range(0)).guidance(places, shown)
        server.survey(range(seed, seed + RUNS), policy, guidance=guidance, detect=True)
    return (_cpu() - before) / RUNS * 1e6


def rows(threads: int) -> list[list[str]]:
    """All policies in turn, round by round."""
    program = small_program("ten_lines", OURS)
    rounds = [
        {policy: cost(program, threads, policy, number * RUNS) for policy in POLICIES}
        for number in range(ROUNDS)
    ]
    return [
        [
            str(threads),
            policy,
            f"{statistics.median(costs[policy] for costs in rounds):.0f}",
            f"{statistics.median(costs[policy] / costs[WALK] for costs in rounds):.2f}",
        ]
        for policy in POLICIES
    ]


def main() -> None:
    """The table."""
    options = arguments(__doc__ or "").parse_args()
    watch = Watch()
    fix_addresses()
    head = ["threads", "policy", "us of CPU a schedule", "of random-walk's"]
    body = [row for threads in (2, 10) for row in rows(threads)]
    published(f"{watch.told()}\n\n{table(head, body)}", "policies", options.write)


if __name__ == "__main__":
    started(main)
