# SPDX-License-Identifier: Apache-2.0
"""What the arms of one continuation say of a pair."""

from dataclasses import replace

import pytest

from eitherway.judge.loose import loosened
from eitherway.judge.trial import Trial
from eitherway.judge.why import Why
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm, Class

WELL = Outcome(Ending.EXIT, output={"standard output": "a"})
OTHER = replace(WELL, output={"standard output": "b"})
THIRD = replace(WELL, output={"standard output": "c"})
CRASH = Outcome(Ending.SIGNAL, 11)
ABORT = Outcome(Ending.SIGNAL, 6)
STUCK = Outcome(Ending.DEADLOCK)
CODE = Outcome(Ending.EXIT, 1)
FREED = replace(WELL, complaints=("memory is given back twice",))
STOPPED = Outcome(Ending.BUDGET)


@pytest.mark.parametrize("bad", [CRASH, STUCK, CODE, FREED, Outcome(Ending.HANG)])
def test_what_only_one_order_does_is_a_violation(bad: Outcome) -> None:
    assert Trial(0, bad, WELL, WELL).klass is Class.SPEC_VIOLATED
    assert Trial(0, WELL, bad, bad).klass is Class.SPEC_VIOLATED


def test_both_orders_fail_in_their_own_way() -> None:
    assert Trial(0, CRASH, ABORT, ABORT).klass is Class.SPEC_VIOLATED


def test_a_failure_of_both_orders_is_not_the_pairs() -> None:
    for bad in (CRASH, STUCK, FREED):
        trial = Trial(0, bad, bad)
        assert trial.klass is Class.INCONCLUSIVE
        assert trial.doubt is Why.ALIKE


def test_an_exit_status_may_be_the_answer() -> None:
    assert Trial(0, CODE, CODE).klass is Class.K_WITNESS_HARMLESS


def test_a_failure_that_the_full_prefix_shows_too_is_not_the_pairs() -> None:
    trial = Trial(0, CRASH, WELL, CRASH)
    assert trial.klass is Class.INCONCLUSIVE
    assert trial.doubt is Why.OTHERWISE


def test_a_full_prefix_that_fails_in_a_third_way_does_not_excuse_the_pair() -> None:
    assert Trial(0, CRASH, FREED, WELL).klass is Class.SPEC_VIOLATED


def test_what_the_recorded_order_alone_does_needs_no_full_prefix() -> None:
    """In the recording the first thread may have gone on, between the two, to where it is safe."""
    assert Trial(0, WELL, CRASH, WELL).klass is Class.SPEC_VIOLATED


def test_output_that_only_the_other_order_writes() -> None:
    assert Trial(0, OTHER, WELL, WELL).klass is Class.OUTPUT_DIFFERS
    assert Trial(0, OTHER, WELL, THIRD).klass is Class.INCONCLUSIVE
    assert Trial(0, WELL, WELL).klass is Class.K_WITNESS_HARMLESS


def test_a_difference_needs_the_third_arm() -> None:
    assert Trial(0, OTHER, WELL).klass is Class.INCONCLUSIVE
    assert Trial(0, CRASH, WELL).klass is Class.INCONCLUSIVE


@pytest.mark.parametrize("forced", [Forced.BLOCKED, Forced.ENDED, Forced.WAITS])
def test_an_order_that_cannot_be_had(forced: Forced) -> None:
    assert Trial(0, replace(WELL, forced=forced), WELL).klass is Class.SINGLE_ORDERING
    delayed = replace(OTHER, forced=forced)
    assert Trial(0, delayed, WELL).klass is Class.SINGLE_ORDERING
    assert Trial(0, replace(STUCK, forced=forced), WELL, WELL).klass is Class.SPEC_VIOLATED


@pytest.mark.parametrize(
    "bad", [STOPPED, replace(WELL, forced=Forced.NOT_REACHED)], ids=["stopped", "not reached"]
)
def test_a_branch_that_says_nothing(bad: Outcome) -> None:
    for trial in (Trial(0, bad, WELL, WELL), Trial(0, WELL, bad, WELL), Trial(0, WELL, WELL, bad)):
        assert trial.klass is Class.INCONCLUSIVE
        assert trial.doubt


def test_orders_that_both_leave_what_is_known_say_nothing_of_the_pair() -> None:
    lost = Outcome(Ending.BEYOND)
    assert Trial(0, lost, lost).says_nothing
    assert not Trial(0, lost, WELL).says_nothing
    assert not Trial(0, WELL, lost).says_nothing
    assert Trial(0, lost, WELL, WELL).klass is Class.INCONCLUSIVE
    waiting = replace(WELL, forced=Forced.UNKNOWN)
    assert Trial(0, waiting, waiting).says_nothing
    assert not Trial(0, waiting, WELL).says_nothing


def of_three(flip: Outcome, control: Outcome, serial: Outcome | None) -> Trial:
    """What comes between in the other order, and the recorded order does as its prefix."""
    return Trial(0, flip, control, control, serial, between=Arm.FLIP)


def seen_between(flip: Outcome, control: Outcome, serial: Outcome | None) -> Trial:
    return Trial(0, flip, control, control, serial, between=Arm.CONTROL)


def test_what_an_order_without_anything_between_does_too_is_not_of_the_three() -> None:
    assert of_three(CRASH, WELL, CRASH).klass is Class.K_WITNESS_HARMLESS
    assert of_three(OTHER, WELL, OTHER).klass is Class.K_WITNESS_HARMLESS
    assert seen_between(WELL, CRASH, CRASH).klass is Class.K_WITNESS_HARMLESS


def test_what_only_comes_of_what_comes_between_is() -> None:
    assert of_three(CRASH, WELL, WELL).klass is Class.SPEC_VIOLATED
    assert of_three(OTHER, WELL, THIRD).klass is Class.OUTPUT_DIFFERS
    assert seen_between(WELL, CRASH, WELL).klass is Class.SPEC_VIOLATED


def test_what_goes_wrong_only_without_anything_between_is_an_order_of_two() -> None:
    for serial in (None, THIRD):
        assert of_three(WELL, CRASH, serial).klass is Class.K_WITNESS_HARMLESS
        assert seen_between(CRASH, WELL, serial).klass is Class.K_WITNESS_HARMLESS


def test_where_there_is_no_other_order_what_comes_between_must_go_wrong() -> None:
    assert of_three(CRASH, WELL, None).klass is Class.SPEC_VIOLATED
    assert of_three(OTHER, WELL, None).klass is Class.K_WITNESS_HARMLESS


def test_an_order_that_could_not_be_had_excuses_nothing() -> None:
    serial = replace(CRASH, forced=Forced.BLOCKED)
    assert of_three(CRASH, WELL, serial).klass is Class.SPEC_VIOLATED


SAYS = replace(WELL, said=("'cat f' says 'Datei fehlt'",), output={"standard error": "Datei fehlt"})


def test_a_line_that_only_one_order_says_is_a_violation_whatever_its_words() -> None:
    assert Trial(0, SAYS, WELL, WELL).klass is Class.SPEC_VIOLATED
    assert Trial(0, WELL, SAYS, SAYS).klass is Class.SPEC_VIOLATED
    assert Trial(0, SAYS, SAYS).klass is Class.K_WITNESS_HARMLESS


def test_a_line_that_an_arm_of_the_recorded_order_says_too_is_none() -> None:
    assert Trial(0, SAYS, WELL, SAYS).klass is Class.INCONCLUSIVE


def test_a_line_that_comes_of_an_order_that_could_not_be_had_says_nothing() -> None:
    assert Trial(0, replace(SAYS, forced=Forced.ENDED), WELL).klass is Class.SINGLE_ORDERING


def test_a_program_that_ends_before_both_came_says_nothing() -> None:
    for ended in (WELL, CRASH):
        short = replace(ended, forced=Forced.CUT_SHORT)
        for trial in (Trial(0, short, short, WELL), Trial(0, WELL, short, WELL)):
            assert trial.klass is Class.INCONCLUSIVE
            assert trial.doubt is Why.CUT_SHORT


def test_a_thread_that_is_slow_may_do_harm_before_the_other_comes() -> None:
    short = replace(CRASH, forced=Forced.CUT_SHORT)
    assert Trial(0, short, WELL, WELL).klass is Class.SPEC_VIOLATED


def test_what_ends_the_recorded_order_early_is_nothing_of_a_pair_that_has_no_other() -> None:
    short = replace(CRASH, forced=Forced.CUT_SHORT)
    ended = replace(WELL, forced=Forced.ENDED)
    assert Trial(0, ended, short).klass is Class.SINGLE_ORDERING
    assert Trial(0, replace(CRASH, forced=Forced.ENDED), short).klass is Class.INCONCLUSIVE


def test_what_goes_wrong_where_neither_order_comes_is_nothing_of_the_pair() -> None:
    """Held behind its access, the first thread keeps the second from its own as before it."""
    waits = replace(WELL, forced=Forced.BLOCKED)
    trial = Trial(0, waits, replace(CRASH, forced=Forced.BLOCKED))
    assert (trial.differs, trial.klass) == (False, Class.SINGLE_ORDERING)
    assert Trial(0, waits, CRASH, WELL).klass is Class.SPEC_VIOLATED


def test_output_in_an_open_order_is_known_again_in_another_run() -> None:
    """What counts of it then is what each thread writes, or the lines, of either run."""

    def written(order: str, text: str) -> Outcome:
        said = {"standard output": order + text}
        return Outcome(Ending.EXIT, 0, said, {"standard output": text}, {"standard output": text})

    first = Trial(0, written("12", "a"), written("12", "b"), written("12", "b"))
    second = Trial(1, written("12", "a"), written("21", "b"), written("12", "b"))
    trial = loosened([first, second])[0]
    assert trial.klass is Class.OUTPUT_DIFFERS
    assert trial.is_done_by(written("21", "a"))
    assert not trial.is_done_by(written("12", "b"))


def test_a_failure_that_comes_before_the_second_access_is_the_pairs_where_both_come_too() -> None:
    short = replace(CRASH, forced=Forced.CUT_SHORT)
    assert Trial(0, WELL, short, CRASH).klass is Class.SPEC_VIOLATED
    assert Trial(0, WELL, short, CRASH).with_both(Arm.CONTROL) is Arm.PREFIX
    assert Trial(0, WELL, CRASH, CRASH).with_both(Arm.CONTROL) is Arm.CONTROL
    for recorded in (None, WELL, ABORT, short):
        assert Trial(0, WELL, short, recorded).klass is Class.INCONCLUSIVE
    assert Trial(0, CRASH, short, CRASH).klass is Class.INCONCLUSIVE


def test_what_nobody_can_look_at_is_not_the_same() -> None:
    one = replace(WELL, unseen=True, output={**WELL.output, "/there/log": "unreadable"})
    trial = Trial(0, one, one)
    assert trial.klass is Class.INCONCLUSIVE
    assert trial.doubt is Why.UNSEEN
    assert Trial(0, one, WELL, WELL).klass is Class.OUTPUT_DIFFERS
    assert Trial(0, one, CRASH, one).klass is Class.SPEC_VIOLATED
