# SPDX-License-Identifier: Apache-2.0
"""The mix of policies follows from one seed, and is told what earlier runs have shown."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from eitherway.errors import UsageError
from eitherway.worlds.threads.guide import THREAD, Shown
from eitherway.worlds.threads.places import Places
from eitherway.worlds.threads.policies import (
    DEPTH_FIRST,
    MIX,
    POLICIES,
    Interesting,
    Turn,
    chosen,
    turns,
)

SCHEDULERS = Path(__file__).parents[2] / "native/runtime/schedulers"
NOT_CHOSEN = {"replay", "branch", "turns"}  # they need a run to follow


def measured(*rows: tuple[int, int, int]) -> Shown:
    threads = np.array([(*row, *[0] * 5) for row in rows], dtype=THREAD)
    return Shown(asked=40, threads=threads)


def test_every_policy_has_its_file() -> None:
    files = {path.stem.replace("_", "-") for path in SCHEDULERS.glob("*.c")}
    assert files == set(POLICIES) | NOT_CHOSEN


def test_the_mix_is_the_same_for_the_same_seed() -> None:
    one, two = list(islice(turns(7), 50)), list(islice(turns(7), 50))
    assert one == two
    assert one[0] == Turn("round-robin", range(1))
    assert one[1].seeds != next(islice(turns(8), 1, None)).seeds


def test_every_policy_of_the_mix_comes_in_every_round() -> None:
    names = [turn.policy for turn in islice(turns(0), 1 + 3 * len(MIX))]
    assert set(names) == set(POLICIES)
    for start in range(1, len(names), len(MIX)):
        assert names[start : start + len(MIX)] == [turn.policy for turn in MIX]


def test_no_schedule_comes_twice_and_batches_grow_to_their_size() -> None:
    seen: set[int] = set()
    sizes = []
    for turn in islice(turns(3, size=2, most=8), 1, 60):
        if turn.policy == DEPTH_FIRST:
            continue
        assert not seen & set(turn.seeds)
        seen |= set(turn.seeds)
        sizes.append(len(turn.seeds))
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (2, 8)


def test_pct_is_told_how_long_runs_are() -> None:
    turn = Turn("pct", range(1), {"depth": 2})
    assert turn.guidance(Places(), measured((1, 0, 0))).tuning == {"depth": 2, "length": 40}
    assert turn.guidance(Places(), Shown()).tuning == {"depth": 2, "length": 1}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([(0, 0, 3), (0, 0, 3)], True),
        ([(0, 0, 3), (2, 0, 0)], False),  # one thread alone has nothing to be ordered with
        ([(9, 9, 0), (9, 9, 0)], False),
        ([], False),
    ],
)
def test_surw_counts_everything_where_nothing_of_the_kind_is(
    rows: list[tuple[int, int, int]], kept: bool
) -> None:
    turn = Turn("surw", range(1), {"interesting": int(Interesting.PLACE)})
    guidance = turn.guidance(Places.of([1]), measured(*rows))
    assert ("interesting" in guidance.tuning) == kept
    assert guidance.places == Places.of([1])
    assert guidance.expected is not None
    assert len(guidance.expected) == len(rows)


def test_a_person_names_a_policy_and_its_parameters() -> None:
    assert chosen("pos") == Turn("pos", range(0))
    assert chosen("pct:depth=4") == Turn("pct", range(0), {"depth": 4})
    assert chosen("depth-first:bound=0") == Turn(DEPTH_FIRST, range(0), {"bound": 0})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("best", "there is no scheduler best: random-walk, round-robin, pct, pos, surw"),
        ("", "there is no scheduler"),
        ("replay", "there is no scheduler replay"),
        ("pos:depth=3", "pos has no parameter depth; it takes: none"),
        ("pct:length=3", "pct has no parameter length; it takes: depth"),
        ("pct:depth", "pct: depth is a number from 1 to 64"),
        ("pct:depth=0", "pct: depth is a number from 1 to 64"),
        ("pct:depth=65", "pct: depth is a number from 1 to 64"),
        ("pct:depth=-1", "pct: depth is a number"),
        ("depth-first:bound=65", "depth-first: bound is a number from 0 to 64"),
        ("surw:interesting=8", "surw: interesting is a number from 1 to 7"),
    ],
)
def test_what_is_not_there_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        chosen(text)
