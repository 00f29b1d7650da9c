# SPDX-License-Identifier: Apache-2.0
"""Branches that are copies of a run that stands still: the same as if each had done all of it."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.corpus.checked import addresses_as_before

from eitherway.detect import detect_all
from eitherway.find.confirm import ACCESSES, Tracer
from eitherway.model.outcome import Ending
from eitherway.model.words import Arm
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.processes import descendants, has_ended
from eitherway.worlds.threads import explorer as exploring_module
from eitherway.worlds.threads.branch import Branches, Pair, Spec, outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.standard_input import Source

Program = Callable[[str], str]
ALL, NEVER = 0, 1 << 62  # steps from which on a run is left standing
CONTINUATIONS = (0, 1, 5, 12)
ARMS = (Arm.FLIP, Arm.CONTROL, Arm.PREFIX)


@pytest.fixture(autouse=True)
def _fixed() -> Iterator[None]:
    with addresses_as_before():
        if not fix_addresses():
            pytest.skip("addresses cannot be fixed on this machine")
        yield


@pytest.fixture
def worth(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    return lambda steps: monkeypatch.setattr(exploring_module, "WORTH", steps)


@contextmanager
def exploring(
    command: Sequence[str], given: bytes = b"", timeout: float = 30
) -> Iterator[Explorer]:
    here = Launch.here(command)
    launch = Launch(here.command, here.directory, here.environment, given, Source.GIVEN)
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=timeout)) as explorer:
        yield explorer


def pairs_of(explorer: Explorer, ran: Ran) -> list[Pair]:
    traced = Tracer(explorer, fixed=True).accesses(ran)
    races = detect_all(traced.trace, ACCESSES)
    return [Pair.of(traced.events, *race.operations) for race in races]


def told(ran: Ran) -> object:
    """All that a run is, but for what names it; of a thread's past a load may stand for a store."""
    names = ["kind", "step", "thread", "address", "past_thread"]
    found = {tuple(row) for row in ran.found.rows[names].tolist()}
    return outcome_of(ran), ran.shown.pair_end, ran.shown.end, ran.files, found


def branches_of(explorer: Explorer, ran: Ran, pairs: Sequence[Pair]) -> list[Ran]:
    branches = Branches(explorer, ran)
    return [
        branches.run(Spec(pair, arm, continuation))
        for pair in pairs
        for continuation in CONTINUATIONS
        for arm in ARMS
    ]


APART = ("prints", "input", "reads", "streams", "heap", "aborts", "turns")
WRITING = (  # and all is put back
    *("writes", "creates", "grows", "shared-file", "locks"),
    *("deletes", "replaces", "forgets"),
)
MEET = ("pipe", "maps", "robust", "unnamed", "flocks")
# What some copies or all have written cannot be put back.
LOST = ("overwrites", "renames", "private-file")


@pytest.mark.parametrize("mode", [*APART, *WRITING, *MEET, *LOST])
def test_copies_do_what_whole_runs_do(
    program: Program, tmp_path: Path, worth: Callable[[int], None], mode: str
) -> None:
    file = tmp_path / "file"
    file.write_text("one\ntwo\nthree\nfour\n")
    with exploring([program("copied"), mode, str(file)], b"one\ntwo\nthree\n") as explorer:
        ran = explorer.run(seed=3, detect=True)
        pairs = pairs_of(explorer, ran)
        assert pairs
        worth(NEVER)
        whole = branches_of(explorer, ran, pairs)
        worth(ALL)
        copies = branches_of(explorer, ran, pairs)
        if mode not in LOST:
            assert bool(explorer.standing) == (mode not in MEET)
        for one, other in zip(whole, copies, strict=True):
            assert not one.differences(other)
            assert told(one) == told(other)
        assert not explorer.run(replay=copies[0]).differences(copies[0])
    assert file.read_text() == "one\ntwo\nthree\nfour\n"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", ["add", "third", "sleep", "waits", "ends", "blocks"])
@pytest.mark.parametrize("seed", range(3))
def test_orders_are_those_of_whole_runs(
    program: Program, worth: Callable[[int], None], mode: str, seed: int
) -> None:
    """The later pair first: what stands behind the next is of no use to it."""
    with exploring([program("branched"), mode]) as explorer:
        ran = explorer.run(seed=seed, detect=True)
        pairs = sorted(pairs_of(explorer, ran), key=lambda pair: -pair.first.step)
        worth(NEVER)
        whole = branches_of(explorer, ran, pairs)
        worth(ALL)
        copies = branches_of(explorer, ran, pairs)
        assert list(map(told, whole)) == list(map(told, copies))
        assert not any(map(Ran.differences, whole, copies))


def test_a_copy_that_is_killed_leaves_the_run_standing(
    program: Program, worth: Callable[[int], None]
) -> None:
    with exploring([program("copied"), "spins"], timeout=1) as explorer:
        ran = explorer.run(seed=0, scheduler="round-robin", detect=True)
        pair = pairs_of(explorer, ran)[0]
        worth(ALL)
        branches = Branches(explorer, ran)
        ends = [branches.branch(Spec(pair, arm, 1)).ending for arm in 2 * ARMS]
        assert set(ends) > {Ending.EXIT}
        assert ends[:3] == ends[3:]
        assert explorer.standing[-1] == pair.first.step


def test_nobody_stands_any_more_when_all_is_over(
    program: Program, worth: Callable[[int], None]
) -> None:
    worth(ALL)
    with exploring([program("copied"), "prints"]) as explorer:
        ran = explorer.run(seed=3, detect=True)
        pair = pairs_of(explorer, ran)[0]
        Branches(explorer, ran).run(Spec(pair, Arm.FLIP, 0))
        family = list(descendants(explorer.process))
        assert len(family) == 1 + len(explorer.standing) > 1
    assert all(map(has_ended, family))
