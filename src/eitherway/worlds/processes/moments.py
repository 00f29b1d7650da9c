# SPDX-License-Identifier: Apache-2.0
"""Moments of a run in what it writes: they are others in every run, whatever the order.

Told by clocks, or by the times of files: seconds since 1970, with what is behind them, and times of
day to the second. Numbers that are no moment of this run stay as they are.
"""

import re
import struct
import time
from collections.abc import Iterator

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import DataKind, Log

TIME = "<time>"
_SINCE_1970 = re.compile(r"(?<![\d.])(\d{10})(?:\d{3}|\d{6}|\d{9})?(?:[.,]\d+)?(?!\d)")
_OF_DAY = re.compile(r"(?<!\d)(?<!\d:)(?:[01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,]\d+)?(?!\d|:\d)")
_LONGEST = 60  # seconds: how long ago a run that tells no time may have begun
_LATER = 2
_FAR = 1 << 40  # no moment: what failed
_ZONES = 15 * 60  # all are so many seconds apart
_REAL = (0, 5)  # CLOCK_REALTIME and its coarse one
_PAIR = struct.Struct("<q")  # seconds come first
_NUMBERS = {call.name: number for number, call in CALLS.items()}
_CLOCK, _OF_DAY_CALL, _SECONDS = (
    _NUMBERS[name] for name in ("clock_gettime", "gettimeofday", "time")
)


class Moments:
    """Of one run that has just ended."""

    def __init__(self, log: Log) -> None:
        """Who sleeps finds the clock put on, so it may have told times that are yet to come."""
        now = int(time.time())
        told = [moment for moment in _told(log) if 0 < moment < _FAR]
        began = log.ending.began // 10**9
        self._first = min([began or now - _LONGEST, *told])
        self._last = max([now, *told]) + _LATER

    def masked(self, text: str) -> str:
        """The same text for the same run at another moment."""
        text = _SINCE_1970.sub(self._since_1970, text)
        return _OF_DAY.sub(self._of_day, text)

    def _since_1970(self, match: re.Match[str]) -> str:
        return TIME if self._first <= int(match[1]) <= self._last else match[0]

    def _of_day(self, match: re.Match[str]) -> str:
        """In whatever zone."""
        second = 60 * int(match[1]) + int(match[2])
        behind = (second - self._first) % _ZONES
        return TIME if behind <= self._last - self._first else match[0]


def _told(log: Log) -> Iterator[int]:
    for datum in log.data:
        call = log.calls[datum.call]
        if datum.kind is not DataKind.CAME_FROM_OUTSIDE or len(datum.data) < _PAIR.size:
            continue
        of_clock = int(call["number"]) == _CLOCK and int(call["a0"]) in _REAL
        if of_clock or int(call["number"]) == _OF_DAY_CALL:
            yield _PAIR.unpack_from(datum.data)[0]
    for result in log.calls["result"][log.calls["number"] == _SECONDS].tolist():
        yield int(result)
