# SPDX-License-Identifier: Apache-2.0
"""Locks of files and of ranges of their bytes: who has which part, and what comes after what.

Where any lock of a file begins or ends in the run, the file is cut; a lock is one of each part that
it covers. So locks that overlap have a part in common, and those that do not have none.
"""

import errno
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from eitherway.model.described import Described
from eitherway.model.words import EdgeKind, OpFlag, OpKind
from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.calls import Call, call_of
from eitherway.worlds.processes.descriptors import Handle
from eitherway.worlds.processes.log import LOCK_OF_BYTES, SETS_LOCK, Log
from eitherway.worlds.processes.meaning import ALL, Micro, Places, locked_bytes
from eitherway.worlds.processes.operations import Operations
from eitherway.worlds.processes.paths import Paths

Owner = int | Handle  # a process, or an open file
_Key = tuple[str, int, int]  # flock or lock; the object and which of its lives
_SORTS = ("flock", "lock")
_PARTS = 64  # of one file; where there would be more, it is taken for one
_FCNTL = next(number for number, call in CALLS.items() if call.name == "fcntl")


@dataclass(slots=True)
class _Had:
    """By one owner."""

    shared: bool
    times: int = 1  # that it was taken: a lock is changed by taking it in another way


@dataclass(slots=True)
class _Part:
    """Who has it, and the operations by which it was given back.

    Who shares it comes after who had it alone; who has it alone after all who shared it besides.
    """

    owners: dict[Owner, _Had] = field(default_factory=dict)
    alone: int | None = None
    shared: list[int] = field(default_factory=list)  # since then

    def is_as(self, owner: Owner, *, shared: bool) -> bool:
        """Whether it has just what it asks for."""
        had = self.owners.get(owner)
        return had is not None and had.shared is shared

    def keeps_out(self, owner: Owner, *, shared: bool) -> bool:
        """Whether another has it, and not together with who shares it."""
        others = (had for other, had in self.owners.items() if other != owner)
        return any(not (shared and had.shared) for had in others)

    def comes_after(self, *, shared: bool) -> list[int]:
        """Who takes it."""
        alone = [] if self.alone is None else [self.alone]
        return alone if shared else [*alone, *self.shared]

    def taken(self, owner: Owner, operation: int, *, shared: bool) -> None:
        """Who had it alone and shares it from here on lets others in."""
        had = self.owners.get(owner)
        if had is not None and shared and not had.shared:
            self.alone, self.shared = operation, []
        self.owners[owner] = _Had(shared, had.times + 1 if had else 1)

    def given_back(self, owner: Owner, operation: int) -> None:
        """By this operation."""
        if self.owners.pop(owner).shared:
            self.shared.append(operation)
        else:
            self.alone, self.shared = operation, []


_Placed = tuple[Places, _Part]


class FileLocks:
    """Of one run."""

    def __init__(self, log: Log, operations: Operations, paths: Paths) -> None:
        self._operations = operations
        self._paths = paths
        self._cuts = _cuts_of(log)
        self._parts: dict[_Key, dict[Places, _Part]] = defaultdict(dict)

    def take(self, call: Call, micro: Micro, owner: Owner) -> None:
        """Or try to; who has it already is not told twice."""
        shared = bool(micro.flags & OpFlag.SHARED)
        if micro.sort == "flock":
            self._let_others_in(call, micro, owner, shared=shared)
        parts = list(self._covered(micro))
        if not call.worked:
            parts = [each for each in parts if each[1].keeps_out(owner, shared=shared)] or parts
        for places, part in parts:
            if call.worked and part.is_as(owner, shared=shared):
                continue
            operation = self._add(call.thread, call, micro, places, micro.flags)
            if call.worked:
                for released in part.comes_after(shared=shared):
                    self._operations.edge(released, operation, EdgeKind.CHANCE)
                part.taken(owner, operation, shared=shared)

    def _let_others_in(self, call: Call, micro: Micro, owner: Owner, *, shared: bool) -> None:
        """Who asks flock for it in another way gives it back first, also where it is not got."""
        others = [part for part in self._covered(micro) if not part[1].is_as(owner, shared=shared)]
        if call.worked or call.result == -errno.EWOULDBLOCK:
            self._give(call.thread, call, micro._replace(kind=OpKind.RELEASE), owner, others)

    def give(self, call: Call, micro: Micro, owner: Owner) -> None:
        """What of it this owner has."""
        self._give(call.thread, call, micro, owner, self._covered(micro))

    def drop(self, thread: int, call: Call | None, owner: Owner, object_: int) -> None:
        """All that this owner has of one file."""
        for sort in _SORTS:
            self._drop(thread, call, owner, (sort, object_, self._paths.life(object_)))

    def drop_all(self, thread: int, call: Call | None, owner: Owner) -> None:
        """All that this owner has."""
        for key in list(self._parts):
            self._drop(thread, call, owner, key)

    def _drop(self, thread: int, call: Call | None, owner: Owner, key: _Key) -> None:
        if key in self._parts:
            micro = Micro(OpKind.RELEASE, *key[:2])
            self._give(thread, call, micro, owner, self._parts[key].items())

    def _give(
        self, thread: int, call: Call | None, micro: Micro, owner: Owner, parts: Iterable[_Placed]
    ) -> None:
        for places, part in parts:
            if had := part.owners.get(owner):
                given = [self._add(thread, call, micro, places) for _ in range(had.times)]
                part.given_back(owner, given[-1])

    def _covered(self, micro: Micro) -> Iterator[_Placed]:
        cuts = self._cuts.get(micro.object, ()) if micro.sort == "lock" else ()
        inner = cuts[bisect_right(cuts, micro.lo) : bisect_left(cuts, micro.hi)]
        edges = [micro.lo, *inner, micro.hi] if cuts else [0, ALL]
        parts = self._parts[self._key(micro)]
        for places in pairwise(edges):
            yield places, parts.setdefault(places, _Part())

    def _key(self, micro: Micro) -> _Key:
        return micro.sort, micro.object, self._paths.life(micro.object)

    def _add(
        self,
        thread: int,
        call: Call | None,
        micro: Micro,
        places: Places,
        flags: OpFlag = OpFlag.NONE,
    ) -> int:
        lo, hi = places
        touched = self._operations.range(*self._key(micro), lo=lo, hi=hi)
        part = "" if places == (0, ALL) else _told(lo, hi)
        about = Described("file lock", self._paths.of(micro.object), part)
        return self._operations.add(
            thread, micro.kind, touched, call=call, flags=flags, about=about
        )


def _told(lo: int, hi: int) -> str:
    if hi == ALL:
        return f"bytes from {lo} on"
    return f"byte {lo}" if hi == lo + 1 else f"bytes {lo} to {hi - 1}"


def _cuts_of(log: Log) -> Mapping[int, list[int]]:
    """Of each file that is locked in parts: where these begin and end."""
    calls = log.calls
    sets = (calls["number"] == _FCNTL) & np.isin(calls["a1"], list(SETS_LOCK))
    found: dict[int, set[int]] = defaultdict(set)
    for number in np.flatnonzero(sets & (calls["value"] & LOCK_OF_BYTES != 0)).tolist():
        call = call_of(log, number)
        found[call.object] |= set(locked_bytes(call))
    return {
        object_: sorted(cuts)
        for object_, cuts in found.items()
        if 2 < len(cuts | {0, ALL}) <= _PARTS
    }
