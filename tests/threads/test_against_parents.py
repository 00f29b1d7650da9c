# SPDX-License-Identifier: Apache-2.0
"""What a program does to its parent does not reach who runs it; where it does, another does."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.threads.conftest import Program

from eitherway.find.endings import Ending, How
from eitherway.find.progress import Budget
from eitherway.find.search import Search
from eitherway.model.words import Kind
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Ended, Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.policies import MIX, turns
from eitherway.worlds.threads.server import Stopped

PLAN = Plan(timeout=60)
SEEDS = range(24)
Start = Callable[..., Explorer]


@pytest.fixture
def start(program: Program) -> Iterator[Start]:
    with ExitStack() as stack:

        def started(*words: str) -> Explorer:
            launch = Launch.here([program("against_parent"), *words])
            box = stack.enter_context(Sandbox())
            return stack.enter_context(Explorer(launch, box, plan=PLAN))

        yield started


def said(explorer: Explorer) -> set[bytes]:
    return {explorer.run(seed=seed).out.beginning for seed in SEEDS}


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("kill", b"0 0\n"),
        ("term", b"0 0\n"),
        ("stop", b"0 0\n"),
        ("ask", b"0 0\n"),
        ("no_signal", b"-1 22\n"),
        ("all", b"0 0\n"),
        ("all_with_a_child", b"0 0\n"),
        ("sigqueue", b"0 0\n"),
        ("tgkill", b"0 0\n"),
        ("syscall", b"0 0\n"),
        ("pidfd", b"0 0\n"),
        ("seize", b"-1 1\n"),
        ("attach", b"-1 1\n"),
        ("ask_to_be_traced", b"0 0\n"),
        ("term_unseen", b"0 0\n"),
    ],
)
def test_it_goes_on_and_so_do_we(start: Start, what: str, words: bytes) -> None:
    explorer = start(what)
    server = explorer.process
    rows = explorer.survey(SEEDS)
    assert not rows["status"].any()
    assert not rows["stopped"].any()
    assert said(explorer) == {b"", words}
    assert explorer.process == server


def test_who_is_stopped_is_let_go_on(start: Start) -> None:
    explorer = start("stop_unseen")
    rows = explorer.survey(SEEDS)
    assert not rows["status"].any()
    assert not rows["stopped"].any()
    assert len(set(rows["out_size"].tolist())) == 2


@pytest.mark.parametrize("what", ["kill_unseen", "all_unseen"])
def test_who_is_killed_is_replaced(start: Start, what: str) -> None:
    explorer = start(what)
    rows = explorer.survey(SEEDS)
    assert rows["seed"].tolist() == list(SEEDS)
    assert set(rows["stopped"].tolist()) == {Stopped.NOT, Stopped.WITH_SERVER}
    assert not rows["status"][rows["stopped"] == Stopped.NOT].any()
    ends = {explorer.run(seed=seed).course.ended for seed in SEEDS}
    assert ends == {Ended.ITSELF, Ended.FELLED}


@pytest.mark.parametrize("what", ["kill_unseen", "all_unseen"])
def test_a_search_tells_it_and_keeps_the_rest(program: Program, tmp_path: Path, what: str) -> None:
    store = Store(tmp_path / "store")
    launch = Launch.here([program("against_parent"), what])
    with Search(launch, store, plan=PLAN, fixed=True) as search:
        budget = Budget(schedules=len(SEEDS))
        progress = search.run(turns(0, MIX), budget, lambda _: None)
    assert set(progress.endings.count) == {Ending(How.EXIT), Ending(How.FELLED)}
    kinds = [finding.kind for finding in progress.findings.values()]
    assert kinds.count(Kind.FAILURE) == 1
    assert Kind.DATA_RACE in kinds
    (felled,) = (f for f in progress.findings.values() if f.kind is Kind.FAILURE)
    assert felled.consequence.startswith("The program ends itself and the process that runs it in ")
    assert "it kills its parent, or every process" in felled.reason
    assert not any("bug" in note for note in progress.notes)
