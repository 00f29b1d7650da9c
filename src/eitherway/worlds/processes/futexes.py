# SPDX-License-Identifier: Apache-2.0
"""Futexes in memory that processes share: who was woken comes after who woke it.

What the memory says is not looked at, so nothing is known of who did not have to wait.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field

from eitherway.model.described import Described
from eitherway.model.words import EdgeKind, OpKind
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.operations import Operations

_COMMAND = 0x7F  # without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME
_WAITS = {0, 9, 11}  # FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI
_WAKES = {1, 3, 4, 5, 10, 12}  # FUTEX_WAKE, *_REQUEUE, FUTEX_WAKE_OP, FUTEX_WAKE_BITSET
_LOCKS, _UNLOCKS = {6, 8, 13}, {7}  # FUTEX_LOCK_PI and its like, FUTEX_UNLOCK_PI


@dataclass(slots=True)
class _Futex:
    woken: deque[tuple[int, int]] = field(default_factory=deque)  # when, operation: one for each
    unlocked: int | None = None


class Futexes:
    """Of one run, call after call."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._futexes: dict[tuple[int, int], _Futex] = defaultdict(_Futex)

    def follow(self, call: Call) -> None:
        """A call that is over; nothing of one in memory of its process alone."""
        if call.name != "futex" or not call.object or not call.worked:
            return
        command, futex = call.arguments[1] & _COMMAND, self._futexes[call.object, call.position]
        about = Described("futex in shared memory")
        operation = self._operations.add(call.thread, OpKind.OTHER, 0, call=call, about=about)
        if command in _WAKES:
            futex.woken.extend([(call.when, operation)] * call.result)
        elif command in _WAITS:
            self._woken(futex, call, operation)
        elif command in _UNLOCKS:
            futex.unlocked = operation
        elif command in _LOCKS and futex.unlocked is not None:
            self._operations.woken(futex.unlocked, operation, EdgeKind.CHANCE)

    def _woken(self, futex: _Futex, call: Call, operation: int) -> None:
        """By one that came after it had begun to wait; an older one woke somebody who is gone."""
        while futex.woken:
            when, source = futex.woken.popleft()
            if call.when < when:
                self._operations.woken(source, operation)
                return
