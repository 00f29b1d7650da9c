# SPDX-License-Identifier: Apache-2.0
"""What a run shows lies in memory that the program may write to: a wild store is its own fault."""

import os

from eitherway.recording.layout import GUIDE_HEAD
from eitherway.worlds.threads.guide import End, PairEnd, shown


def test_a_run_that_overwrote_what_it_shows_says_nothing() -> None:
    descriptor = os.memfd_create("guide")
    try:
        os.write(descriptor, b"\xff" * GUIDE_HEAD.size)
        found = shown(descriptor)
    finally:
        os.close(descriptor)
    assert (found.end, found.pair_end) == (End.TOO_LONG, PairEnd.NOT_REACHED)
