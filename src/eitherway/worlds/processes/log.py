# SPDX-License-Identifier: Apache-2.0
"""What the tracer wrote down of one run, as tables."""

import fcntl
import json
import signal
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, IntFlag
from functools import cached_property
from pathlib import Path

import numpy as np

from eitherway.errors import BadInput
from eitherway.model import shape
from eitherway.model.trace import Table
from eitherway.recording.blocks import tailed
from eitherway.recording.layout import BlockType
from eitherway.recording.read import Recording
from eitherway.worlds.processes.call_table import CALLS, NOT_MODELLED, ON_AARCH64

NO_POSITION = 2**64 - 1
_HERE = "x86_64"
_NUMBERS = {"aarch64": ON_AARCH64}  # of other machines, whose recordings can be read


class CallFlag(IntFlag):
    """As native/tracer/tracer.h has them."""

    NEVER_RETURNED = 1
    OTHERS_WENT_ON = 2
    APPENDS = 4
    NOT_SEEN_TO_END = 8
    GIVES = 16


class EventKind(IntEnum):
    """What happened to a process beside its calls; native/tracer/loop.c."""

    MADE = 1
    RUNS = 2
    ENDED = 3
    SIGNALLED = 4


class DataKind(IntEnum):
    """What bytes are; native/tracer/tracer.h."""

    CAME_FROM_OUTSIDE = 1
    STANDARD_OUTPUT = 2
    STANDARD_ERROR = 3


class _Input(IntEnum):
    """Numbers of the `input` block; native/tracer/log.c."""

    FACTS = 256
    ENDING = 257


_NUMBER = shape.number(0, 2**64 - 1)
_ENDING = shape.partial(
    standard_output=_NUMBER,
    standard_error=_NUMBER,
    forced=shape.some_text,
    turns=_NUMBER,
    status=_NUMBER,
    left_plan=shape.some_text,
    hangs=shape.some_text,
    endless=shape.some_text,
    late=shape.some_text,
    left_behind=shape.some_text,
    left=_NUMBER,
    not_modelled=shape.some_text,
    lost=_NUMBER,
    not_followed=_NUMBER,
    without_privileges=_NUMBER,
    refused_to_trace=_NUMBER,
    began=_NUMBER,
)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run went, by the tracer's own account."""

    standard_output: int  # object
    standard_error: int
    forced: str
    turns: int  # of the plan that were followed
    status: int  # of the command, as wait tells it
    left_plan: str = ""  # where, when the plan could not be followed to its end
    hangs: str = ""  # all slept, and nothing woke one
    endless: str = ""  # one computed for too long, or they made more calls than there should be
    late: str = ""  # it took longer than it may
    left_behind: str = ""
    left: int = 0  # processes that had to be ended
    not_modelled: str = ""  # numbers of calls without a meaning here, each with how often
    lost: int = 0  # records for which there was no room
    not_followed: int = 0  # paths whose beginning was gone, or that were too long
    without_privileges: int = 0  # programs that ran without what owner or capabilities give them
    refused_to_trace: int = 0  # calls of programs that trace others
    began: int = 0  # nanoseconds since 1970, by the clock that programs were told; 0: not known
    machine: str = _HERE

    @property
    def calls_not_modelled(self) -> Mapping[str, int]:
        """Those, by name."""
        pairs = (pair.split() for pair in self.not_modelled.split(",") if pair)
        counts = {int(number): int(count) for number, count in pairs}
        names = NOT_MODELLED if self.machine == _HERE else {}
        return {names.get(n) or _numbered(n): count for n, count in counts.items()}


_HIGHEST = 511  # native/tracer/unknown.c: those above are counted with it


def _numbered(number: int) -> str:
    return f"call {number}" + (" and above" if number == _HIGHEST else "")


@dataclass(frozen=True, slots=True)
class Datum:
    """Bytes that a call brought in or gave out."""

    call: int
    kind: DataKind
    data: bytes


@dataclass(frozen=True)
class Log:
    """The tables of one run; calls in the order in which they took effect."""

    calls: Table
    objects: Table
    lookups: Table  # sorted by call
    events: Table
    texts: tuple[bytes, ...]
    data: tuple[Datum, ...]
    facts: bytes
    ending: Ending

    @classmethod
    def read(cls, recording: Recording) -> "Log":
        """Refused when it is no recording of processes, or contradicts itself."""
        kinds = (
            BlockType.PROCESS_CALLS,
            BlockType.PROCESS_OBJECTS,
            BlockType.PROCESS_LOOKUPS,
            BlockType.PROCESS_EVENTS,
        )
        tables = recording.tables(*kinds)
        machine = recording.manifest.host.machine
        if machine != _HERE:
            calls = tables[BlockType.PROCESS_CALLS] = tables[BlockType.PROCESS_CALLS].copy()
            calls["number"] = numbers_here(calls["number"], machine, recording.path)
        inputs = {item.kind: item.data for item in recording.inputs()}
        try:
            ending = replace(_ending(inputs.get(_Input.ENDING), recording), machine=machine)
            log = _in_order(
                *(tables[kind] for kind in kinds),
                whole=not recording.incomplete,
                texts=tuple(text for _, text in _tails(recording, BlockType.PROCESS_TEXTS)),
                data=tuple(_data(recording)),
                facts=inputs.get(_Input.FACTS, b""),
                ending=ending,
            )
        except (KeyError, ValueError) as error:
            raise BadInput(f"{recording.path} is no recording of processes") from error
        return log

    @cached_property
    def lookup_ranges(self) -> tuple[Table, Table]:
        """Where the lookups of each call begin and end."""
        numbers = np.arange(len(self.calls))
        column = self.lookups["call"]
        return np.searchsorted(column, numbers), np.searchsorted(column, numbers, side="right")

    def lookups_of(self, call: int) -> Table:
        """In the order of the walk."""
        first, last = self.lookup_ranges
        found: Table = self.lookups[first[call] : last[call]]
        return found

    @cached_property
    def _decoded(self) -> dict[int, str]:
        return {}

    def text(self, number: int) -> str:
        """As file names are in Python; the same object each time."""
        found = self._decoded.get(number)
        if found is None:
            found = self.texts[number].decode("utf-8", "surrogateescape")
            self._decoded[number] = found
        return found


def numbers_here(numbers: Table, machine: str, path: Path) -> Table:
    """Calls that another machine numbers differently, as the table has them."""
    known = _NUMBERS.get(machine)
    found, place = np.unique(numbers, return_inverse=True)
    if known is None or not known.keys() >= set(found.tolist()):
        raise BadInput(f"{path} was recorded on '{machine}', whose calls are not known")
    return np.array([known[number] for number in found.tolist()], dtype=numbers.dtype)[place]


def _ending(told: bytes | None, recording: Recording) -> Ending:
    """What a tracer that was killed had no time to tell is not known."""
    if told is None and recording.incomplete:
        return Ending(1, 2, "not reached", 0, signal.SIGKILL)
    return Ending(**_ENDING(json.loads(told or b"")))


def effect(calls: Table, objects: Table) -> Table:
    """When each call took effect: what takes, when it was over; all else when it began.

    So what is given lies before what was taken of it, also where the end of the one who takes was
    noticed before the end of the one who gave. What was interrupted did nothing but wait: it counts
    from its begin, too. What wakes others can wait too, for room in a pipe; others have gone on by
    its first bytes. What can do either says by a flag that it only gives.
    """
    numbers, place = np.unique(calls["number"], return_inverse=True)
    takes = np.array([_waits(number) for number in numbers.tolist()], dtype=bool)[place]
    for name, only_when in _TAKES_WHEN.items():
        rows = np.flatnonzero(calls["number"] == _NUMBER_OF[name])
        takes[rows] = only_when(calls[rows], objects)
    returned = (calls["flags"] & (CallFlag.NEVER_RETURNED | CallFlag.GIVES)) == 0
    interrupted = np.isin(calls["result"].astype(np.int64), INTERRUPTED)
    moments: Table = np.where(takes & returned & ~interrupted, calls["left"], calls["entered"])
    return moments


# EINTR, and what the kernel tells who traces of calls that it will make again.
INTERRUPTED = (-4, -512, -513, -514, -516)

# A signal that came before a wait for one has come to nothing: such a wait counts from its begin.
_AT_ONCE = ("never", "signal")
_GIVES = {"wake stream", "wake queue", "wake listener", "give message"}
_NUMBER_OF = {call.name: number for number, call in CALLS.items()}


def _waits(number: int) -> bool:
    call = CALLS.get(number)
    if call is None or call.waits in _AT_ONCE:
        return False
    return not _GIVES.intersection(call.does)


def _opens_fifo(calls: Table, objects: Table) -> Table:
    """Who opens anything else waits for nobody, and may make what others are told of."""
    fifos = np.flatnonzero(objects["mode"] & 0xF000 == stat.S_IFIFO)
    found: Table = np.isin(calls["second"], fifos)
    return found


def _takes_range(calls: Table, _: Table) -> Table:
    sets = np.isin(calls["a1"], list(SETS_LOCK))
    found: Table = sets & (calls["value"] & LOCK_TYPE != fcntl.F_UNLCK)
    return found


def _takes_file(calls: Table, _: Table) -> Table:
    found: Table = calls["a1"] & fcntl.LOCK_UN == 0
    return found


LOCK_TYPE, LOCK_OF_BYTES = 0xFFFF, 1 << 16  # of the value of an fcntl; native/tracer/tracer.h
OPEN_FILES_LOCK = {fcntl.F_OFD_SETLK, fcntl.F_OFD_SETLKW}
SETS_LOCK = {fcntl.F_SETLK, fcntl.F_SETLKW, *OPEN_FILES_LOCK}
_TAKES_WHEN = {
    "open": _opens_fifo,
    "openat": _opens_fifo,
    "openat2": _opens_fifo,
    "fcntl": _takes_range,
    "flock": _takes_file,
}


def _in_order(
    calls: Table,
    objects: Table,
    lookups: Table,
    events: Table,
    *,
    whole: bool,
    texts: tuple[bytes, ...],
    data: tuple[Datum, ...],
    facts: bytes,
    ending: Ending,
) -> Log:
    """Calls were written when they were over; they are numbered anew.

    Only where it is not whole may there be something of a call that was not written any more.
    """
    known = lookups["call"] < len(calls)
    if whole and not known.all():
        raise ValueError("lookups of a call that is not there")
    order = np.argsort(effect(calls, objects), kind="stable")
    number = np.empty(len(calls), dtype=np.uint32)
    number[order] = np.arange(len(calls))
    lookups = lookups[known]
    lookups["call"] = number[lookups["call"]]
    return Log(
        calls=calls[order],
        objects=objects,
        lookups=lookups[np.argsort(lookups["call"], kind="stable")],
        events=events,
        texts=texts,
        data=tuple(sorted(_renumbered(data, number, whole), key=lambda datum: datum.call)),
        facts=facts,
        ending=ending,
    )


def _renumbered(data: tuple[Datum, ...], number: Table, whole: bool) -> Iterator[Datum]:
    for datum in data:
        if datum.call < len(number):
            yield Datum(int(number[datum.call]), datum.kind, datum.data)
        elif whole:
            raise ValueError("data of a call that is not there")


def _tails(recording: Recording, kind: BlockType) -> Iterator[tuple[tuple[int, ...], bytes]]:
    for block in recording.blocks(kind):
        yield from tailed(block, recording.path)


def _data(recording: Recording) -> Iterator[Datum]:
    for (call, kind, _, _), data in _tails(recording, BlockType.PROCESS_DATA):
        yield Datum(call, DataKind(kind), data)
