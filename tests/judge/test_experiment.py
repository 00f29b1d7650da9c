# SPDX-License-Identifier: Apache-2.0
"""Which branches an experiment runs, and when it has enough."""

from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Barrier, Event

import pytest

from eitherway.judge import experiment
from eitherway.judge.experiment import Verdict, judge, judge_among, worst
from eitherway.judge.sentences import consequence
from eitherway.model.finding import FoundOperation
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.words import Arm, Class

WELL = Outcome(Ending.EXIT)
CRASH = Outcome(Ending.SIGNAL, 11)


def done(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future


class World:
    """Does what a table says, and knows what was asked."""

    def __init__(self, flips: dict[int, Outcome]) -> None:
        self.flips = flips
        self.asked: list[tuple[Arm, int]] = []

    def branch(self, arm: Arm, continuation: int) -> Outcome:
        self.asked.append((arm, continuation))
        return self.flips.get(continuation, WELL) if arm is Arm.FLIP else WELL

    def begin(self, arm: Arm, continuation: int) -> Future[Outcome]:
        return done(self.branch(arm, continuation))


def test_arms_that_agree_need_no_third() -> None:
    world = World({})
    verdict = judge(world.branch, 3)
    assert verdict.klass is Class.K_WITNESS_HARMLESS
    assert verdict.witnesses == 3
    assert verdict.arms == (Arm.FLIP, Arm.CONTROL)
    assert world.asked == [(arm, n) for n in range(3) for arm in (Arm.FLIP, Arm.CONTROL)]


@pytest.mark.parametrize(("steps", "tried"), [(1_000, 16), (100_000_000, experiment.STOPPED)])
def test_long_waits_in_vain_are_not_repeated_for_ever(steps: int, tried: int) -> None:
    waits = replace(WELL, forced=Forced.WAITS, steps=steps)
    verdict = judge(World(dict.fromkeys(range(16), waits)).branch)
    assert (len(verdict.trials), verdict.klass) == (tried, Class.SINGLE_ORDERING)


def test_ways_in_which_both_orders_fail_alike_are_told_apart() -> None:
    verdict = judge(lambda _, continuation: CRASH if continuation == 1 else WELL, 3)
    assert (verdict.klass, verdict.witnesses) == (Class.K_WITNESS_HARMLESS, 2)
    sides = (FoundOperation("A", "read"), FoundOperation("B", "write"))
    told = consequence(verdict, sides)
    assert "2 ways to go on from there were tried; 1 more told nothing: the program fails" in told


def test_a_violation_ends_the_experiment() -> None:
    world = World({1: CRASH})
    verdict = judge(world.branch, 9)
    assert verdict.klass is Class.SPEC_VIOLATED
    assert world.asked[-1] == (Arm.PREFIX, 1)
    assert verdict.decisive.continuation == 1
    assert verdict.arms == (Arm.FLIP, Arm.CONTROL, Arm.PREFIX)


def test_branches_that_have_to_be_stopped_are_not_tried_for_ever() -> None:
    stopped = Outcome(Ending.BUDGET)
    world = World(dict.fromkeys(range(1, 9), stopped))
    verdict = judge(world.branch, 9)
    assert verdict.klass is Class.INCONCLUSIVE
    assert verdict.is_stopped
    assert len(verdict.trials) == 1 + experiment.STOPPED
    assert not judge(World(dict.fromkeys(range(3), stopped)).branch, 9).is_stopped


def test_other_output_does_not_hide_a_violation_that_comes_later() -> None:
    world = World({0: replace(WELL, output={"standard output": "x"}), 4: CRASH})
    assert judge(world.branch, 3).klass is Class.OUTPUT_DIFFERS
    assert judge(world.branch, 9).klass is Class.SPEC_VIOLATED


def printed(*lines: str) -> Outcome:
    name = "standard output"
    return replace(WELL, output={name: "".join(lines)}, lines={name: "".join(sorted(lines))})


def test_an_order_of_lines_that_is_open_says_nothing_of_the_pair() -> None:
    """The recorded order shows both: who prints first is not decided by the two."""

    def is_open(arm: Arm, continuation: int) -> Outcome:
        first = (continuation + (arm is Arm.FLIP)) % 2
        return printed("a", "b") if first else printed("b", "a")

    def is_decided(arm: Arm, _: int) -> Outcome:
        return printed("b", "a") if arm is Arm.FLIP else printed("a", "b")

    def has_other_lines(arm: Arm, continuation: int) -> Outcome:
        return printed("c") if arm is Arm.FLIP else is_open(arm, continuation)

    assert judge(is_open, 4).klass is Class.K_WITNESS_HARMLESS
    assert judge(is_decided, 4).klass is Class.OUTPUT_DIFFERS
    assert judge(has_other_lines, 4).klass is Class.OUTPUT_DIFFERS


def spoken(order: str, **by: str) -> Outcome:
    """Each letter is a line; `by` says which of them each thread has written."""
    name = "standard output"
    return replace(printed(*order), writers={name: " ".join(sorted(by.values()))})


def test_what_a_thread_writes_for_itself_counts_where_the_order_between_them_is_open() -> None:
    def own_order(arm: Arm, continuation: int) -> Outcome:
        if arm is Arm.FLIP:
            return spoken(("bac", "bca", "cba")[continuation % 3], one="ba", two="c")
        return spoken(("abc", "acb", "cab")[continuation % 3], one="ab", two="c")

    def shared_out(arm: Arm, continuation: int) -> Outcome:
        order = ("abc", "acb", "cab")[(continuation + (arm is Arm.FLIP)) % 3]
        return spoken(order, one=order[0], two=order[1:])

    def shown_elsewhere(arm: Arm, continuation: int) -> Outcome:
        if arm is Arm.FLIP:
            return spoken("abc", one="ac", two="b")
        return spoken(("abc", "acb")[continuation % 2], one="ab", two="c")

    assert judge(own_order, 6).klass is Class.OUTPUT_DIFFERS
    assert judge(shared_out, 6).klass is Class.K_WITNESS_HARMLESS
    assert judge(shown_elsewhere, 6).klass is Class.K_WITNESS_HARMLESS


@pytest.mark.parametrize("forced", [Forced.BLOCKED, Forced.ENDED, Forced.WAITS])
def test_an_order_that_is_never_had(forced: Forced) -> None:
    verdict = judge(World({n: replace(WELL, forced=forced) for n in range(3)}).branch, 3)
    assert verdict.klass is Class.SINGLE_ORDERING
    assert verdict.witnesses == 0
    assert "the first has" in verdict.reason


def test_an_order_that_is_had_once_is_no_single_one() -> None:
    world = World({n: replace(WELL, forced=Forced.WAITS) for n in range(2)})
    assert judge(world.branch, 3).klass is Class.K_WITNESS_HARMLESS


def test_what_says_nothing_is_told_with_its_reason() -> None:
    verdict = judge(World({1: replace(WELL, forced=Forced.NOT_REACHED)}).branch, 3)
    assert verdict.klass is Class.INCONCLUSIVE
    assert "could not be followed" in verdict.reason


def test_of_several_instances_the_worst_counts() -> None:
    harmless, violated = judge(World({}).branch, 3), judge(World({2: CRASH}).branch, 3)
    both = worst([harmless, violated])
    assert (both.klass, both.witnesses) == (Class.SPEC_VIOLATED, 6)
    assert worst([harmless]) == Verdict(harmless.klass, harmless.trials)


def test_continuations_in_which_something_else_fails_are_no_witnesses() -> None:
    def branch(_: Arm, continuation: int) -> Outcome:
        return CRASH if continuation % 2 else WELL

    verdict = judge(branch, 5)
    assert (verdict.klass, verdict.witnesses) == (Class.K_WITNESS_HARMLESS, 3)
    always = judge(lambda *_: CRASH, 5)
    assert (always.klass, always.witnesses) == (Class.INCONCLUSIVE, 0)
    assert "both orders" in always.reason


def test_continuations_that_lead_beyond_the_recording_are_no_witnesses() -> None:
    lost = Outcome(Ending.BEYOND)
    verdict = judge(lambda _, continuation: lost if continuation % 2 else WELL, 5)
    assert (verdict.klass, verdict.witnesses) == (Class.K_WITNESS_HARMLESS, 3)
    only_flipped = judge(World({1: lost}).branch, 5)
    assert only_flipped.klass is Class.INCONCLUSIVE


def test_several_are_under_way_and_taken_in_their_order() -> None:
    world = World({2: CRASH})
    alone, together = judge(World({2: CRASH}).branch, 9), judge_among(world.begin, 9, at_once=4)
    assert alone == together
    begun = {number for _, number in world.asked}
    assert begun == set(range(6))  # none behind those that were under way when it was decided


def test_what_was_begun_when_it_is_decided_is_over_before_anything_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others end only when they are waited for."""
    begun, waited_for, over = Barrier(3), Event(), Event()

    def branch(arm: Arm, continuation: int) -> Outcome:
        if continuation == 0:
            return CRASH if arm is Arm.FLIP else WELL
        begun.wait()
        waited_for.wait()
        over.set()
        return WELL

    def begin(arm: Arm, continuation: int) -> Future[Outcome]:
        future = pool.submit(branch, arm, continuation)
        if (arm, continuation) == (Arm.CONTROL, 1):
            begun.wait()  # both are under way: none of them can be given up
        return future

    def waiting(futures: Collection[Future[Outcome]]) -> object:
        assert len(futures) == 2
        assert not over.is_set()
        waited_for.set()
        return wait(futures)

    monkeypatch.setattr(experiment, "wait", waiting)
    with ThreadPoolExecutor(4) as pool:
        try:
            verdict = judge_among(begin, 2, at_once=2)
            assert over.is_set()
        finally:
            waited_for.set()
    assert verdict.klass is Class.SPEC_VIOLATED


def test_what_was_not_begun_when_it_is_decided_is_given_up() -> None:
    waiting: list[Future[Outcome]] = []

    def begin(arm: Arm, continuation: int) -> Future[Outcome]:
        if continuation:
            waiting.append(Future())
            return waiting[-1]
        return done(CRASH if arm is Arm.FLIP else WELL)

    assert judge_among(begin, 9, at_once=3).klass is Class.SPEC_VIOLATED
    assert len(waiting) == 4
    assert all(future.cancelled() for future in waiting)


class Chances(World):
    """Goes wrong in some continuations, whatever the order."""

    def branch(self, arm: Arm, continuation: int) -> Outcome:
        self.asked.append((arm, continuation))
        return CRASH if (arm, continuation) in ((Arm.FLIP, 1), (Arm.CONTROL, 4)) else WELL


def test_what_the_better_order_does_in_another_continuation_is_not_of_the_order() -> None:
    blamed, spared = Chances({}), Chances({})
    assert judge_among(blamed.begin, 2).klass is Class.SPEC_VIOLATED
    assert judge_among(spared.begin, 2, refute=4).klass is Class.K_WITNESS_HARMLESS
    assert [asked for asked in spared.asked if asked[1] > 1] == [
        (Arm.CONTROL, 2),
        (Arm.CONTROL, 3),
        (Arm.CONTROL, 4),
    ]


def test_what_no_other_continuation_of_the_better_order_does_stays() -> None:
    verdict = judge_among(World({1: CRASH}).begin, 2, refute=6)
    assert (verdict.klass, verdict.decisive.continuation) == (Class.SPEC_VIOLATED, 1)


def test_what_all_continuations_show_needs_no_more() -> None:
    world = World(dict.fromkeys(range(2), replace(WELL, output={"standard output": "x"})))
    assert judge_among(world.begin, 2, refute=6).klass is Class.OUTPUT_DIFFERS
    assert max(continuation for _, continuation in world.asked) == 1


def test_an_interrupt_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> Outcome:
        raise KeyboardInterrupt

    under_way = Future[Outcome]()
    under_way.set_running_or_notify_cancel()
    monkeypatch.setattr(under_way, "result", interrupted)
    monkeypatch.setattr(experiment, "wait", lambda futures: [future.result() for future in futures])
    with pytest.raises(KeyboardInterrupt):
        judge_among(lambda _arm, _number: under_way, 9, at_once=2)
