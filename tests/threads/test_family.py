# SPDX-License-Identifier: Apache-2.0
"""Every process of a run that carries our runtime has its own schedule, and gets it back."""

import signal
from pathlib import Path

import pytest

from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.family import Member, State
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, load, save
from eitherway.worlds.threads.run import Ran, run

# With a number, a test: three threads race for a balance, and when most was lost it crashes.
# Without one, it starts the test in five ways.
TESTS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int balance;
static void *deposit(void *amount) {
    for (int i = 0; i < 3; i++) {
        int seen = balance;
        balance = seen + (int)(long)amount;
    }
    return NULL;
}
static int test(int number) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, deposit, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("test %d: %d, %d of %d\n", number, balance, getpid(), getppid());
    fflush(stdout);
    if (balance < 7)
        *(volatile int *)0 = 1;
    return balance != 18;
}
static void tell(pid_t child) {
    int status;
    pid_t got = waitpid(child, &status, 0);
    printf("%d ended with %d\n", got, status);
}
int main(int count, char **words) {
    if (count > 1)
        return test(atoi(words[1]));
    char *third[] = {words[0], "3", NULL}, line[999];
    pid_t child;
    if ((child = fork()) == 0)
        _exit(test(0));
    tell(child);
    if ((child = fork()) == 0)
        execl(words[0], words[0], "1", NULL);
    tell(child);
    if ((child = vfork()) == 0) {
        execl(words[0], words[0], "2", NULL);
        _exit(127);
    }
    tell(child);
    posix_spawn(&child, words[0], NULL, NULL, third, environ);
    tell(child);
    snprintf(line, sizeof line, "%s 4", words[0]);
    printf("the shell ended with %d\n", system(line));
    return 0;
}
"""

SUITE = """#!/bin/sh
echo begin
for number in 1 2 3; do ./tests $number || echo "test $number failed"; done
./tests 4 | grep -c test
./tests 5 > log; cat log; rm log
./tests 6 & ./tests 7 & wait
env A=b ./tests
echo end
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("family")
    (folder / "tests.c").write_text(TESTS, encoding="utf-8")
    build(folder / "tests.c", folder / "tests")
    (folder / "suite.sh").write_text(SUITE, encoding="utf-8")
    (folder / "suite.sh").chmod(0o755)
    return folder


@pytest.fixture
def driver(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Launch:
    monkeypatch.chdir(folder)
    return Launch.here(["./tests"])  # seeds come of the words too: the same in every folder


@pytest.fixture
def suite(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Launch:
    monkeypatch.chdir(folder)
    return Launch.here(["./suite.sh"])


def crashed(ran: Ran) -> list[Member]:
    return [m for m in ran.members if m.state == State.ENDED and m.status == signal.SIGSEGV]


@pytest.mark.parametrize("seed", range(10))
def test_a_driver_that_starts_tests_in_five_ways(driver: Launch, seed: int) -> None:
    first = run(driver, seed=seed)
    assert first.status == 0
    # two of the five become the program after a fork
    assert [m.state for m in first.members].count(State.BECAME) == 2
    assert sorted(m.program[2:] for m in first.members if m.program) == [
        (),
        *((str(number),) for number in range(1, 5)),
    ]
    assert all(len(m.schedule.switches) for m in first.members if m.state == State.ENDED)
    for _ in range(2):
        assert run(driver, replay=first).differences(first) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_suite_that_a_shell_runs(suite: Launch, seed: int) -> None:
    first = run(suite, seed=seed)
    assert first.out.beginning.startswith(b"begin\n")
    assert first.out.beginning.endswith(b"end\n")
    assert len(first.members) == 7 + 8
    assert run(suite, replay=first).differences(first) == []


def test_the_same_seed_gives_every_test_the_same_schedule(driver: Launch) -> None:
    runs = [run(driver, seed=4) for _ in range(3)]
    # the first waits for the others, and how long it did is part of its schedule
    hashes = {tuple(m.schedule.hash for m in ran.members[1:]) for ran in runs}
    assert len(hashes) == 1
    others = {m.schedule.hash for m in runs[0].members if m.program[2:]}
    assert len(others) == 4  # all of them run the same code


def test_a_child_that_crashes_under_some_seeds_crashes_again_every_time(
    driver: Launch, tmp_path: Path
) -> None:
    runs = [run(driver, seed=seed) for seed in range(160)]
    crashing = [ran for ran in runs if crashed(ran)]
    assert 0 < len(crashing) < len(runs)
    with Recording.open(save(Recorded(driver, crashing[0]), Store(tmp_path))) as recording:
        again = load(recording)
    assert again.ran.differences(crashing[0]) == []
    for _ in range(20):
        ran = run(again.launch, replay=again.ran)
        assert ran.differences(crashing[0]) == []
        assert crashed(ran)
