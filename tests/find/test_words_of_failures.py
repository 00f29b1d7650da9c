# SPDX-License-Identifier: Apache-2.0
"""How often a run ended badly, and what that says of races."""

from collections import Counter

import pytest

from eitherway.find.endings import Ending, Endings, How
from eitherway.find.failures import consequence

WELL, CRASH, ABORT = Ending(How.EXIT), Ending(How.SIGNAL, 11), Ending(How.SIGNAL, 6)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({CRASH: 3, WELL: 57}, "is killed by SIGSEGV in 3 of 60 schedules."),
        ({CRASH: 3, ABORT: 57}, "in 3 of 60 schedules; none of them ends well."),
        ({CRASH: 60}, "in every one of 60 schedules: no order that was tried avoids it"),
        ({CRASH: 1}, "is killed by SIGSEGV in the one schedule that was run."),
    ],
)
def test_what_no_order_avoids_is_said_to_be_so(counts: dict[Ending, int], words: str) -> None:
    assert words in consequence(CRASH, Endings(Counter(counts)))
