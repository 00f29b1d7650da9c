# SPDX-License-Identifier: Apache-2.0
"""A cut has all that its anchors need; following it gives the recorded run again."""

from pathlib import Path

import numpy as np
from tests.processes.harness import launch, ran

from eitherway.detect import detect_all
from eitherway.model.order import Order
from eitherway.model.outcome import Forced
from eitherway.model.words import Arm
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.branch import Branches, Spec
from eitherway.worlds.processes.cut import Cuts, Pair
from eitherway.worlds.processes.traced import Traced, traced

SCRIPT = "echo 0 > n; (read x < n; echo 1 > n) & (read x < n; echo 2 > n) & wait; cat n | cat"


def pairs(trace: Traced) -> list[Pair]:
    cuts = Cuts(trace)
    found = (cuts.anchors(race) for race in detect_all(trace.trace))
    return [anchors for anchors in found if isinstance(anchors, Pair)]


def test_what_a_call_of_a_cut_needs_is_in_it(box: Sandbox, work: Path) -> None:
    trace = traced(ran(box, work, "sh", "-c", SCRIPT).log, str(work))
    order, cuts = Order.of(trace.trace), Cuts(trace)
    assert pairs(trace)
    for pair in pairs(trace):
        turns = list(cuts.turns(pair, Arm.CONTROL).calls)
        inside = set(turns)
        firsts = trace.first
        for call in turns:
            before = order.before(firsts, np.full(len(firsts), firsts[call]))
            assert set(np.flatnonzero(before).tolist()) <= inside
        assert turns[-2:] == [pair.first, pair.second]
        assert list(cuts.turns(pair, Arm.FLIP).calls[-2:]) == [pair.second, pair.first]


def test_the_recorded_run_is_followed_to_any_pair(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", SCRIPT)
    trace = traced(done.log, str(work))
    with Branches(launch(work, "sh", "-c", SCRIPT), trace) as branches:
        for pair in pairs(trace):
            outcome = branches.branch(Spec(pair, Arm.PREFIX, 0), box)
            assert outcome.forced is Forced.AS_ASKED
            assert outcome.steps == len(done.log.calls)
        assert not branches.relaxed


def test_what_is_not_written_down_of_a_branch_changes_nothing_of_it(
    box: Sandbox, work: Path, tmp_path: Path
) -> None:
    trace = traced(ran(box, work, "sh", "-c", SCRIPT).log, str(work))
    with Branches(launch(work, "sh", "-c", SCRIPT), trace) as branches:
        for number, pair in enumerate(pairs(trace)[:6]):
            spec = Spec(pair, Arm.FLIP, 1)
            into = tmp_path / str(number)
            into.mkdir()
            assert branches.branch(spec, box) == branches.recorded(spec, box, into)


def test_what_two_races_ask_for_is_run_once(box: Sandbox, work: Path) -> None:
    trace = traced(ran(box, work, "sh", "-c", SCRIPT).log, str(work))
    pair, *_ = pairs(trace)
    with Branches(launch(work, "sh", "-c", SCRIPT), trace) as branches:
        first = branches.known(Spec(pair, Arm.PREFIX, 0), box)
        assert branches.known(Spec(pair, Arm.PREFIX, 0), box) is first
        branches.known(Spec(pair, Arm.PREFIX, 1), box)
        assert branches.ran == 2
