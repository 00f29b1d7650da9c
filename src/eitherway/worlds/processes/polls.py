# SPDX-License-Identifier: Apache-2.0
"""What a poll, a select or an epoll waits at, and which of it was ready."""

import struct
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.descriptors import Descriptors
from eitherway.worlds.processes.log import Log

_POLLED = struct.Struct("<ihh")  # pollfd: descriptor, asked for, found
_EVENT = struct.Struct("<IQ")  # epoll_event: what, and the program's own word for the descriptor
_READS = 0x0001 | 0x0002 | 0x2000  # POLLIN, POLLPRI, POLLRDHUP
_OVER = 0x0008 | 0x0010  # POLLERR, POLLHUP: told unasked
_DELETE = 2  # EPOLL_CTL_DEL
_POLLS = {"poll", "ppoll", "select", "pselect6"}
_EPOLLS = {"epoll_wait", "epoll_pwait", "epoll_pwait2"}


class Polled(NamedTuple):
    """A descriptor that something is to be read from, and whether that would not wait."""

    descriptor: int
    ready: bool


class Polls:
    """Of one run, call after call."""

    def __init__(self, log: Log, descriptors: Descriptors) -> None:
        self._log = log
        self._descriptors = descriptors
        self._sets: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)  # by epoll handle

    def of(self, call: Call) -> Iterator[Polled]:
        """What a call that is over waited at; a set that changes is noted."""
        if call.name == "epoll_ctl" and call.worked:
            self._change(call)
        elif call.name in _POLLS and call.worked:
            yield from self._polled(call)
        elif call.name in _EPOLLS and call.worked:
            yield from self._of_epoll(call)

    def _polled(self, call: Call) -> Iterator[Polled]:
        for descriptor, asked, found in _POLLED.iter_unpack(self._noted(call, _POLLED)):
            if descriptor >= 0 and asked & _READS:
                yield Polled(descriptor, call.result > 0 and bool(found & (_READS | _OVER)))

    def _change(self, call: Call) -> None:
        descriptors = self._sets[self._handle(call)]
        descriptor = call.arguments[2] & 0xFFFFFFFF
        noted = self._noted(call, _EVENT)
        if call.arguments[1] == _DELETE:
            descriptors.pop(descriptor, None)
        elif noted:
            descriptors[descriptor] = _EVENT.unpack_from(noted)

    def _of_epoll(self, call: Call) -> Iterator[Polled]:
        """By the program's own words; where two descriptors have one, which it was is not known."""
        waited = self._sets[self._handle(call)]
        noted = self._noted(call, _EVENT) if call.result > 0 else b""
        found = {word for what, word in _EVENT.iter_unpack(noted) if what & (_READS | _OVER)}
        words = [word for _, word in waited.values()]
        for descriptor, (asked, word) in waited.items():
            if asked & _READS and words.count(word) == 1:
                yield Polled(descriptor, word in found)

    def _handle(self, call: Call) -> int:
        return self._descriptors.handle(call.thread, call.descriptor(), call.object).number

    def _noted(self, call: Call, of: struct.Struct) -> bytes:
        """Nothing where the recorder does not look into memory."""
        noted = self._log.texts[call.value] if call.value < len(self._log.texts) else b""
        return noted[: len(noted) // of.size * of.size]
