# SPDX-License-Identifier: Apache-2.0
"""A search finds what schedules show, and nothing where everything is ordered."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.corpus.checked import checked

from eitherway.errors import UsageError
from eitherway.find import confirm
from eitherway.find.confirm import Tracer
from eitherway.find.endings import Ending, How
from eitherway.find.progress import Budget, Progress
from eitherway.find.search import Search
from eitherway.find.space import Space
from eitherway.model.finding import Finding
from eitherway.model.words import Kind
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.report.words import title
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads import ready
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.driver import Driver
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.policies import DEPTH_FIRST, MIX, Turn, chosen, turns
from eitherway.worlds.threads.recorded import load
from eitherway.worlds.threads.run import run
from eitherway.worlds.threads.server import Server

PROGRAMS = Path(__file__).parent / "programs"
CORPUS = Path(__file__).parents[1] / "programs"
SCHEDULES = 60
SEEDED = [turn for turn in MIX if turn.policy != DEPTH_FIRST]
Find = Callable[..., Progress]


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """Search a program of this folder, by its name and arguments."""
    folder = tmp_path_factory.mktemp("find")

    @cache
    def built(name: str) -> str:
        build(PROGRAMS / f"{name}.c", folder / name)
        return str(folder / name)

    def searched(
        name: str,
        *arguments: str,
        seed: int = 0,
        timeout: float = 60.0,
        jobs: int = 1,
        mix: Sequence[Turn] = SEEDED,
        driver: Driver | None = None,
        schedules: int = SCHEDULES,
    ) -> Progress:
        launch = Launch.here([built(name), *arguments])
        plan = Plan(timeout=timeout, driver=driver)
        store = Store(folder / "store")
        with Search(launch, store, plan=plan, fixed=False, jobs=jobs) as search:
            return search.run(turns(seed, mix), Budget(schedules), lambda _: None)

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
    finding = only(progress)
    assert finding.kind is Kind.DEADLOCK
    assert {side.variable for side in finding.operations} == {"a", "b"}
    assert "deadlock" in progress.endings.told()


def test_of_a_deadlock_that_happened_the_run_is_kept_in_which_it_did(find: Find) -> None:
    """Though a run that went well had shown before that it can happen."""
    progress = find("deadlock")
    finding = only(progress)
    count = progress.endings.count[Ending(How.DEADLOCK)]
    assert finding.consequence.startswith(f"No thread of the program can go on in {count} of ")
    with Recording.open(finding.evidence) as recording:
        assert b"deadlock" in load(recording).ran.err.beginning
    assert title(finding) == "deadlock"


@pytest.mark.parametrize(
    ("name", "sides"),
    [
        ("deadlock_join", {"join that never returned", "lock that never returned"}),
        ("semaphore_starved", {"wait that never returned"}),  # main only waits for the others
    ],
)
def test_who_joins_with_a_lock_is_part_of_a_deadlock(
    tmp_path: Path, name: str, sides: set[str]
) -> None:
    build(CORPUS / f"{name}.c", tmp_path / name)
    (finding,) = checked(tmp_path / name, "--schedules", "40").findings
    assert {side.op for side in finding.operations} == sides


def test_who_waits_for_a_pipe_is_told_of_a_deadlock(find: Find) -> None:
    found = [f for f in find("pipes_full").findings.values() if f.kind is Kind.DEADLOCK]
    (finding,) = found
    assert {side.op for side in finding.operations} == {"wait that never returned"}
    assert {side.place.function for side in finding.operations} == {"fill"}


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


@pytest.mark.parametrize("seed", range(4))
def test_who_ended_the_program_is_told(find: Find, seed: int) -> None:
    """Whatever others did between its last operation and the end."""
    (side,) = only(find("endings", "leave", seed=seed)).operations
    assert side.place.function == "leave"


def test_a_run_that_goes_round_in_circles_hangs(find: Find) -> None:
    progress = find("endings", "hang")
    finding = only(progress)
    assert finding.kind is Kind.HANG
    assert [side.actor for side in finding.operations] == ["main thread"]
    assert "exactly as they had been before" in " ".join(finding.explanation)
    assert "hang: it goes round in circles" in progress.endings.told()
    with Recording.open(finding.evidence) as recording:
        recorded = load(recording)
    assert run(recorded.launch, replay=recorded.ran).differences(recorded.ran) == []


def test_a_run_that_takes_longer_than_it_may_hangs(find: Find) -> None:
    finding = only(find("endings", "deaf", timeout=0.3, schedules=8))
    assert finding.kind is Kind.HANG
    assert "does not end in the time it was given" in finding.consequence


def test_a_wake_up_that_can_be_lost_is_told(find: Find) -> None:
    progress = find("wakes", "1000", mix=depth_first(0), schedules=1)
    assert told(progress) == {(Kind.LOST_WAKEUP, "ready")}
    assert progress.notes == []


def test_of_long_runs_it_is_said_that_wake_ups_were_not_looked_at(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirm, "_ALL_ACCESSES", 100)
    progress = find("wakes", "1000", mix=depth_first(0), schedules=1)
    assert progress.findings == {}
    (note,) = progress.notes
    assert note.startswith(
        "wake-ups that were heard, and could have been lost, were not looked for"
    )
    assert find("clean", mix=depth_first(0), schedules=1).notes == []  # there are none


def test_of_long_runs_wake_ups_that_were_lost_are_told(
    find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirm, "_ALL_ACCESSES", 10)
    progress = find("wakes", "0", schedules=30)
    assert {finding.kind for finding in progress.findings.values()} == {Kind.LOST_WAKEUP}
    assert "deadlock" in progress.endings.told()


def test_a_server_that_is_never_ready_has_not_hung(find: Find) -> None:
    driver = Driver(("true",), ready.parse("file:/nowhere/ready"))
    with pytest.raises(UsageError, match="the program was to make /nowhere/ready first"):
        find("endings", "deaf", timeout=0.3, driver=driver)


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


def test_what_a_forked_process_shows_names_the_run_that_it_is_part_of(tmp_path: Path) -> None:
    """Or nobody could do it again."""
    build(PROGRAMS / "forks.c", tmp_path / "forks")
    with Server(Launch.here([str(tmp_path / "forks")])) as server:
        rows = server.survey(range(40, 44), detect=True).found.rows
    assert rows["slot"].all()
    assert set(rows["seed"].tolist()) == set(range(40, 44))


# --- all schedules, one after the other

ALL = 5000  # schedules: more than there are


def depth_first(bound: int | None = None) -> list[Turn]:
    return [chosen(DEPTH_FIRST if bound is None else f"{DEPTH_FIRST}:bound={bound}")]


@pytest.mark.parametrize("mix", [MIX, depth_first()], ids=["mix", "alone"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_ends_when_there_is_nothing_else_to_run(
    find: Find, jobs: int, mix: Sequence[Turn]
) -> None:
    progress = find("endings", "code", jobs=jobs, mix=mix, schedules=ALL)
    assert progress.exhausted
    assert progress.schedules < ALL
    assert progress.space.startswith("all ")
    assert "preemption" not in progress.space
    assert "exit status 7" in only(progress).consequence


def test_what_all_schedules_show_is_told_with_its_evidence(find: Find) -> None:
    finding = only(find("race", mix=depth_first(1), schedules=ALL))
    assert {side.place.function for side in finding.operations} == {"careful", "careless"}
    with Recording.open(finding.evidence) as recording:
        recorded = load(recording)
    assert run(recorded.launch, replay=recorded.ran).differences(recorded.ran) == []


def test_a_deadlock_of_all_schedules_is_one(find: Find) -> None:
    progress = find("deadlock", mix=depth_first(), schedules=ALL)
    assert only(progress).kind is Kind.DEADLOCK
    assert {ending.how for ending in progress.endings.count} == {How.EXIT, How.DEADLOCK}
    assert {ending.code for ending in progress.endings.count} == {0}


def test_a_run_that_was_cut_off_is_none_of_the_program(tmp_path: Path) -> None:
    build(PROGRAMS / "endings.c", tmp_path / "endings")
    launch = Launch.here([str(tmp_path / "endings"), "always"])
    with Sandbox(require=()) as box, Explorer(launch, box) as explorer:
        space = Space(explorer, Tracer(explorer, fixed=False), limit=2)
        assert list(space.runs(Turn(DEPTH_FIRST, range(9), {"bound": 0}))) == []
        assert space.over
        assert not space.exhausted
        assert "some came to the limit of 2 decisions" in space.words()


@pytest.mark.parametrize("seed", range(5, 8))
def test_of_exit_codes_without_a_good_one_the_rarer_fails_though_it_was_not_always(
    find: Find, seed: int
) -> None:
    """Which one is the rarer changes while schedules are run."""
    progress = find("endings", "none well", seed=seed, mix=MIX, schedules=21)
    (often, _), (rarely, count) = progress.endings.count.most_common()
    finding = only(progress)
    assert finding.consequence == f"The program ends with {rarely} in {count} of 21 schedules."
    assert not finding.reason
    with Recording.open(finding.evidence) as recording:
        assert load(recording).ran.status == rarely.code
    assert progress.endings.count[often] > count


def test_a_bound_ends_the_search_without_a_word_of_the_others(find: Find) -> None:
    progress = find("endings", "code", mix=depth_first(0), schedules=ALL)
    assert not progress.exhausted
    assert progress.space.endswith("schedules with at most 0 preemptions were run")


def test_too_few_schedules_are_not_said_to_be_all(find: Find) -> None:
    progress = find("endings", "code", mix=depth_first(), schedules=3)
    assert progress.schedules == 3
    assert not progress.exhausted
    assert progress.space == "not even all schedules without a preemption were run"


def test_what_cannot_be_counted_is_said_and_others_go_on(find: Find) -> None:
    progress = find("forks", mix=MIX, schedules=300)
    assert not progress.exhausted
    assert "may not be all: the program has several processes" in progress.space
    assert progress.schedules > 100


def test_pairs_of_operations_are_seen_in_both_orders(find: Find) -> None:
    once = find("endings", "code", mix=depth_first(0), schedules=1)
    assert (once.coverage.both, once.coverage.pairs) == (0, 2)  # store and store, store and load
    every = find("endings", "code", mix=depth_first(), schedules=ALL)
    assert str(every.coverage) == "1 of 2 pairs seen in both orders"
