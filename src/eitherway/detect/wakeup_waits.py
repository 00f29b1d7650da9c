# SPDX-License-Identifier: Apache-2.0
"""A WAKE that can end one of several WAITs, and a WAIT other than the one that it ended.

Needs a WAKE U that ended a WAIT W, and another WAIT X that matches U (overlapping ranges), such
that X did not happen before U, X does not need W behind it (W did not happen before X, unless W
gives up by itself), and

* the last WAKE that ended X, if any, did not happen before U: else X had its WAKE already; or
* U is cumulative: X could have taken it together with its own.

Told once per place of the WAKE and pair of places of the WAITs, in the order of inherent edges.

Cost: as `wait_wakeups`, with WAITs and WAKEs changed over.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from eitherway.detect.wakes import Board, Choices, Ended, Line, Lines, Mask, Told
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.words import Kind, OpFlag


def find(order: Order) -> list[Race]:
    """First witnesses per three places."""
    return sorted(_races(Board(order)), key=lambda race: race.operations)


def _races(board: Board) -> Iterator[Race]:
    waits, told = board.waits(), Told(board)
    for ended in board.ended():
        lines = waits[ended.wake.key.object]
        if told.knows_all(ended.wake, ended.wait, lines):
            continue
        for line in lines.where(partial(_may_be, ended)):
            known = told.knows(ended.wake, ended.wait, line)
            if not known and board.overlap(ended.wake.key, line.key):
                questions, others = _choices(ended, line)
                wake, wait = ended.wake.operation[questions], ended.wait.operation[questions]
                for three in told.new(wake, wait, others):
                    yield Race(Kind.WAKEUP_WAITS, three)


def _may_be(ended: Ended, lines: Lines) -> Mask:
    """What holds for no WAIT of a line need not be asked of each."""
    first, last = int(ended.wake.operation[0]), int(ended.wait.operation[-1])
    may_be = lines.not_before(first)
    if not ended.wait.key.flags & OpFlag.TRY:
        may_be &= lines.not_after(last)
    if not ended.wake.key.flags & OpFlag.CUMULATIVE:
        may_be &= lines.partner_not_before(first)
    return may_be


def _choices(ended: Ended, line: Line) -> Choices:
    """WAITs of the line that could have been ended instead."""
    cumulative = ended.wake.key.flags & OpFlag.CUMULATIVE
    gives_up = ended.wait.key.flags & OpFlag.TRY
    begin = line.before(ended.wake)
    end = np.full_like(begin, len(line.operation)) if gives_up else line.not_after(ended.wait)
    return line.choose(begin, end, without=ended.wait, since=None if cumulative else ended.wake)
