# SPDX-License-Identifier: Apache-2.0
"""A WAIT that one of several WAKEs can end, and a WAKE other than the one that ended it.

Needs a wildcard WAIT W that a WAKE U ended, and another WAKE V that matches W (overlapping ranges),
such that W did not happen before V, V had not been used up before (the last WAIT that V ended did
not happen before W), and

* U did not happen before V: V could have been the first; or
* both are cumulative: even if V must follow U, W may come behind both and see them together.

Told once per place of the WAIT and pair of places of the WAKEs, in the order of inherent edges.

Cost: for each object, the pairs (U, W) times the lines of WAKEs there (see `wakes`), each with a
few bisections; memory one number per such operation and actor on its object.
"""

from collections.abc import Iterator

from eitherway.detect.wakes import Board, Ended, Line
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag


def find(order: Order) -> list[Race]:
    """First witnesses per three places."""
    races = _races(Board(order, OpFlag.WILDCARD))
    return sorted(races, key=lambda race: race.operations)


def _races(board: Board) -> Iterator[Race]:
    wakes = board.wakes()
    told = set[tuple[int, int, int]]()
    for ended in board.ended():
        for line in wakes[ended.wait.key.object]:
            wait, one, other = ended.wait.key.place, ended.wake.key.place, line.key.place
            key = (wait, min(one, other), max(one, other))
            if key in told or not board.overlap(ended.wait.key, line.key):
                continue
            for race in _choices(ended, line):
                told.add(key)
                yield race


def _choices(ended: Ended, line: Line) -> Iterator[Race]:
    """At most one WAKE of the line that could have been there instead."""
    cumulative = ended.wake.key.flags & line.key.flags & OpFlag.CUMULATIVE
    end = line.not_after(ended.wait if cumulative else ended.wake)
    choice = line.choose(end * 0, end, without=ended.wake, since=ended.wait)
    if choice is not None:
        question, other = choice
        three = (int(ended.wake.operation[question]), int(ended.wait.operation[question]), other)
        yield Race(Kind.WAIT_WAKEUPS, tuple(sorted(three)))
