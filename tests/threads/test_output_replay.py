# SPDX-License-Identifier: Apache-2.0
"""Output into a pipe that fills up, and steps that are no decisions, replay to the bit."""

from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

# Far more than a pipe holds; masks are changed between accesses that the schedule may come between.
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int turns[4];
static void *writer(void *argument) {
    long me = (long)argument;
    sigset_t set, old;
    char line[4000];
    sigfillset(&set);
    memset(line, 'a' + (int)me, sizeof line);
    for (int i = 0; i < 100; i++) {
        pthread_sigmask(SIG_BLOCK, &set, &old);
        turns[me] += turns[(me + 1) % 4] + i;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
        if (write(1, line, sizeof line) != sizeof line)
            return argument;
    }
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, writer, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    fprintf(stderr, "%d %d %d %d\n", turns[0], turns[1], turns[2], turns[3]);
    return 0;
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_full_pipe_does_not_change_a_replay(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "writes.c"
    source.write_text(SOURCE, encoding="utf-8")
    build(source, tmp_path / "writes")
    launch = Launch.here([str(tmp_path / "writes")])
    first = run(launch, seed=seed)
    assert first.status == 0
    assert first.out.size == 4 * 100 * 4000
    for _ in range(3):
        assert run(launch, replay=first).differences(first) == []
