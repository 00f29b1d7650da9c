# SPDX-License-Identifier: Apache-2.0
"""All schedules of small programs, their number known by hand, and every outcome among them.

Between two decision points a thread makes one *move*. Main creates the other thread, comes to the
point after that, works, and joins: with m points in its work it has m + 2 moves. The other begins,
and works: n + 1 moves. So there are C(m + n + 3, n + 1) orders, as long as nobody blocks before the
join.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import comb
from pathlib import Path

import pytest

from eitherway.detect import detect_all
from eitherway.errors import Unavailable
from eitherway.find.confirm import ACCESSES
from eitherway.recording.read import Recording
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.exhaustive import SCHEDULER, Pass, Search, growing
from eitherway.worlds.threads.guide import Guidance
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.named import trace_of
from eitherway.worlds.threads.places import NOWHERE, Places, places_of
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.server import Server

Program = Callable[[str], str]
ENOUGH = range(20)  # preemptions: more than any of these programs can have


class Searched:
    """A search with all that is needed for one, and what its runs did."""

    def __init__(self, server: Server, limit: int = 1000) -> None:
        self.server = server
        self.search = Search(self._run, self._sides, limit=limit)
        self.outcomes: Counter[str] = Counter()  # since the last beginning
        self.passes: list[Pass] = []
        self.traced = 0

    def _run(self, guidance: Guidance) -> Ran:
        if not guidance.prefix:
            self.outcomes.clear()
        return self.server.run(scheduler=SCHEDULER, guidance=guidance, detect=True)

    def _sides(self, ran: Ran) -> Places:
        self.traced += 1
        with tempfile.TemporaryDirectory() as name:
            self.server.run(replay=ran, trace=Path(name))
            with Recording.open(name) as recording:
                events = Events.read(recording)
        races = detect_all(trace_of(events), ACCESSES)
        return places_of(events, {number for race in races for number in race.operations})

    def all(self, bounds: range = ENOUGH) -> Pass:
        for item in growing(self.search, bounds):
            if isinstance(item, Pass):
                self.passes.append(item)
            else:
                self.outcomes[item.out.beginning.decode()[:-1]] += 1
        return self.passes[-1]


@contextmanager
def searched(program: str, *arguments: str, limit: int = 1000) -> Iterator[Searched]:
    with Server(Launch.here([program, *arguments]), threads=2) as server:
        yield Searched(server, limit)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 2), (1, 3), (3, 1)])
def test_atomics(program: Program, first: int, second: int) -> None:
    with searched(program("small_spaces"), "atomics", str(first), str(second)) as it:
        done = it.all()
        assert done.words() == f"all {comb(first + second + 3, second + 1)} schedules were run"
        assert len(it.outcomes) == comb(first + second, first)
        assert not it.traced


def test_each_bound_has_those_of_the_one_before(program: Program) -> None:
    """aabb: main runs on, or is preempted at one of its four points, at two of the moves, ..."""
    with searched(program("small_spaces"), "atomics", "2", "2") as it:
        it.all()
        assert [done.schedules for done in it.passes] == [1, 5, 13, 25, 31, 35]
        assert it.passes[1].words() == "all 5 schedules with at most 1 preemption were run"
        assert [done.others for done in it.passes] == [True] * 5 + [False]


def test_racy_plain_accesses_after_the_fixpoint(program: Program) -> None:
    """A load and a store each: two points of work."""
    with searched(program("small_spaces"), "plain", "1", "1") as it:
        done = it.all()
        assert done.words() == f"all {comb(7, 3)} schedules were run"
        assert set(it.outcomes) == {"1", "2"}
        assert len(done.places) == 4


def test_both_sides_of_a_race_become_decision_points(program: Program) -> None:
    """Main's store is never the later access at first: no point of main's comes before it."""
    with searched(program("small_spaces"), "after") as it:
        it.all()
        assert set(it.outcomes) == {"-0", "00", "10"}
        assert len(it.search.places) == 2


# --- locks: counted by a model, since threads block


def locked_orders(rounds: tuple[int, int]) -> Counter[str]:
    """Of `small_spaces locked`: moves of each thread are begin, and for each round lock, unlock."""
    outcomes: Counter[str] = Counter()

    def moves(who: int) -> list[str]:
        work = ["lock", "unlock"] * rounds[who]
        return ["", *work, "join"] if who == 0 else ["", *work]

    def go(at: tuple[int, int], owner: int | None, wait: frozenset[int], told: str) -> None:
        lists = [moves(0), moves(1)]
        ready = [who for who in (0, 1) if at[who] < len(lists[who]) and who not in wait]
        if at[0] == len(lists[0]) - 1 and 0 in ready and len(ready) == 1:
            ready = []  # the other is over: main only has to join
        if not ready:
            outcomes[told] += 1
            return
        for who in ready:
            move, after = lists[who][at[who]], (at[0] + (who == 0), at[1] + (who == 1))
            if move == "lock" and owner is not None:
                go(at, owner, wait | {who}, told)
            elif move == "lock":
                go(after, who, wait, told + "ab"[who])
            elif move == "unlock":
                go(after, None, frozenset(), told)
            else:
                go(after, owner, wait, told)

    go((0, 0), None, frozenset(), "")
    return outcomes


@pytest.mark.parametrize("rounds", [(1, 1), (1, 2), (2, 1)])
def test_locks(program: Program, rounds: tuple[int, int]) -> None:
    with searched(program("small_spaces"), "locked", *map(str, rounds)) as it:
        done = it.all()
        expected = locked_orders(rounds)
        assert (done.complete, done.schedules) == (True, expected.total())
        assert it.outcomes == {f"{told}0": count for told, count in expected.items()}


# --- time, waiters, and threads that spin


def test_a_timed_wait_may_time_out_although_others_run(program: Program) -> None:
    with searched(program("small_spaces"), "timed") as it:
        it.all(range(3))
        assert set(it.outcomes) == {"ys0", "yt0", "nt0"}


def test_which_waiter_is_woken_is_a_choice(program: Program) -> None:
    with searched(program("two_waiters")) as it:
        it.all(range(1))
        assert set(it.outcomes) == {"1 first", "2 first"}


@pytest.mark.parametrize("how", ["spin", "yielding"])
def test_who_waits_by_looking_gives_its_turn_away(program: Program, how: str) -> None:
    """To keep it counts as a preemption, so there is always one more that the bound leaves out."""
    with searched(program("small_spaces"), how) as it:
        done = it.all(range(2))
        assert (done.complete, done.others) == (True, True)
        assert set(it.outcomes) == {"ba0"}


def test_a_failure_between_two_stores_needs_a_preemption(program: Program) -> None:
    with searched(program("depths"), "2") as it:
        found = []
        for bound in range(3):
            it.all(range(bound, bound + 1))
            found.append("fails" in it.outcomes)
        assert found == [False, True, True]


# --- what cannot be searched to its end is said


def test_a_run_that_does_not_end_is_cut_off(program: Program) -> None:
    with searched(program("small_spaces"), "atomics", "3", "3", limit=4) as it:
        done = it.all(range(1))
        assert not done.complete
        assert "which may not be all: some came to the limit of 4 decisions" in done.words()


def test_accesses_that_come_too_often_are_a_doubt(program: Program) -> None:
    with searched(program("small_spaces"), "often", "2100", "1", limit=10_000) as it:
        assert it.all(range(1)).doubts == ("some accesses came too often to decide at each",)


def test_several_processes_are_not_searched_as_a_whole(program: Program) -> None:
    with searched(program("forks_once")) as it:
        done = it.all(range(1))
        assert not done.complete
        assert "several processes" in done.words()


def test_a_choice_that_cannot_be_taken_is_told(program: Program) -> None:
    with searched(program("small_spaces"), "atomics", "1", "1") as it:
        bent = Guidance(prefix=(77,), limit=10)
        search = Search(lambda _: it.server.run(scheduler=SCHEDULER, guidance=bent), it._sides)
        with pytest.raises(Unavailable, match="does not repeat"):
            next(search.bounded(0))


def test_a_program_that_looks_at_the_clock_may_do_other_things(program: Program) -> None:
    with searched(program("small_spaces"), "timed") as it:
        done = it.all()
        assert not done.others
        assert done.doubts == ("the program looks at the clock, which may go otherwise",)


@pytest.mark.parametrize(
    ("what", "doubt"),
    [
        ("random", "what comes from outside is not the same every time"),
        ("deadline", "deadlines passed while threads ran"),
        ("pid", ""),
        ("pipe", ""),
    ],
)
def test_what_comes_from_elsewhere_is_a_doubt(program: Program, what: str, doubt: str) -> None:
    with searched(program("from_elsewhere"), what) as it:
        done = it.all(range(2))
        assert doubt in done.doubts if doubt else not done.doubts


def test_what_others_learn_begins_the_search_again(program: Program) -> None:
    with searched(program("small_spaces"), "plain", "1", "1") as it:
        places = it.all().places
        other = Searched(it.server)
        runs = other.search.bounded(0)
        next(runs)
        assert other.search.learn(places)
        assert not other.search.learn(places)
        assert other.all().schedules == it.passes[-1].schedules
        assert not other.traced


@pytest.mark.parametrize("arguments", [("timed",), ("plain", "1", "1"), ("locked", "1", "1")])
def test_every_run_of_a_search_replays(program: Program, arguments: tuple[str, ...]) -> None:
    with searched(program("small_spaces"), *arguments) as it:
        for ran in it.search.bounded(2):
            assert it.server.run(replay=ran).differences(ran) == []
            assert it.server.run(replay=ran, detect=True).differences(ran) == []


@pytest.mark.parametrize(
    ("schedules", "others", "doubts", "words"),
    [
        (35, False, (), "all 35 schedules were run"),
        (1, False, (), "the only schedule was run"),
        (1, True, (), "the only schedule with at most 0 preemptions was run"),
        (1, False, ("why",), "1 schedule was run, which may not be all: why"),
    ],
)
def test_words_of_one_schedule_and_of_many(
    schedules: int, others: bool, doubts: tuple[str, ...], words: str
) -> None:
    assert Pass(0, schedules, NOWHERE, others, doubts).words() == words
