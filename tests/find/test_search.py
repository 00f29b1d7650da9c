# SPDX-License-Identifier: Apache-2.0
"""A search finds what schedules show, and nothing where everything is ordered."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from eitherway.find.search import Budget, Progress, Search
from eitherway.model.finding import Finding
from eitherway.model.words import Kind
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.policies import turns
from eitherway.worlds.threads.recorded import load
from eitherway.worlds.threads.run import run

SCHEDULES = 60
Find = Callable[..., Progress]


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """Search a program of this folder, by its name and arguments."""
    folder = tmp_path_factory.mktemp("find")

    @cache
    def built(name: str) -> str:
        build(Path(__file__).parent / "programs" / f"{name}.c", folder / name)
        return str(folder / name)

    def searched(
        name: str, *arguments: str, seed: int = 0, timeout: float = 60.0, jobs: int = 1
    ) -> Progress:
        launch = Launch.here([built(name), *arguments])
        plan = Plan(timeout=timeout)
        store = Store(folder / "store")
        with Search(launch, store, plan=plan, fixed=False, jobs=jobs) as search:
            return search.run(turns(seed), Budget(SCHEDULES), lambda _: None)

    return searched


def told(progress: Progress) -> set[tuple[Kind, str]]:
    """Kinds and variables."""
    return {
        (finding.kind, finding.operations[0].variable) for finding in progress.findings.values()
    }


def only(progress: Progress) -> Finding:
    (finding,) = progress.findings.values()
    return finding


def test_a_race_is_told_once_with_both_sides(find: Find) -> None:
    progress = find("race")
    finding = only(progress)
    assert progress.schedules == SCHEDULES
    assert finding.kind is Kind.DATA_RACE
    assert {side.variable for side in finding.operations} == {"counter"}
    functions = {side.place.function for side in finding.operations}
    assert functions == {"careful", "careless"}
    assert progress.notes == []


def test_nothing_is_told_of_a_program_that_orders_everything(find: Find) -> None:
    progress = find("clean")
    assert progress.findings == {}
    assert progress.notes == []
    assert progress.endings.told() == "exit status 0"


def test_the_same_seed_finds_the_same(find: Find) -> None:
    one, other = find("race", seed=5), find("race", seed=5)
    assert one.findings.keys() == other.findings.keys()
    assert one.different == other.different


def test_the_evidence_of_a_finding_replays(find: Find) -> None:
    finding = only(find("race"))
    with Recording.open(finding.evidence) as recording:
        recorded = load(recording)
    assert run(recorded.launch, replay=recorded.ran).differences(recorded.ran) == []


def test_a_deadlock_is_told_whether_it_happened_or_not(find: Find) -> None:
    progress = find("deadlock")
    assert told(progress) == {(Kind.DEADLOCK, "a")}
    assert "deadlock" in progress.endings.told()


def test_a_deadlock_that_cannot_be_is_not_told(find: Find) -> None:
    assert find("deadlock", "gated").findings == {}


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("crash", Kind.FAILURE, "SIGSEGV"),
        ("abort", Kind.FAILURE, "SIGABRT"),
        ("code", Kind.FAILURE, "exit status 7"),
        ("early", Kind.FAILURE, "exit status 7"),  # it is seen before the one that was meant
    ],
)
def test_an_end_that_depends_on_the_order_is_told(
    find: Find, how: str, kind: Kind, words: str
) -> None:
    finding = only(find("endings", how))
    assert finding.kind is kind
    assert words in finding.consequence


def test_a_run_that_does_not_end_hangs(find: Find) -> None:
    finding = only(find("endings", "hang", timeout=0.3))
    assert finding.kind is Kind.HANG


def test_one_answer_for_every_order_is_no_failure(find: Find) -> None:
    progress = find("endings", "always")
    assert progress.findings == {}
    assert progress.endings.told() == "exit status 3"


def test_several_servers_find_the_same(find: Find) -> None:
    alone, together = find("race", seed=2), find("race", seed=2, jobs=3)
    assert alone.findings.keys() == together.findings.keys()
    assert alone.schedules == together.schedules


def test_places_that_race_become_decision_points(find: Find) -> None:
    assert len(find("race").places) >= 2
    assert len(find("clean").places) == 0


def test_a_race_in_a_forked_process_is_told_with_what_is_known(find: Find) -> None:
    finding = only(find("forks"))
    assert finding.kind is Kind.DATA_RACE
    (side,) = finding.operations
    assert side.place.function == "add"
    assert "check that program by itself" in finding.reason
