# SPDX-License-Identifier: Apache-2.0
"""The processes of a run that carry our runtime, in memory that they fill or follow.

Most runs have one. Each has a slot that says who made it, and an area for its schedule and what
came to it from outside; slots are handed out as processes come, so a process is known by its place:
the way from the first one to it.
"""

import dataclasses
import os
import signal
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from eitherway.model.trace import Table
from eitherway.recording.layout import (
    FAMILY_HEAD,
    FOUND_ROW,
    INPUTS_HEAD,
    MEMBER,
    SCHEDULE_HEAD,
    SCHEDULE_SWITCH,
)
from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.schedule import SWITCH, Schedule
from eitherway.worlds.threads.shared import content, memory

ROOM = 1 << 20  # processes
SWITCHES = 1 << 30  # of one process: minutes of a program that does nothing but switch
INPUTS = 1 << 32  # bytes, of one process
FOUND_ROOM = 1 << 14  # rows

_NONE = 0xFFFFFFFF
_SLOT = MEMBER.size + SCHEDULE_HEAD.size + INPUTS_HEAD.size
_ROWS = (FAMILY_HEAD.size + ROOM * _SLOT + 4095) // 4096 * 4096
_AREAS = _ROWS + (FOUND_ROOM * FOUND_ROW.size + 4095) // 4096 * 4096
_AREA = SWITCHES * SCHEDULE_SWITCH.size + INPUTS
_SIZE = _AREAS + ROOM * _AREA


class State(IntEnum):
    """How far a process has come."""

    BEGAN = 1  # when the run was over, or it was killed and nobody of ours was told how
    ENDED = 2
    BECAME = 3  # another program
    NEVER = 4  # the fork failed


@dataclass(frozen=True, slots=True)
class Member:
    """One process, from its start or fork until it ends or becomes another program."""

    schedule: Schedule
    inputs: bytes = field(default=b"", repr=False)
    parent: int | None = None  # number of the member that made it
    ordinal: int = 0  # which of that one's
    identity: int = 0  # of its arguments; 0: it was forked
    again: int = 0  # how many of the same parent, ordinal and identity came earlier
    state: State = State.ENDED
    status: int = 0  # as wait4 tells it, once it has ended
    number: int = 0  # by which the program knows it

    @property
    def program(self) -> tuple[str, ...]:
        """The file and the arguments that it was started with; nothing when it was forked."""
        return inputs.program(self.inputs)

    @property
    def libraries(self) -> tuple[str, ...]:
        """Files of the user's that it loaded, as the loader names them."""
        return inputs.libraries(self.inputs)

    def differences(self, other: "Member", *, killed: bool = False) -> list[str]:
        """In what two processes differ; of two that were killed the shorter counts."""
        mine, theirs = (self._up_to(other), other._up_to(self)) if killed else (self, other)
        pairs = {
            "exit status": (mine._ending, theirs._ending),
            "number of steps": (mine.schedule.steps, theirs.schedule.steps),
            "schedule": (mine.schedule.hash, theirs.schedule.hash),
            "input": (mine.inputs, theirs.inputs),
        }
        return [name for name, (one, another) in pairs.items() if one != another]

    @property
    def was_ended(self) -> bool:
        """By a signal, with our runtime in it."""
        return self._ending[0] is State.BEGAN

    @property
    def _ending(self) -> tuple[State, int]:
        """Of a signal that ends it only a tracer hears in time."""
        killed = self.state is State.ENDED and os.WIFSIGNALED(self.status)
        return (State.BEGAN, 0) if killed else (self.state, self.status)

    def _up_to(self, other: "Member") -> "Member":
        """As much as both have. What sums up a schedule may be torn: the death came in between."""
        count = min(len(self.schedule.switches), len(other.schedule.switches))
        switches = self.schedule.switches[:count]
        schedule = Schedule(0, zlib.crc32(switches.tobytes()), switches)
        size = min(len(self.inputs), len(other.inputs))
        return dataclasses.replace(self, schedule=schedule, inputs=self.inputs[:size])


_OF_ITS_OWN = (
    signal.SIGABRT,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGSYS,
    signal.SIGTRAP,
)


def with_death(members: tuple[Member, ...], status: int) -> tuple[Member, ...]:
    """What nobody of ours was told: that the first died of what it did itself.

    So does a replay, and need not be ended where the last thing is known of the recording. Of a
    wrong address the runtime itself is told, unless the stack is full: then no trace would be left.
    """
    if not members or members[0].state is not State.BEGAN or -status not in _OF_ITS_OWN:
        return members
    return (dataclasses.replace(members[0], state=State.ENDED, status=-status), *members[1:])


Place = tuple[tuple[int, int, int], ...]


def places(members: Sequence[Member]) -> dict[Place, Member]:
    """Members by the way from the first to each: the same in every run that is the same."""
    found: list[Place] = []
    for member in members:
        above = () if member.parent is None else found[member.parent]
        found.append((*above, (member.ordinal, member.identity, member.again)))
    return dict(zip(found, members, strict=True))


# --- the memory


def empty() -> AbstractContextManager[int]:
    """A descriptor of memory for a run to note in what it does."""
    return memory("family", _head(0), _SIZE)


def clear(descriptor: int) -> None:
    """Empty again; and what it took is given back, but for a little."""
    used = _used(descriptor)
    if used > 1:
        os.ftruncate(descriptor, _AREAS + _AREA)
        os.ftruncate(descriptor, _SIZE)
    os.pwrite(descriptor, _head(0) + bytes(used * _SLOT), 0)


def kept(descriptor: int) -> bytes:
    """What `put_back` needs of a run of one process that stands still."""
    return content(descriptor, 0, FAMILY_HEAD.size + _SLOT)


def put_back(descriptor: int, beginning: bytes) -> None:
    """As it was when that was kept; schedules, input and what was found only grow."""
    clear(descriptor)
    os.pwrite(descriptor, beginning, 0)


@contextmanager
def filled(members: Sequence[Member]) -> Iterator[int]:
    """A descriptor of memory with a run to do again."""
    with memory("family", _head(len(members)), _SIZE) as descriptor:
        for number, member in enumerate(members):
            start = _AREAS + number * _AREA
            os.pwrite(descriptor, _slot(member), FAMILY_HEAD.size + number * _SLOT)
            _write(descriptor, member.schedule.switches.tobytes(), start)
            _write(descriptor, member.inputs, start + SWITCHES * SCHEDULE_SWITCH.size)
        yield descriptor


def read(descriptor: int) -> tuple[Member, ...]:
    """The processes that were there, finished or not."""
    members: list[Member] = []
    numbers: dict[int, int] = {_NONE: -1}
    for slot in range(_used(descriptor)):
        found = _member(descriptor, slot, numbers)
        if found is not None:
            numbers[slot] = len(members)
            members.append(found)
    return tuple(members)


def count(descriptor: int) -> int:
    """How many there were so far."""
    return _used(descriptor)


def at_work(descriptor: int, states: Collection[State]) -> list[int]:
    """Numbers of those in these states who wait for nothing that has yet to come."""
    numbers = []
    for slot in range(_used(descriptor)):
        data = content(descriptor, FAMILY_HEAD.size + slot * _SLOT, MEMBER.size)
        _, _, _, pid, _, current, _, _, _, _, waiting = MEMBER.unpack(data)
        if current in states and not waiting:
            numbers.append(int(pid))
    return numbers


def waits(descriptor: int) -> int:
    """How often the first process had nothing to do but to wait for the outside, so far."""
    head = content(descriptor, FAMILY_HEAD.size + MEMBER.size, SCHEDULE_HEAD.size)
    return int(SCHEDULE_HEAD.unpack(head)[-1])


def reached(descriptor: int) -> int:
    """The step of the first process's last decision point, so far."""
    head = content(descriptor, FAMILY_HEAD.size + MEMBER.size, SCHEDULE_HEAD.size)
    return int(SCHEDULE_HEAD.unpack(head)[5])


def leave_alone(descriptor: int) -> None:
    """Nobody outside has anything more to say to the run under way."""
    os.pwrite(descriptor, (1).to_bytes(8, "little"), FAMILY_HEAD.size - 8)


def _head(used: int) -> bytes:
    return FAMILY_HEAD.pack(ROOM, used, SWITCHES, INPUTS, FOUND_ROOM, *[0] * 6)


def _used(descriptor: int) -> int:
    _, used, *_ = FAMILY_HEAD.unpack(content(descriptor, 0, FAMILY_HEAD.size))
    return min(int(used), ROOM)


# --- what is found while the program runs

FOUND = np.dtype(
    [
        ("seed", "<u8"),
        ("step", "<u8"),
        ("address", "<u8"),
        ("pc", "<u8"),
        ("module", "<u8"),
        ("past_segment", "<u4"),
        ("size", "<u4"),
        ("thread", "<u4"),
        ("past_thread", "<u4"),
        ("slot", "<u4"),
        ("kind", "u1"),
        ("op", "u1"),
        ("past_op", "u1"),
        ("reserved", "u1"),
    ]
)


class FoundKind(IntEnum):
    """The kinds of its rows."""

    RACE = 1
    USE_AFTER_FREE = 2
    DEADLOCK = 3
    DOUBLE_FREE = 4
    INVALID_FREE = 5
    LOCK_MISUSE = 6
    HANG = 7  # `size`: the signal by which it stopped itself, or 0
    GIVEN_UP = 8  # by the runtime, which cannot go on; `size` is the exit code
    REFUSED = 9  # by the sandbox, and nowhere else: what the program did then says little


@dataclass(frozen=True, slots=True)
class Found:
    """What the runtime found, each pair of places once for each run."""

    rows: Table  # FOUND
    left_out: int = 0  # for want of room
    forgotten: int = 0  # times that the past was forgotten

    @property
    def races(self) -> bool:
        """Whether accesses raced."""
        return bool(np.any(self.rows["kind"] == FoundKind.RACE))

    @property
    def stopped_by(self) -> int:
        """The signal by which a run stopped itself for ever; 0: it did not."""
        return int(self.rows["size"][self.rows["kind"] == FoundKind.HANG].max(initial=0))

    @property
    def given_up(self) -> Table:
        """Rows of processes that the runtime ended because it cannot go on with them."""
        given_up: Table = self.rows[self.rows["kind"] == FoundKind.GIVEN_UP]
        return given_up


NOTHING_FOUND = Found(np.zeros(0, dtype=FOUND))


def found(descriptor: int) -> Found:
    """What was found since the memory was cleared."""
    head = FAMILY_HEAD.unpack(content(descriptor, 0, FAMILY_HEAD.size))
    count, forgotten = int(head[5]), int(head[7])
    there = min(count, FOUND_ROOM)
    rows = np.frombuffer(content(descriptor, _ROWS, there * FOUND_ROW.size), dtype=FOUND)
    whole = rows[rows["kind"] != 0]  # the last one may be half a row, of a process that was killed
    return Found(whole, count - there, forgotten)


def _slot(member: Member) -> bytes:
    schedule, count = member.schedule, len(member.schedule.switches)
    parent = _NONE if member.parent is None else member.parent
    who = (
        parent,
        member.ordinal,
        member.again,
        0,
        member.number,
        member.state,
        member.status,
        _NONE,
    )
    return (
        MEMBER.pack(*who, member.identity, 0, 0)
        + SCHEDULE_HEAD.pack(schedule.steps, schedule.hash, count, count, 0, schedule.reached, 0)
        + INPUTS_HEAD.pack(len(member.inputs), len(member.inputs))
    )


def _member(descriptor: int, slot: int, numbers: dict[int, int]) -> Member | None:
    """None when nobody came to be there."""
    data = content(descriptor, FAMILY_HEAD.size + slot * _SLOT, _SLOT)
    parent, ordinal, again, _, told, state, status, _, identity, _, _ = MEMBER.unpack_from(data)
    if state in (0, State.NEVER) or parent not in numbers:
        return None
    steps, digest, count, _, diverged, reached, _ = SCHEDULE_HEAD.unpack_from(data, MEMBER.size)
    size, _ = INPUTS_HEAD.unpack_from(data, MEMBER.size + SCHEDULE_HEAD.size)
    start = _AREAS + slot * _AREA
    switches = np.frombuffer(content(descriptor, start, count * SWITCH.itemsize), dtype=SWITCH)
    return Member(
        schedule=Schedule(steps, digest, switches, diverged, reached),
        inputs=content(descriptor, start + SWITCHES * SCHEDULE_SWITCH.size, size),
        parent=None if parent == _NONE else numbers[parent],
        ordinal=ordinal,
        identity=identity,
        again=again,
        state=State(state),
        status=status,
        number=told,
    )


def _write(descriptor: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        done = os.pwrite(descriptor, view, at)
        view, at = view[done:], at + done
