# SPDX-License-Identifier: Apache-2.0
"""A search of all schedules shows exactly what programs can do, enumerated apart from it.

Random programs of two threads on shared variables, plain, atomic and under a lock; what each of
their loads sees is their outcome. The model goes through all interleavings of single accesses: it
knows neither decision points nor places, so it holds against what is left out because of them.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from eitherway.find.confirm import Tracer
from eitherway.find.sides import racing_places
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.exhaustive import SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran

SEEDS = range(6)


@dataclass(frozen=True)
class Step:
    """One access, or a use of the lock, with the C that does it."""

    what: str
    variable: int
    text: str


def load(variable: int) -> list[Step]:
    return [Step("load", variable, f"see(v{variable});")]


def store(variable: int) -> list[Step]:
    return [Step("store", variable, f"v{variable} = 7;")]


def increment(variable: int) -> list[Step]:
    """The sum is told too: it is what the load saw."""
    return [
        Step("load", variable, f"{{ int was = v{variable}; v{variable} = was + 1; see(was); }}"),
        Step("sum", variable, ""),
    ]


def fetch(variable: int) -> list[Step]:
    return [Step("fetch", variable, f"see(atomic_fetch_add(&a{variable}, 1));")]


def locked(variable: int) -> list[Step]:
    enter = Step("lock", 0, "pthread_mutex_lock(&lock);")
    leave = Step("unlock", 0, "pthread_mutex_unlock(&lock);")
    return [enter, *increment(variable), leave]


Program = tuple[tuple[Step, ...], tuple[Step, ...]]


def program_of(seed: int) -> Program:
    chance = random.Random(seed)  # noqa: S311  not for secrets

    def thread() -> tuple[Step, ...]:
        steps: list[Step] = []
        while len(steps) < 4:
            steps += chance.choice([load, store, increment, fetch, locked])(chance.randrange(2))
        return tuple(steps)

    return thread(), thread()


def source(program: Program) -> str:
    bodies = "\n".join(
        f"static void work{number}(void) {{\n    int who = {number};\n    (void)who;\n    "
        + "\n    ".join(step.text for step in steps if step.text)
        + "\n}"
        for number, steps in enumerate(program)
    )
    return f"""#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
static volatile int v0, v1;
static atomic_int a0, a1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seen[2][16], count[2];
#define see(value) (seen[who][count[who]++] = (value))
{bodies}
static void *other(void *unused) {{
    work1();
    return unused;
}}
int main(void) {{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    work0();
    pthread_join(thread, NULL);
    for (int who = 0; who < 2; who++)
        for (int i = 0; i < count[who]; i++)
            printf("%d:%d ", who, seen[who][i]);
    printf("%d %d %d %d", v0, v1, a0, a1);
}}
"""


def outcomes(program: Program) -> frozenset[str]:
    """By going through all interleavings."""

    @cache
    def go(
        at: tuple[int, int],
        memory: tuple[int, ...],
        owner: int,
        seen: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> frozenset[str]:
        found: set[str] = set()
        for who in (0, 1):
            if at[who] == len(program[who]):
                continue
            step = program[who][at[who]]
            if step.what == "lock" and owner >= 0:
                continue
            now, saw, holds = list(memory), seen[who], owner
            if step.what in ("load", "fetch"):
                place = step.variable + 2 * (step.what == "fetch")
                saw = (*saw, memory[place])
                now[place] += step.what == "fetch"
            elif step.what in ("store", "sum"):
                now[step.variable] = 7 if step.what == "store" else saw[-1] + 1
            else:
                holds = who if step.what == "lock" else -1
            after = (at[0] + (who == 0), at[1] + (who == 1))
            found |= go(after, tuple(now), holds, (saw, seen[1]) if who == 0 else (seen[0], saw))
        if at == (len(program[0]), len(program[1])):
            told = [f"{who}:{value} " for who in (0, 1) for value in seen[who]]
            found.add("".join(told) + " ".join(map(str, memory)))
        return frozenset(found)

    return go((0, 0), (0, 0, 0, 0), -1, ((), ()))


Built = Callable[[int], str]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("outcomes")

    def one(seed: int) -> str:
        text = folder / f"{seed}.c"
        text.write_text(source(program_of(seed)))
        build(text, folder / str(seed))
        return str(folder / str(seed))

    return one


def searched(program: str) -> tuple[set[str], Pass]:
    seen: set[str] = set()
    with Sandbox(require=()) as box, Explorer(Launch.here([program]), box) as explorer:
        tracer = Tracer(explorer, fixed=False)

        def run(guidance: Guidance) -> Ran:
            return explorer.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

        for item in growing(Search(run, lambda ran: racing_places(tracer, ran)), range(64)):
            if isinstance(item, Pass):
                done = item
            else:
                seen.add(item.out.beginning.decode())
    return seen, done


@pytest.mark.parametrize("seed", SEEDS)
def test_all_schedules_show_all_outcomes_and_no_others(built: Built, seed: int) -> None:
    seen, done = searched(built(seed))
    assert done.complete
    assert not done.others
    assert seen == outcomes(program_of(seed))


def test_the_programs_are_worth_it() -> None:
    counts = [len(outcomes(program_of(seed))) for seed in SEEDS]
    assert sum(counts) > 20
