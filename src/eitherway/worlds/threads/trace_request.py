# SPDX-License-Identifier: Apache-2.0
"""How much of a run a trace is to tell: whoever asks says how deep, where and when."""

from dataclasses import dataclass
from enum import IntEnum

_U32, _U64 = 2**32 - 1, 2**64 - 1
RANGES = 64  # of addresses, beside the first


class Depth(IntEnum):
    """Each has what the one before has."""

    SYNC = 0  # synchronisation, atomic operations among it, and the lives of threads
    ACCESSES = 1  # plain accesses
    VALUES = 2  # what each access read or wrote


@dataclass(frozen=True, slots=True)
class Where:
    """Addresses [low, high), counted from where the program lies when `relative`."""

    low: int = 0
    high: int = _U64
    relative: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= _U64:
            raise ValueError(f"no addresses: from {self.low:#x} to {self.high:#x}")

    def __str__(self) -> str:
        """For people."""
        return f"{self.low:#x} to {self.high - 1:#x}"


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """What to tell; synchronisation is told whatever `where` says, so that order stays known.

    Threads' starts and ends are told at any step. Between two operations of a window everything
    that orders them is in the window too.
    """

    depth: Depth = Depth.ACCESSES
    frames: int = _U32  # callers of each operation, the nearest ones
    start: int = 0  # first step
    stop: int = _U64  # step after the last
    where: Where = Where()
    also: tuple[Where, ...] = ()  # the same of these; relative if `where` is
    left: bool = False  # of a branch, what memory is at its end, too

    def __post_init__(self) -> None:
        if len(self.also) > RANGES or any(a.relative != self.where.relative for a in self.also):
            raise ValueError(f"at most {RANGES} more ranges, counted as the first is")
        if not 0 <= self.frames <= _U32:
            raise ValueError(f"{self.frames} frames cannot be told")
        if not 0 <= self.start < self.stop <= _U64:
            raise ValueError(f"no steps: from {self.start} to {self.stop}")

    def only(self) -> list[str]:
        """What a trace of this has instead of all operations; empty when it has them all."""
        words = {
            "synchronisation": self.depth is Depth.SYNC,
            f"steps {self.start} to {self.stop - 1}": (self.start, self.stop) != (0, _U64),
            f"accesses to {', '.join(map(str, self.all_of_where()))}": self.where != Where(),
        }
        return [what for what, so in words.items() if so]

    def all_of_where(self) -> tuple[Where, ...]:
        """Every range."""
        return (self.where, *self.also)

    def options(self) -> dict[str, int | str]:
        """For the runtime, as native/runtime/options.c names them; what is usual is left out."""
        numbers = self._numbers()
        more = ",".join(f"{where.low}-{where.high}" for where in self.also)
        return {**numbers, "trace-also": more} if more else {**numbers}

    def _numbers(self) -> dict[str, int]:
        told = {
            "trace-depth": (self.depth, Depth.ACCESSES),
            "trace-frames": (self.frames, _U32),
            "trace-from": (self.start, 0),
            "trace-until": (self.stop, _U64),
            "trace-low": (self.where.low, 0),
            "trace-high": (self.where.high, _U64),
            "trace-relative": (self.where.relative, False),
            "trace-left": (self.left, False),
        }
        return {name: int(value) for name, (value, usual) in told.items() if value != usual}


USUAL = TraceRequest()
