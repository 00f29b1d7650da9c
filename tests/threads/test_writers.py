# SPDX-License-Identifier: Apache-2.0
"""What each thread wrote is known, however it was written and whoever let it out."""

import pytest

from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran, run

# A handshake puts the words of both threads one behind the other in one buffer, many times; `main`
# lets out what is left. The first argument says how standard output is buffered, the second whether
# the end forgets what is left.
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static char much[9000], room[1 << 20];
static void *speak(void *name) {
    const char *who = name;
    for (int i = 0; i < 300; i++) {
        printf("%s %d\n", who, i);
        fprintf(stderr, "%s\n", who);
        pthread_barrier_wait(&barrier);
    }
    fwrite(much, 1, sizeof much, stdout);
    putchar(who[0]);
    dprintf(1, "%s dprintf\n", who);
    struct iovec parts[2] = {{(void *)who, 3}, {"!\n", 2}};
    if (writev(1, parts, 2) != 5)
        abort();
    return NULL;
}
int main(int count, char **arguments) {
    pthread_t threads[2];
    memset(much, 'm', sizeof much);
    if (atoi(arguments[1]))
        setvbuf(stdout, room, _IOFBF, (size_t)atoi(arguments[1]));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, speak, "one");
    pthread_create(&threads[1], NULL, speak, "two");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    puts("main");
    if (count > 2)
        _exit(0);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("writers")
    (folder / "speaks.c").write_text(SOURCE, encoding="utf-8")
    build(folder / "speaks.c", folder / "speaks")
    return str(folder / "speaks")


def chain(data: bytes) -> int:
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def wrote(ran: Ran, stream: str) -> list[tuple[int, int]]:
    rows = ran.shown.threads
    assert rows is not None
    return [(int(row[f"{stream}_size"]), int(row[f"{stream}_hash"])) for row in rows]


def told(data: bytes) -> tuple[int, int]:
    return len(data), chain(data)


def buffered(who: str) -> bytes:
    """What is not comes out before it."""
    lines = "".join(f"{who} {i}\n" for i in range(300)).encode()
    return lines + b"m" * 9000 + who[:1].encode()


@pytest.mark.parametrize("seed", range(3))
def test_what_lies_in_one_buffer_is_of_who_put_it_there(program: str, seed: int) -> None:
    ran = run(Launch.here([program, str(1 << 20)]), seed=seed)
    direct = {who: f"{who} dprintf\n{who}!\n".encode() for who in ("one", "two")}
    expected = [told(direct[who] + buffered(who)) for who in ("one", "two")]
    assert wrote(ran, "out") == [told(b"main\n"), *expected]
    assert wrote(ran, "err") == [told(b""), told(b"one\n" * 300), told(b"two\n" * 300)]


def test_every_byte_is_somebodys_with_small_buffers_too(program: str) -> None:
    for seed in range(3):
        ran = run(Launch.here([program, "100"]), seed=seed)
        assert sum(size for size, _ in wrote(ran, "out")) == ran.out.size
        assert wrote(ran, "err")[1:] == [told(b"one\n" * 300), told(b"two\n" * 300)]


def test_what_never_comes_out_is_not_counted(program: str) -> None:
    ran = run(Launch.here([program, str(1 << 20), "forgets"]))
    direct = [f"{who} dprintf\n{who}!\n".encode() for who in ("one", "two")]
    assert wrote(ran, "out") == [told(b""), *map(told, direct)]


def test_other_schedules_write_the_same_by_writer_alone(program: str) -> None:
    launch = Launch.here([program, "0"])
    outcomes = [outcome_of(run(launch, seed=seed)) for seed in range(4)]
    assert len({outcome.output["standard error"] for outcome in outcomes}) > 1
    assert len({outcome.writers["standard error"] for outcome in outcomes}) == 1


def test_where_writers_are_not_known_all_of_it_counts(program: str) -> None:
    ran = run(Launch.here([program, "0"]))
    assert ran.shown.threads is not None
    outcome = outcome_of(ran)
    assert outcome.writers["standard output"] != outcome.output["standard output"]
    unknown = outcome_of(Ran(ran.status, ran.out, ran.err, ran.members))
    assert unknown.writers["standard output"] == unknown.output["standard output"]
