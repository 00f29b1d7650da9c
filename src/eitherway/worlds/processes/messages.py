# SPDX-License-Identifier: Apache-2.0
"""POSIX queues: of the messages with the highest priority the oldest is taken."""

import heapq
from collections import defaultdict
from collections.abc import Hashable

from eitherway.model.described import Described
from eitherway.model.words import OpFlag, OpKind
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.operations import Operations
from eitherway.worlds.processes.paths import Paths

_ABOUT = Described("message queue")


class Messages:
    """Of one run, call after call."""

    def __init__(self, operations: Operations, paths: Paths) -> None:
        self._operations = operations
        self._paths = paths
        self._waiting: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)

    def follow(self, call: Call) -> None:
        """A call that is over: which one it gave or took."""
        if call.name == "mq_timedsend" and call.worked:
            operation = self._add(call, OpKind.WAKE, OpFlag.CUMULATIVE)
            priority = call.arguments[3] & 0xFFFFFFFF
            heapq.heappush(self._waiting[self._key(call)], (-priority, operation))
        elif call.name == "mq_timedreceive":
            failed = OpFlag.NONE if call.worked else OpFlag.FAILED
            operation = self._add(call, OpKind.WAIT, OpFlag.WILDCARD | failed)
            if call.worked and (waiting := self._waiting[self._key(call)]):
                self._operations.edge(heapq.heappop(waiting)[1], operation)

    def _add(self, call: Call, kind: OpKind, flags: OpFlag) -> int:
        touched = self._operations.range("messages", self._key(call))
        return self._operations.add(
            call.thread, kind, touched, call=call, flags=flags, about=_ABOUT
        )

    def _key(self, call: Call) -> Hashable:
        return call.object, self._paths.life(call.object)
