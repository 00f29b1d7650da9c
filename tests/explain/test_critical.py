# SPDX-License-Identifier: Apache-2.0
"""Which pair decides: only one whose both orders were run, and did what is said."""

from collections.abc import Callable

from eitherway.explain.critical import CONTINUATIONS, critical_pair
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm

WELL = Outcome(Ending.EXIT)
CRASH = Outcome(Ending.SIGNAL, 6)
BLOCKED = Outcome(Ending.EXIT, forced=Forced.BLOCKED)
STOPPED = Outcome(Ending.BUDGET)
STUCK = Outcome(Ending.DEADLOCK)

Branch = Callable[[str, Arm, int], Outcome]


def crashes(outcome: Outcome) -> bool:
    return outcome.ending is Ending.SIGNAL


def told(flip: Outcome, control: Outcome) -> Branch:
    return lambda pair, arm, number: flip if arm is Arm.FLIP else control


def test_both_orders_tell() -> None:
    found = critical_pair(["x"], told(WELL, CRASH), crashes)
    assert found is not None
    assert (found.pair, found.other, found.shown) == ("x", WELL, CONTINUATIONS)


def test_the_control_has_to_crash() -> None:
    """Or it was not the order of these two."""
    assert critical_pair(["x"], told(WELL, WELL), crashes) is None


def test_an_order_that_cannot_be_had_says_nothing() -> None:
    for flip in (BLOCKED, STOPPED, CRASH, STUCK):
        assert critical_pair(["x"], told(flip, CRASH), crashes) is None, flip


def test_a_lock_is_followed_to_the_second_who_takes_it() -> None:
    """While the first has it, the second cannot: so the recorded way is followed behind both."""

    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        return {Arm.FLIP: WELL, Arm.CONTROL: BLOCKED, Arm.PREFIX: CRASH}[arm]

    found = critical_pair(["x"], branch, crashes)
    assert found is not None
    assert found.shown == CONTINUATIONS


def test_the_first_that_decides_is_told() -> None:
    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        return CRASH if arm is Arm.CONTROL or pair == "no" else WELL

    found = critical_pair(["no", "yes", "too"], branch, crashes)
    assert found is not None
    assert found.pair == "yes"


def test_the_one_that_decides_more_often_is_told() -> None:
    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        return CRASH if arm is Arm.CONTROL and (pair == "all" or number == 1) else WELL

    found = critical_pair(["some", "all", "never tried"], branch, crashes)
    assert found is not None
    assert (found.pair, found.shown) == ("all", CONTINUATIONS)


def test_a_race_that_decides_at_all_goes_before_what_is_ordered() -> None:
    """The order of two locks may decide every time what a race behind them does."""

    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        decides = {"race": number == 1, "lock": True, "other race": False}[pair]
        return CRASH if arm is Arm.CONTROL and decides else WELL

    for pairs in (["lock", "other race", "race"], ["race", "lock", "other race"]):
        found = critical_pair(pairs, branch, crashes, races=lambda pair: pair.endswith("race"))
        assert found is not None
        assert (found.pair, found.shown, found.tried) == ("race", 1, CONTINUATIONS)


def test_when_a_lock_decides_only_races_are_tried_behind_it() -> None:
    tried = []

    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        tried.append(pair)
        return CRASH if arm is Arm.CONTROL and pair == "lock" else WELL

    pairs = ["lock", "other lock", "race"]
    found = critical_pair(pairs, branch, crashes, races=lambda pair: pair == "race")
    assert found is not None
    assert found.pair == "lock"
    assert set(tried) == {"lock", "race"}


def test_one_way_to_go_on_is_enough_and_counted() -> None:
    def branch(pair: str, arm: Arm, number: int) -> Outcome:
        return CRASH if arm is Arm.CONTROL and number == 1 else WELL

    found = critical_pair(["x"], branch, crashes)
    assert found is not None
    assert (found.continuation, found.shown) == (1, 1)


def test_a_pair_of_a_run_that_goes_well() -> None:
    """It crashes when they are turned round, and does not as recorded."""
    found = critical_pair(["x"], told(CRASH, WELL), crashes, when_recorded=False)
    assert found is not None
    assert (found.pair, found.other, found.shown) == ("x", CRASH, CONTINUATIONS)


def test_a_run_that_was_said_to_go_well_has_to() -> None:
    for flip, control in ((CRASH, CRASH), (WELL, WELL), (CRASH, STUCK), (CRASH, STOPPED)):
        found = critical_pair(["x"], told(flip, control), crashes, when_recorded=False)
        assert found is None, (flip, control)
