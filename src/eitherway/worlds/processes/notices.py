# SPDX-License-Identifier: Apache-2.0
"""What inotify tells: who reads it comes after those whose changes it is told of."""

from collections import defaultdict

from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.descriptors import Descriptors
from eitherway.worlds.processes.operations import Operations

_READS = ("read", "readv")
_SHORTEST = 16  # bytes of an event: so many can have been read at most


class Notices:
    """Of one run, call after call."""

    def __init__(self, operations: Operations, descriptors: Descriptors) -> None:
        self._operations = operations
        self._descriptors = descriptors
        self._watchers: dict[int, set[int]] = defaultdict(set)  # handles, by what is watched
        self._told: dict[int, list[int]] = {}  # changes that were not read yet, by handle

    def changed(self, object_: int, operation: int) -> None:
        """A file, or a directory in an entry of it."""
        for handle in self._watchers.get(object_, ()):
            self._told[handle].append(operation)

    def follow(self, call: Call) -> None:
        """Who begins to watch, and who is told."""
        if call.name == "inotify_add_watch" and (watched := call.watched):
            handle = self._handle(call)
            self._watchers[watched].add(handle)
            self._told.setdefault(handle, [])
        elif self._told and call.name in _READS and call.result > 0:
            waiting = self._told.get(self._handle(call), [])
            count = call.result // _SHORTEST
            self._operations.edges(waiting[:count], self._operations.last[call.thread])
            del waiting[:count]

    def _handle(self, call: Call) -> int:
        return self._descriptors.handle(call.thread, call.descriptor(), call.object).number
