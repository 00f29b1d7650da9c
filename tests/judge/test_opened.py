# SPDX-License-Identifier: Apache-2.0
"""Races that only the other order leads to: what they do is told of the one that leads there."""

from pathlib import Path

import pytest
from tests.judge.bench import Bench, bench
from tests.judge.conftest import Program
from tests.judge.truth import truth_of

from eitherway.model.finding import Finding
from eitherway.model.words import Class
from eitherway.worlds.threads.run import Ran

pytestmark = pytest.mark.usefixtures("fixed")
BOUNDS = range(3)  # preemptions: one of these needs two


def judged(made: Bench) -> tuple[dict[str, Finding], list[Ran]]:
    """The races of a run in turns, by variable, and the runs that show what they do."""
    kept: list[Ran] = []

    def keep(ran: Ran) -> Path:
        kept.append(ran)
        return Path(f"run-{len(kept)}")

    ran = made.explorer.run(scheduler="round-robin", detect=True)
    told = [made.judge.judged(finding, ran, keep) for finding in made.races_in(ran).values()]
    return {finding.operations[0].variable: finding for finding in told}, kept


@pytest.mark.parametrize(
    ("mode", "klass", "other"),
    [
        ("crash", Class.SPEC_VIOLATED, "read of size 4 by thread T1 at opens.c:23"),
        ("twice", Class.SPEC_VIOLATED, "read of size 4 by thread T2 at opens.c:50"),
        ("freed", Class.SPEC_VIOLATED, "the free by thread T1"),
        ("printed", Class.OUTPUT_DIFFERS, "read of size 4 by thread T1 at opens.c:104"),
    ],
)
def test_what_the_other_order_leads_to_counts(
    program: Program, mode: str, klass: Class, other: str
) -> None:
    with bench([program("opens"), mode]) as made:
        found, kept = judged(made)
        assert set(found) == {"mode"}
        assert found["mode"].klass is klass
        assert truth_of(made.explorer, made.tracer, BOUNDS) is klass
        (words,) = (
            line for line in found["mode"].explanation if "the recorded run does not" in line
        )
        assert other in words
        assert len(kept) == len(found["mode"].orders)
        for ran in kept:
            assert not made.explorer.run(replay=ran).differences(ran)


def test_it_is_not_told_of_a_race_that_leads_nowhere(program: Program) -> None:
    with bench([program("opens"), "anyway"]) as made:
        found, _ = judged(made)
    assert {name: finding.klass for name, finding in found.items()} == {
        "hits": Class.K_WITNESS_HARMLESS,
        "mode": Class.SPEC_VIOLATED,
    }


def test_when_there_are_too_many_that_is_said(program: Program) -> None:
    with bench([program("opens"), "many"]) as made:
        found, _ = judged(made)
    assert found["mode"].klass is Class.K_WITNESS_HARMLESS
    (words,) = (line for line in found["mode"].explanation if "the recorded run does not" in line)
    assert words.endswith("there may be more of them, which were not.")
