# SPDX-License-Identifier: Apache-2.0
"""Scripts of two and three threads: all their schedules are run, as an enumeration has them.

And a policy that promises the same chance to each order keeps it among more than two threads.
"""

from collections import Counter
from itertools import permutations

import pytest
from tests.threads.conftest import Program
from tests.threads.scripts import Scripts
from tests.threads.test_sampling import CRITICAL, chi_square, outcomes, served

from eitherway.worlds.threads.exhaustive import SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.places import NOWHERE
from eitherway.worlds.threads.run import Ran

SCRIPTS = {
    "three threads": "c1c2a0j1j2/a0/a0",
    "a thread of a thread": "c1j1/c2a0j2/a0",
    "a lock": "c1l0u0j1/l0u0",
    "a semaphore": "c1w0a0j1/a0p0",
    "a barrier": "c1b0a0j1/a0b0",
    "a wake-up that may be lost": "c1l0v0u0j1/l0u0s0",
    "two locks in either order": "c1l0l1u1u0j1/l1l0u0u1",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_all_schedules_are_run_and_each_once(program: Program, script: str) -> None:
    expected = Counter[str]()  # by what is printed: nothing when there is a deadlock
    for text, count in Scripts(script).schedules.items():
        expected["" if text.endswith("!") else f"{text}\n"] += count
    printed, schedules = Counter[str](), set[bytes]()
    with served(program("scripted"), script) as server:

        def run(guidance: Guidance) -> Ran:
            return server.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

        for item in growing(Search(run, lambda _: NOWHERE), range(64)):
            if isinstance(item, Pass):
                done = item
                continue
            printed[item.out.beginning.decode()] += 1
            schedules.add(item.schedule.switches.tobytes())
    assert done.words() == f"all {expected.total():,} schedules were run"
    assert printed == expected
    assert len(schedules) == expected.total()


@pytest.mark.parametrize("counts", [(1, 1, 1), (2, 1, 1), (1, 2, 1)])
def test_surw_is_uniform_over_the_orders_of_three_threads(
    program: Program, counts: tuple[int, int, int]
) -> None:
    work = ["a0" * count for count in counts]
    texts = {f"{''.join(p)}\n" for p in permutations("".join(map(str.__mul__, "ABC", counts)))}
    with served(program("scripted"), f"c1c2{work[0]}j1j2/{work[1]}/{work[2]}") as server:
        guidance = Guidance(expected=server.run().shown.threads, tuning={"interesting": 2})
        seen = outcomes(server, texts, range(3000), "surw", guidance)
    assert chi_square(seen, dict.fromkeys(texts, 1 / len(texts))) < CRITICAL[len(texts) - 1]
