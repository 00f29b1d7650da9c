# SPDX-License-Identifier: Apache-2.0
"""Shared places: known from one run to the next, decision points in each, needed by no replay."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eitherway.errors import UsageError
from eitherway.find.ways import Way, token_of
from eitherway.recording.token import parse
from eitherway.worlds.threads.build import build
from eitherway.worlds.threads.guide import PLACES_ROOM, Guidance, Shown
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.places import BITS, NOWHERE, Places, place
from eitherway.worlds.threads.run import Ran, run
from eitherway.worlds.threads.server import Server

Program = Callable[[str], str]
BANK = Path(__file__).parent.parent.parent / "examples" / "bank.c"
POLICIES = ["random-walk", "round-robin", "pct", "pos", "surw", "depth-first"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    program = tmp_path_factory.mktemp("bank") / "bank"
    build(BANK, program)
    return Launch.here([str(program)])


@pytest.fixture
def server(bank: Launch) -> Iterator[Server]:
    with Server(bank, threads=2) as started:
        yield started


def learnt(server: Server) -> tuple[Places, Shown]:
    """The places that a survey shows, and what a run with them does."""
    places = server.survey(range(50), detect=True).shown.places
    ran = server.run(guidance=Guidance(places), detect=True)
    return places | ran.shown.places, ran.shown


def guided(server: Server) -> Guidance:
    places, shown = learnt(server)
    tuning = {"length": shown.asked, "depth": 3}
    return Guidance(places, expected=shown.threads, limit=10_000, tuning=tuning)


def same(one: Ran, other: Ran) -> bool:
    """All but the input: the time of day is part of it."""
    return set(one.differences(other)) <= {"input"}


# --- the set


@given(st.sets(st.integers(0, 2**BITS - 1), max_size=20))
def test_a_set_is_what_its_name_says(numbers: set[int]) -> None:
    places = Places.of(numbers)
    assert len(places.name) == 6 * len(numbers)
    assert Places.named(places.name) == places


@pytest.mark.parametrize(
    "name", ["x", "AAAAAB" * 2, "AAAAABAAAAAA"[::-1] + "AAAAAA", "AAAA+B", "AAAAA="]
)
def test_what_is_no_name_of_a_set_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Places.named(name)


def test_the_number_of_a_place_keeps_the_lowest_bits_of_its_address() -> None:
    assert place("", 0x1234) & 0xFFF == 0x234
    assert len({place("", 0x1234), place("libx.so", 0x1234), place("", 0x2234)}) == 3
    assert all(place("", offset) < 2**BITS for offset in range(0, 1 << 20, 4099))


def test_more_places_than_a_run_can_be_told_are_refused() -> None:
    with pytest.raises(UsageError, match="4097 shared places are more than"):
        Guidance(Places.of(range(PLACES_ROOM + 1)))
    Guidance(Places.of(range(PLACES_ROOM)))


# --- in a run


def test_races_that_are_found_show_their_places(server: Server) -> None:
    assert server.run().shown.places == NOWHERE
    places, _ = learnt(server)
    assert len(places) == 2  # bank.c: balance is read in one line and written in the next
    assert server.survey(range(50), guidance=Guidance(places), detect=True).shown.places == NOWHERE


def test_both_ends_number_a_place_alike(server: Server) -> None:
    ran = server.run(seed=2, detect=True)
    (row, *_) = ran.found.rows
    assert place("", int(row["pc"] - row["module"])) in ran.shown.places.numbers


def test_every_access_at_a_shared_place_is_a_decision_point(server: Server) -> None:
    places, shown = learnt(server)
    assert shown.threads is not None
    assert shown.threads["place"].tolist()[1:] == [6, 6]  # three rounds, a load and a store each
    without = server.run(scheduler="pos").shown  # nobody looks for races
    assert without.threads is not None
    assert without.threads["place"].tolist() == [0, 0, 0]
    assert shown.uncovered == 0
    assert shown.asked > without.asked
    assert places


def test_places_of_another_program_change_nothing(server: Server) -> None:
    foreign = Guidance(Places.of(place("elsewhere.so", offset) for offset in range(0, 8192, 64)))
    for seed in range(10):
        one = server.run(seed=seed, detect=True, scheduler="pos")
        assert same(one, server.run(seed=seed, detect=True, scheduler="pos", guidance=foreign))


def test_a_survey_runs_as_single_runs_do(server: Server) -> None:
    guidance = guided(server)
    rows = server.survey(range(20), "pct", guidance=guidance, detect=True).rows
    for row in rows:
        ran = server.run(seed=int(row["seed"]), scheduler="pct", guidance=guidance, detect=True)
        assert (row["schedule"], row["steps"]) == (ran.schedule.hash, ran.schedule.steps)


@pytest.mark.parametrize("rounds", ["10", "9000"])
def test_places_are_learnt_behind_one_that_races_very_often(program: Program, rounds: str) -> None:
    """A place that has been a decision point so often that it is none any more is not new."""
    ran = run(
        Launch.here([program("tired_place"), rounds]), guidance=Guidance(NOWHERE), detect=True
    )
    assert len(ran.shown.places) == 2


# --- every policy


@pytest.mark.parametrize("scheduler", POLICIES)
def test_seed_and_places_name_a_schedule_served_or_not(
    bank: Launch, server: Server, scheduler: str
) -> None:
    guidance = guided(server)
    for seed in range(10):
        one = server.run(seed=seed, scheduler=scheduler, guidance=guidance, detect=True)
        two = server.run(seed=seed, scheduler=scheduler, guidance=guidance, detect=True)
        bare = run(bank, seed=seed, scheduler=scheduler, guidance=guidance, detect=True)
        assert same(one, two)
        assert same(one, bare)


@pytest.mark.parametrize("scheduler", ["random-walk", "round-robin", "pct", "pos"])
def test_a_token_holds_all_that_names_a_schedule(
    bank: Launch, server: Server, scheduler: str
) -> None:
    guidance = guided(server)
    token = parse(str(token_of(Way(scheduler, 7, guidance), "0123456789ab")))
    first = server.run(seed=7, scheduler=scheduler, guidance=guidance, detect=True)
    told = Guidance(Places.named(str(token.places)), tuning=token.options)
    again = run(bank, seed=token.seed, scheduler=token.scheduler, guidance=told, detect=True)
    assert same(first, again)


def test_what_needs_more_than_a_word_has_no_token() -> None:
    many = Guidance(Places.of(range(33)))
    assert token_of(Way("pos", 1, many), "01") is None
    assert token_of(Way("surw", 1), "01") is None
    assert token_of(Way("depth-first", 1), "01") is None


@pytest.mark.parametrize("scheduler", POLICIES)
def test_replays_are_exact_with_and_without_places_and_detection(
    server: Server, scheduler: str
) -> None:
    guidance = guided(server)
    for seed in range(50):
        first = server.run(seed=seed, scheduler=scheduler, guidance=guidance, detect=True)
        assert server.run(replay=first).differences(first) == []
        assert server.run(replay=first, detect=True).differences(first) == []
        again = server.run(replay=first, detect=True, guidance=guidance)
        assert again.differences(first) == []


@pytest.mark.parametrize("scheduler", ["pct", "pos", "surw"])
def test_seeds_of_every_policy_reach_every_outcome(server: Server, scheduler: str) -> None:
    """Each of two threads adds three times: 0 to 4 of the 6 sums are lost."""
    guidance = guided(server)
    outputs = {
        int(row["out_hash"])
        for row in server.survey(range(600), scheduler, guidance=guidance, detect=True).rows
    }
    assert len(outputs) >= 4
