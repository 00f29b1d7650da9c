# SPDX-License-Identifier: Apache-2.0
"""A replay tells a program the process numbers and the ends of children that were recorded."""

from pathlib import Path

import pytest

from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

# Children write nothing: they run on their own, so what they write comes when it comes.
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void *parent(void *number) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit((int)(long)number);
    pid_t ended = waitpid(child, &status, 0);
    printf("%d %d %d\n", child, ended == child, WEXITSTATUS(status));
    return NULL;
}
int main(void) {
    pthread_t threads[3];
    int status;
    printf("%d %d %d\n", getpid(), getppid(), kill(getpid(), 0));
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, parent, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(1);
    }
    kill(child, SIGTERM);
    printf("%d ", wait(&status) == child);
    printf("%d\n", WTERMSIG(status));
    return 0;
}
"""


@pytest.mark.parametrize("seed", range(5))
def test_numbers_and_ends_of_children_are_told_again(seed: int, tmp_path: Path) -> None:
    source = tmp_path / "forks.c"
    source.write_text(SOURCE, encoding="utf-8")
    build(source, tmp_path / "forks")
    launch = Launch.here([str(tmp_path / "forks")])
    first = run(launch, seed=seed)
    assert first.status == 0
    assert first.out.beginning.endswith(b"1 15\n")
    for _ in range(5):
        assert run(launch, replay=first).differences(first) == []
