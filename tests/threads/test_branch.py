# SPDX-License-Identifier: Apache-2.0
"""Branches of recorded runs: the order that is asked for, and what is said where it cannot be."""

import dataclasses
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.corpus.checked import addresses_as_before

from eitherway.detect import detect_all
from eitherway.errors import Unavailable
from eitherway.find.confirm import ACCESSES, Tracer
from eitherway.model.outcome import Ending, Forced
from eitherway.model.words import Arm
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.branch import Branches, Pair, Spec, Turned, outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import TraceRequest

Program = Callable[[str], str]


@pytest.fixture(autouse=True)
def _fixed() -> Iterator[None]:
    with addresses_as_before():
        if not fix_addresses():
            pytest.skip("addresses cannot be fixed on this machine")
        yield


@contextmanager
def exploring(program: str, *arguments: str) -> Iterator[Explorer]:
    launch = Launch.here([program, *arguments])
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=30)) as explorer:
        yield explorer


def pairs_of(explorer: Explorer, ran: Ran) -> list[Pair]:
    traced = Tracer(explorer, fixed=True).trace(ran, TraceRequest())
    races = detect_all(traced.trace, ACCESSES)
    return [Pair.of(traced.events, *race.operations) for race in races]


def first_first(explorer: Explorer) -> tuple[Ran, dict[int, Pair]]:
    """A run in which two variables race, on both of which the first thread was first."""
    for seed in range(50):
        ran = explorer.run(seed=seed, detect=True)
        pairs = {pair.first.low: pair for pair in pairs_of(explorer, ran)}
        if len(pairs) == 2 and all(pair.first.thread == 1 for pair in pairs.values()):
            return ran, pairs
    raise AssertionError("no schedule has both races")


def steps_of(explorer: Explorer, ran: Ran, pair: Pair) -> tuple[int, int]:
    """When each side happens in another run: the first of its sort by its thread."""
    traced = Tracer(explorer, fixed=True).trace(ran, TraceRequest())
    rows = traced.events.events
    found = []
    for side in (pair.first, pair.second):
        same = (rows["thread"] == side.thread) & (rows["op"] == side.op)
        at = rows[same & (rows["address"] == side.low)]
        found.append(int(at["step"][0]))
    return found[0], found[1]


@pytest.mark.parametrize("seed", range(8))
def test_the_two_come_in_the_order_that_is_asked_for(program: Program, seed: int) -> None:
    with exploring(program("branched"), "add") as explorer:
        ran = explorer.run(seed=seed, detect=True)
        branches = Branches(explorer, ran)
        for pair in pairs_of(explorer, ran):
            for continuation in range(4):
                for arm, first in ((Arm.FLIP, 1), (Arm.CONTROL, 0), (Arm.PREFIX, 0)):
                    branch = branches.run(Spec(pair, arm, continuation))
                    assert outcome_of(branch).forced is Forced.AS_ASKED
                    steps = steps_of(explorer, branch, pair)
                    assert steps.index(min(steps)) == first


def test_a_branch_is_a_run_like_any_other(program: Program) -> None:
    """The same spec gives the same run, and that run replays."""
    with exploring(program("branched"), "add") as explorer:
        ran = explorer.run(seed=1, detect=True)
        spec = Spec(pairs_of(explorer, ran)[0], Arm.FLIP, 3)
        one, other = (Branches(explorer, ran).run(spec) for _ in range(2))
        assert not one.differences(other)
        assert not explorer.run(replay=one).differences(one)
        assert one.differences(ran)


def test_the_third_thread_may_be_needed(program: Program) -> None:
    """The second waits for a lock that neither of the two has: who has it goes on meanwhile."""
    with exploring(program("branched"), "third") as explorer:
        for seed in range(8):
            ran = explorer.run(seed=seed, detect=True)
            branches = Branches(explorer, ran)
            for pair in pairs_of(explorer, ran):
                outcome = branches.branch(Spec(pair, Arm.FLIP, 0))
                assert outcome.forced is Forced.AS_ASKED


@pytest.mark.parametrize("mode", ["sleep", "sleeps often"])
def test_a_sleep_is_passed(program: Program, mode: str) -> None:
    """The second sleeps before its access: time passes while the first is held.

    It does so as often as in the recorded run, which may be more often than one looks in vain.
    """
    with exploring(program("branched"), mode) as explorer:
        ran = explorer.run(seed=0, scheduler="round-robin", detect=True)
        (pair,) = pairs_of(explorer, ran)
        outcome = Branches(explorer, ran).branch(Spec(pair, Arm.FLIP, 0))
        assert (outcome.forced, outcome.ending) == (Forced.AS_ASKED, Ending.EXIT)


@pytest.mark.parametrize(
    ("mode", "why"),
    [("waits", Forced.WAITS), ("ends", Forced.ENDED), ("blocks", Forced.BLOCKED)],
)
def test_an_order_that_cannot_be_had(program: Program, mode: str, why: Forced) -> None:
    """What the first does next is told by a plain flag: only that one's order is open."""
    with exploring(program("branched"), mode) as explorer:
        ran, pairs = first_first(explorer)
        branches = Branches(explorer, ran)
        told = {at: branches.branch(Spec(pair, Arm.FLIP, 0)) for at, pair in pairs.items()}
        assert sorted(one.forced for one in told.values()) == sorted([Forced.AS_ASKED, why])
        assert {one.ending for one in told.values()} == {Ending.EXIT}


@pytest.mark.parametrize("second", ["waits", "looks at clocks"])
def test_who_looks_in_vain_is_not_waited_for_as_long_as_the_run_took(
    program: Program, second: str
) -> None:
    """It goes round in circles; or time passes again and again and nothing comes of it."""
    with exploring(program("branched"), f"works, {second}") as explorer:
        ran = explorer.run(seed=0, scheduler="round-robin", detect=True)
        branches, pairs = Branches(explorer, ran), pairs_of(explorer, ran)
        told = [branches.branch(Spec(pair, Arm.FLIP, 0)) for pair in pairs]
    assert [one.forced for one in told].count(Forced.WAITS) == 1
    assert {one.ending for one in told} == {Ending.EXIT}
    assert all(one.steps < 2 * ran.schedule.reached for one in told)


def test_an_access_that_is_not_there(program: Program) -> None:
    with exploring(program("branched"), "add") as explorer:
        ran = explorer.run(seed=0, detect=True)
        pair = pairs_of(explorer, ran)[0]
        elsewhere = dataclasses.replace(pair.first, thread=pair.second.thread)
        spec = Spec(dataclasses.replace(pair, first=elsewhere), Arm.FLIP, 0)
        outcome = Branches(explorer, ran).branch(spec)
        assert (outcome.forced, outcome.ending) == (Forced.NOT_REACHED, Ending.BUDGET)


def test_one_that_is_asked_whether_it_does_the_same_is_not_waited_for(program: Program) -> None:
    """The flag is taken back: who looks for it now and then would do so for ever."""
    with exploring(program("branched"), "naps") as explorer:
        ran = explorer.run(seed=0, scheduler="round-robin", detect=True)
        (pair,) = pairs_of(explorer, ran)
        branches = Branches(explorer, ran)
        usual = branches.branch(Spec(pair, Arm.CONTROL, 0))
        same = branches.branch(Spec(pair, Arm.CONTROL, 0, Turned(2, usual.steps)))
        other = branches.branch(Spec(pair, Arm.CONTROL, 0, Turned(1, usual.steps)))
    assert (usual.ending, same.ending) == (Ending.EXIT, Ending.EXIT)
    assert other.ending is Ending.BUDGET
    assert other.steps < 2 * (usual.steps + 20_000)


def test_runs_of_several_processes_are_refused(program: Program) -> None:
    with exploring(program("forks_once")) as explorer:
        ran = explorer.run(seed=0, detect=True)
        with pytest.raises(Unavailable, match="several processes"):
            Branches(explorer, ran)


@pytest.mark.parametrize(
    "options", ["scheduler=branch", "scheduler=branch:detect=1:branch-arm=1"], ids=["bare", "told"]
)
def test_a_branch_without_a_run_to_follow_is_refused(program: Program, options: str) -> None:
    ran = subprocess.run(
        [program("branched"), "add"],
        env={"EITHERWAY_OPTIONS": options},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 64
    assert b"a branch needs a run to follow" in ran.stderr
