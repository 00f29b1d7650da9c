# SPDX-License-Identifier: Apache-2.0
"""The pair that decides, where the run that fails does not have both of it, or has no accesses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.corpus.checked import addresses_as_before, build
from tests.corpus.expect import PROGRAMS

from eitherway.find import explaining as explain
from eitherway.find.explained import Cause, Explainer, Short
from eitherway.find.racing import Racing
from eitherway.model.finding import Finding, FoundOperation, Frame, Seen
from eitherway.model.identity import own_frame
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class, Kind, World
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch, fix_addresses
from eitherway.worlds.threads.run import Ran

SCHEDULES, SECONDS = 300, 60.0
HERE = Path(__file__).parent / "programs"


@pytest.fixture(autouse=True)
def _fixed() -> Iterator[None]:
    with addresses_as_before():
        if not fix_addresses():
            pytest.skip("addresses cannot be fixed on this machine")
        yield


@contextmanager
def explaining(
    name: str, folder: Path, sources: Path = PROGRAMS
) -> Iterator[tuple[Explainer, Ran]]:
    """With the first schedule that fails."""
    build(sources / f"{name}.c", folder / name)
    launch = Launch.here([str(folder / name)])
    with Sandbox(require=()) as box, Explorer(launch, box, plan=Plan(timeout=30)) as explorer:
        runs = (explorer.run(seed=seed, detect=True) for seed in range(SCHEDULES))
        yield (
            Explainer(explorer, fixed=True, tell=lambda _: None),
            next(ran for ran in runs if outcome_of(ran).fails),
        )


def explained(
    name: str, folder: Path, sources: Path = PROGRAMS
) -> tuple[Short, Cause, Outcome, Outcome]:
    """The short run, the cause, and what the failing and the other order do, each run anew."""
    with explaining(name, folder, sources) as (explainer, ran):
        short = explainer.shorten(ran, SECONDS)
        cause = explainer.cause(short, SECONDS).cause
        assert cause is not None
        orders = [outcome_of(explainer.recorded(cause)), outcome_of(explainer.turned_round(cause))]
        fails, other = orders if cause.fails else orders[::-1]
        return short, cause, fails, other


@pytest.mark.parametrize(
    ("name", "ending", "kinds"),
    [
        ("order_assumed", Ending.SIGNAL, {"STORE", "LOAD"}),  # what is used is never made
        ("semaphore_starved", Ending.DEADLOCK, {"WAIT"}),
        ("seqlock_torn", Ending.SIGNAL, {"STORE", "LOAD", "UPDATE"}),  # read by who was to read it
        ("paper_pfscan", Ending.HANG, {"STORE", "LOAD"}),
        ("cond_flag_unlocked", Ending.DEADLOCK, {"STORE", "LOAD", "WAKE", "WAIT", "ACQUIRE"}),
        ("deadlock_two", Ending.DEADLOCK, {"ACQUIRE"}),
        ("signal_lock", Ending.DEADLOCK, {"ACQUIRE", "LOAD", "STORE", "WAKE"}),  # when it comes
    ],
)
def test_both_orders_of_the_pair_were_run(
    name: str, ending: Ending, kinds: set[str], tmp_path: Path
) -> None:
    short, cause, fails, other = explained(name, tmp_path)
    assert short.outcome.ending is ending
    assert fails.ending is ending
    assert other.ending is Ending.EXIT
    assert not other.fails
    met, trace = cause.critical.pair, cause.traced.trace
    assert {trace.operation(number).kind.name for number in (met.first, met.second)} <= kinds


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("flag_and_wait", ["read of size 4", "write of size 4"]),  # although the locks decide too
        ("counted_and_locked", ["lock", "lock"]),  # although there is a race
    ],
)
def test_a_race_is_named_where_it_decides(name: str, ops: list[str], tmp_path: Path) -> None:
    short, cause, fails, other = explained(name, tmp_path, HERE)
    assert short.outcome.ending is fails.ending is Ending.DEADLOCK
    assert other.ending is Ending.EXIT
    assert [side.op for side in cause.sides] == ops
    assert 0 < cause.critical.shown <= cause.critical.tried


def test_a_race_that_decides_has_its_class_from_that_also_where_it_was_harmless(
    tmp_path: Path,
) -> None:
    with explaining("flag_and_wait", tmp_path, HERE) as (explainer, ran):
        finding = explainer.finding_of(ran)
        told = explain.explained(finding, ran, explainer, lambda _: tmp_path / "run", SECONDS)
        cause = explainer.cause(explainer.shorten(ran, SECONDS), SECONDS).cause
    assert cause is not None
    (number,) = Racing(cause.traced).numbers
    harmless = Finding(
        World.THREADS, Kind.DATA_RACE, (), id=number, klass=Class.K_WITNESS_HARMLESS, seen=Seen("1")
    )
    (race,) = told.worse([finding, harmless])
    assert (race.id, race.klass, race.seen) == (number, Class.SPEC_VIOLATED, harmless.seen)
    assert race.orders == told.finding.orders
    assert "; the other way round the program ends with exit status 0" in race.consequence
    assert finding.id in race.reason
    assert not list(told.worse([race]))  # as bad as it can be: what was told stays


def test_a_pair_that_is_no_race_makes_none_worse(tmp_path: Path) -> None:
    with explaining("counted_and_locked", tmp_path, HERE) as (explainer, ran):
        finding = explainer.finding_of(ran)
        told = explain.explained(finding, ran, explainer, lambda _: tmp_path / "run", SECONDS)
    assert told.finding.orders
    assert told.race is None


def test_where_every_schedule_fails_no_order_is_to_blame(tmp_path: Path) -> None:
    with explaining("mutex_relock", tmp_path) as (explainer, ran):
        sought = explainer.cause(explainer.shorten(ran, SECONDS), SECONDS)
    assert sought.cause is None
    assert not sought.avoided
    assert sought.runs >= 16


def test_the_history_shows_when_a_signal_was_sent_and_taken(tmp_path: Path) -> None:
    with explaining("signal_lock", tmp_path) as (explainer, ran):
        finding = explainer.finding_of(ran)
        told = explain.explained(finding, ran, explainer, lambda _: tmp_path / "run", SECONDS)
    ops = [moment.op for moment in told.finding.history.moments]
    assert ops.index("sending of SIGUSR1") < ops.index("signal SIGUSR1")


def operation(actor: str, line: int) -> FoundOperation:
    return FoundOperation(actor, "lock", "mutex", "m", (Frame("f", "/a.c", line),))


def test_a_pair_has_the_letters_of_the_findings_operations() -> None:
    own = [operation("T1", 1), operation("T1", 2), operation("T2", 1)]
    assert explain.sides_of(own, [own[2], own[1]]) == [3, 2]
    assert explain.sides_of(own, [own[0], operation("T2", 9)]) == [1, 4]
    assert explain.sides_of(own, [operation("T2", 9), operation("T2", 8)]) == [4, 5]
    assert explain.sides_of(own, [own[0], own[0]]) == [4, 5]


def test_a_signal_is_told_by_its_name_and_by_who_sends_it(tmp_path: Path) -> None:
    _, cause, _, _ = explained("signal_lock", tmp_path)
    words = {(side.op, side.actor): own_frame(side.stack).function for side in cause.sides}
    assert words == {
        ("lock", "thread T1"): "work",
        ("sending of SIGUSR1", "main thread"): "main",
    }
