# SPDX-License-Identifier: Apache-2.0
"""A WAIT that one of several WAKEs can end, and a WAKE other than the one that ended it.

Needs a wildcard WAIT W that a WAKE U ended, and another WAKE V that matches W (overlapping ranges),
such that W did not happen before V, V had not been used up before (the last WAIT that V ended did
not happen before W), and

* U did not happen before V: V could have been the first; or
* both are cumulative: even if V must follow U, W may come behind both and see them together.

Told once per place of the WAIT and pair of places of the WAKEs, in the order of inherent edges.

Cost: for each object, the pairs (U, W) times the lines of WAKEs there (see `wakes`), each with a
few bisections, in numpy, where it is not told already and not out of the question at first sight;
memory one number per such operation and actor on its object.
"""

from collections.abc import Iterator
from functools import partial

from eitherway.detect.wakes import Board, Choices, Ended, Line, Lines, Mask, Told
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag


def find(order: Order) -> list[Race]:
    """First witnesses per three places."""
    races = _races(Board(order, OpFlag.WILDCARD))
    return sorted(races, key=lambda race: race.operations)


def _races(board: Board) -> Iterator[Race]:
    wakes, told = board.wakes(), Told(board)
    for ended in board.ended():
        lines = wakes[ended.wait.key.object]
        if told.knows_all(ended.wait, ended.wake, lines):
            continue
        for line in lines.where(partial(_may_be, ended)):
            known = told.knows(ended.wait, ended.wake, line)
            if not known and board.overlap(ended.wait.key, line.key):
                questions, others = _choices(ended, line)
                wake, wait = ended.wake.operation[questions], ended.wait.operation[questions]
                for three in told.new(wait, wake, others):
                    yield Race(Kind.WAIT_WAKEUPS, three)


def _may_be(ended: Ended, lines: Lines) -> Mask:
    """Had the last WAIT happened before a WAKE, so had the WAKEs that ended them all."""
    waits = ended.wait.operation
    return lines.not_after(int(waits[-1])) & lines.partner_not_before(int(waits[0]))


def _choices(ended: Ended, line: Line) -> Choices:
    """WAKEs of the line that could have been there instead."""
    cumulative = ended.wake.key.flags & line.key.flags & OpFlag.CUMULATIVE
    end = line.not_after(ended.wait if cumulative else ended.wake)
    return line.choose(end * 0, end, without=ended.wake, since=ended.wait)
