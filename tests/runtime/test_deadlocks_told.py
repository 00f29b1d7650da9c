# SPDX-License-Identifier: Apache-2.0
"""A deadlock is told when nobody could help, and only then."""

from pathlib import Path

import pytest

from eitherway.errors import Exit
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import run

PROGRAM = Path(__file__).parent / "stuck.c"


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> str:
    built = tmp_path_factory.mktemp("stuck") / "stuck"
    build(PROGRAM, built)
    return str(built)


@pytest.mark.parametrize(
    "words",
    [
        *(f"{wait}" for wait in ("read", "poll", "epoll", "sem", "futex", "mutex", "condition")),
        "read handled blocked",  # the handler never runs
        "mutex handled",  # and if it did it could not unlock
        "condition handled",
        "jumped",  # out of a wait that one could have ended
    ],
)
def test_it_is_told_where_nobody_could_help(stuck: str, words: str) -> None:
    launch = Launch.here([stuck, *words.split()])
    ran = run(launch)
    assert ran.status == Exit.FOUND_BARE
    said = ran.err.beginning.decode().splitlines()
    assert said[0] == "eitherway: deadlock: no thread of the program can go on"
    assert said[1].startswith("  thread 0 waits for ")
    assert run(launch, replay=ran).differences(ran) == []


@pytest.mark.parametrize("wait", ["read", "poll", "epoll", "sem", "futex"])
@pytest.mark.parametrize("scheduler", ["random-walk", "round-robin"])
def test_it_is_not_told_where_a_handler_may_help(stuck: str, wait: str, scheduler: str) -> None:
    launch = Launch.here([stuck, wait, "handled", "signalled"])
    for seed in range(2):
        ran = run(launch, seed=seed, scheduler=scheduler)
        assert (ran.status, ran.out.beginning) == (0, b"freed\n"), ran.err.beginning
        assert run(launch, replay=ran).differences(ran) == []


def test_it_is_not_told_of_one_who_awaits_a_signal(stuck: str) -> None:
    launch = Launch.here([stuck, "sigwait", "blocked", "signalled"])
    ran = run(launch)
    assert (ran.status, ran.out.beginning) == (0, b"freed\n"), ran.err.beginning
    assert run(launch, replay=ran).differences(ran) == []
