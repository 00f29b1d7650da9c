# SPDX-License-Identifier: Apache-2.0
"""What the runtime found, until it is confirmed."""

import numpy as np

from eitherway.find.candidates import Candidates, seen_again
from eitherway.find.ways import Way
from eitherway.worlds.threads.family import FOUND


def rows(*places: tuple[int, int]) -> np.ndarray:
    """Races at these places of the code, at these steps."""
    made = np.zeros(len(places), dtype=FOUND)
    made["pc"], made["step"] = zip(*places, strict=True)
    made["kind"], made["op"], made["past_op"] = 1, 1, 2
    return made


def test_in_another_run_they_are_where_that_one_saw_them() -> None:
    way, known = Way("pct", 3), Candidates()
    first = [known.new(way, row) for row in rows((100, 7), (200, 8))]
    candidates = [one for one in first if one is not None]
    again = seen_again(candidates, rows((200, 6), (300, 9), (200, 12)))
    assert [(one.key, one.step) for one in again] == [(candidates[1].key, 6)]


def test_a_run_that_saw_nothing_confirms_nothing() -> None:
    one = Candidates().new(Way("pct", 3), rows((100, 7))[0])
    assert one is not None
    assert seen_again([one], np.zeros(0, dtype=FOUND)) == []
