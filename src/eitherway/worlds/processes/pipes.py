# SPDX-License-Identifier: Apache-2.0
"""Who wrote what a reader of a pipe got: bytes are counted as they go in and come out."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field

Key = Hashable  # object and its life, or what else is given and taken in order


@dataclass(slots=True)
class _Pipe:
    written: int = 0  # bytes
    read: int = 0
    writes: list[tuple[int, int, int]] = field(default_factory=list)  # from, to, operation
    ends: list[int] = field(default_factory=list)


class Pipes:
    """Of one run; operations are numbers of its trace."""

    def __init__(self) -> None:
        self._pipes: dict[Key, _Pipe] = defaultdict(_Pipe)

    def write(self, key: Key, length: int, operation: int) -> None:
        """So many bytes went in."""
        pipe = self._pipes[key]
        pipe.writes.append((pipe.written, pipe.written + length, operation))
        pipe.written += length

    def afresh(self, key: Key) -> None:
        """What was there before counts no more."""
        self._pipes[key] = _Pipe()

    def ready(self, key: Key) -> list[int]:
        """The operation without which there would be nothing to read, or the end."""
        pipe = self._pipes[key]
        return [write for _, _, write in pipe.writes[:1]] or list(pipe.ends)

    def let_go(self, key: Key, operation: int) -> None:
        """A writing end is nobody's any more."""
        self._pipes[key].ends.append(operation)

    def read(self, key: Key, length: int, *, every: bool = False) -> list[int]:
        """The operations without which a read could not have got so many bytes, or the end.

        `every`: it gets all that was written since the last, as one.
        """
        pipe = self._pipes[key]
        if every:
            needed, pipe.writes = [write for _, _, write in pipe.writes], []
            return needed
        if length == 0:
            return list(pipe.ends)
        begin, pipe.read = pipe.read, pipe.read + length
        needed = [write for lo, hi, write in pipe.writes if lo < pipe.read and begin < hi]
        pipe.writes = [row for row in pipe.writes if row[1] > pipe.read]
        return needed
