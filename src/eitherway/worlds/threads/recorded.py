# SPDX-License-Identifier: Apache-2.0
"""A run into a recording and out of it again: how it was started, its schedule, its input."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path

import numpy as np

from eitherway.elf import ElfError, build_id
from eitherway.errors import BadInput, Unavailable
from eitherway.model import shape
from eitherway.model.trace import Table, Trace
from eitherway.model.words import World
from eitherway.recording.home import VARIABLE
from eitherway.recording.layout import BlockType
from eitherway.recording.manifest import Host, Manifest
from eitherway.recording.read import Input, Recording
from eitherway.recording.store import Store
from eitherway.recording.trace import add_trace
from eitherway.recording.write import RecordingWriter, StreamWriter
from eitherway.worlds.threads import inputs
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.family import ROOM, Member, State
from eitherway.worlds.threads.launch import Launch, program_of
from eitherway.worlds.threads.program import classify
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.schedule import SWITCH, Schedule, SwitchKind
from eitherway.worlds.threads.standard_input import Source


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run that can be done again."""

    launch: Launch
    ran: Ran
    boxed: bool = False  # it ran in a sandbox: so does a replay, from the same files


def save(recorded: Recorded, store: Store, trace: Trace | None = None) -> Path:
    """Keep a run in the store, with its trace if there is one; it becomes the latest."""
    with store.new() as slot, _whole(slot.path):
        with RecordingWriter(slot.path, _manifest(recorded)) as writer:
            members = recorded.ran.members
            schedule = writer.stream("schedule")
            for member in members:
                schedule.rows(BlockType.CHOICES, _choices(member.schedule.switches))
            stream = writer.stream("input")
            _write_facts(stream, recorded)
            stream.input(_Kind.HOME, 0, _home(slot.path))
            for member in members:
                for kind, thread, data in inputs.items(member.inputs):
                    stream.input(kind, thread, data)
            if trace is not None:
                add_trace(writer, trace)
        store.publish(slot.path)
        return slot.path


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """A recording for which there is no room leaves nothing: all of it is written at the end."""
    try:
        yield
    except Unavailable as problem:
        shutil.rmtree(path, ignore_errors=True)
        fix = (
            problem.fix or f"make room in {path.parent}, or {VARIABLE}=DIRECTORY for another place"
        )
        raise Unavailable(problem.message, fix=fix) from problem


def load(recording: Recording) -> Recorded:
    """The run that `save` kept.

    Refused when the program is not ours, is gone or has changed since: a recording is a file, and
    to follow one is to start what it names.
    """
    recorded = _read(recording)
    _refuse_other_program(recording, recorded.launch)
    return recorded


def schedule_of(recording: Recording) -> Schedule:
    """Of the first process, whatever became of the program since."""
    return _read(recording).ran.schedule


def _read(recording: Recording) -> Recorded:
    items = list(recording.inputs())
    parts = {item.kind: item.data for item in items if item.kind in _KINDS}
    try:
        told = _FACTS(json.loads(parts[_Kind.FACTS]))
        environment = dict(told["environment"])
        command = recording.manifest.command
        given = (parts[_Kind.STDIN], told["stdin"])
        launch = Launch(command, told["directory"], environment, *given, tuple(told["ignored"]))
        out = Captured(**told["out"], beginning=parts[_Kind.OUT])
        err = Captured(**told["err"], beginning=parts[_Kind.ERR])
        members = _members(told["members"], _switches(recording.choices()), _packed(items))
    except (KeyError, ValueError) as error:
        raise BadInput(f"{recording.path} is no recording of a run of threads") from error
    ran = Ran(told["status"], out, err, members)
    return Recorded(launch, ran, boxed=told["sandbox"])


def is_run(kinds: Set[BlockType]) -> bool:
    """Whether a recording that holds these is one of ours; a run may have no switch at all."""
    return BlockType.INPUT in kinds


def is_made_here(recording: Recording) -> bool:
    """Whether the recording still lies where it was made.

    One that was copied, unpacked or checked out has another inode: nobody can send that along.
    """
    for item in recording.inputs():
        if item.kind == _Kind.HOME:
            return item.data == _home(recording.path)
    return False


def _home(path: Path) -> bytes:
    status = path.stat()
    return f"{status.st_dev} {status.st_ino}".encode()


def _manifest(recorded: Recorded) -> Manifest:
    launch, members = recorded.launch, recorded.ran.members
    files = [program_of(launch), *(member.program[0] for member in members if member.program)]
    loaded = [library for member in members for library in member.libraries]
    files += [os.path.join(launch.directory, library) for library in loaded]
    return Manifest(
        world=World.THREADS,
        recorded_by="runtime",
        command=launch.command,
        build_ids={file: identity(file) for file in dict.fromkeys(files) if Path(file).is_file()},
        host=Host.here(),
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def identity(program: str) -> str:
    """The build-id; what was linked without one, and scripts, are known by all their bytes."""
    path = Path(program)
    with suppress(ElfError):
        if found := build_id(path):
            return found
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _refuse_other_program(recording: Recording, launch: Launch) -> None:
    if not launch.command or "" in launch.command[:1]:
        raise BadInput(f"{recording.path} names no command")
    root = program_of(launch)
    _refuse_missing(recording, root)
    found = classify(root)
    if (problem := found.problem()) and not (
        found.may_lead(launch.command[0]) and is_made_here(recording)
    ):
        raise problem
    for program in (root, *recording.manifest.build_ids):
        _refuse_missing(recording, program)
        if recording.manifest.build_ids.get(program) != identity(program):
            raise BadInput(
                f"{recording.path} was recorded of another build of {program}",
                fix="record again, or go back to the build that was recorded",
            )


def _refuse_missing(recording: Recording, program: str) -> None:
    if not Path(program).is_file():
        raise BadInput(f"{recording.path} was recorded of {program}, which is gone")


# --- what is told about the run as a whole


class _Kind(IntEnum):
    """Numbers of the `input` block beside those of native/runtime/input.h."""

    FACTS = 256  # JSON
    STDIN = 257
    OUT = 258  # the beginning of what it wrote
    ERR = 259
    HOME = 260  # the directory it was made in, as the file system knows it


_KINDS = frozenset(int(kind) for kind in _Kind)


def _pair(value: object) -> tuple[str, str]:
    pair = shape.listing(shape.text)(value)
    if len(pair) != 2:
        raise shape.ShapeError("must be a name and a value")
    return pair[0], pair[1]


_U64 = shape.number(0, 2**64 - 1)
_U32 = shape.number(0, 2**32 - 1)
_SHA256 = shape.matching("[0-9a-f]{64}", "a SHA-256")
_WRITTEN = shape.record(size=_U64, digest=_SHA256, unordered=_SHA256)
_MEMBER = shape.record(
    parent=shape.number(-1, ROOM - 1),
    ordinal=_U32,
    identity=_U64,
    again=_U32,
    state=shape.number(State.BEGAN, State.BECAME),
    status=_U32,
    number=_U32,
    steps=_U64,
    hash=_U64,
    reached=_U64,
    switches=_U64,
    inputs=_U64,
)
_FACTS = shape.record(
    directory=shape.some_text,
    environment=shape.listing(_pair),
    stdin=shape.word(Source),
    ignored=shape.listing(shape.number(1, 64)),
    sandbox=shape.flag,
    status=shape.number(-64, 255),
    members=shape.listing(_MEMBER),
    out=_WRITTEN,
    err=_WRITTEN,
)


def _write_facts(stream: StreamWriter, recorded: Recorded) -> None:
    ran, launch = recorded.ran, recorded.launch
    told = {
        "directory": launch.directory,
        "environment": list(launch.environment.items()),
        "stdin": launch.source,
        "ignored": launch.ignored,
        "sandbox": recorded.boxed,
        "status": ran.status,
        "members": [_told(member) for member in ran.members],
        "out": _written(ran.out),
        "err": _written(ran.err),
    }
    stream.input(_Kind.FACTS, 0, json.dumps(told).encode())
    stream.input(_Kind.STDIN, 0, launch.stdin)
    stream.input(_Kind.OUT, 0, ran.out.beginning)
    stream.input(_Kind.ERR, 0, ran.err.beginning)


def _written(captured: Captured) -> dict[str, object]:
    return {"size": captured.size, "digest": captured.digest, "unordered": captured.unordered}


# --- the processes: their schedules and inputs stand one after the other


def _told(member: Member) -> dict[str, int]:
    return {
        "parent": -1 if member.parent is None else member.parent,
        "ordinal": member.ordinal,
        "identity": member.identity,
        "again": member.again,
        "state": member.state,
        "status": member.status,
        "number": member.number,
        "steps": member.schedule.steps,
        "hash": member.schedule.hash,
        "reached": member.schedule.reached,
        "switches": len(member.schedule.switches),
        "inputs": len(member.inputs),
    }


def _members(told: list[dict[str, int]], switches: Table, inputs: bytes) -> tuple[Member, ...]:
    members, switch, byte = [], 0, 0
    for number, one in enumerate(told):
        if one["parent"] >= number:
            raise ValueError("a process before its parent")
        own = _sound(switches[switch : switch + one["switches"]], one["steps"])
        schedule = Schedule(one["steps"], one["hash"], own, reached=one["reached"])
        switch, byte = switch + one["switches"], byte + one["inputs"]
        members.append(
            Member(
                schedule,
                inputs[byte - one["inputs"] : byte],
                None if one["parent"] < 0 else one["parent"],
                one["ordinal"],
                one["identity"],
                one["again"],
                State(one["state"]),
                one["status"],
                one["number"],
            )
        )
    if (switch, byte) != (len(switches), len(inputs)) or len(members) > ROOM:
        raise ValueError("other schedules or input than the processes have")
    return tuple(members)


# --- a schedule: four numbers a switch


def _sound(switches: Table, steps: int) -> Table:
    """Refused when no run can have decided so."""
    if switches.size and (
        int(switches["kind"].max()) > max(SwitchKind)
        or bool((switches["steps"][1:] < switches["steps"][:-1]).any())
        or int(switches["steps"][-1]) > steps
    ):
        raise ValueError("decisions that are of no known kind, or not one after the other")
    return switches


def _choices(switches: Table) -> Table:
    columns = [
        switches["steps"] & 0xFFFFFFFF,
        switches["steps"] >> 32,
        switches["choice"],
        switches["kind"],
    ]
    rows: Table = np.stack([column.astype("<u4") for column in columns], axis=1).reshape(-1)
    return rows


def _switches(choices: Table) -> Table:
    return np.frombuffer(choices.astype("<u4").tobytes(), dtype=SWITCH)


def _packed(items: Iterable[Input]) -> bytes:
    return inputs.packed(
        (item.kind, item.actor, item.data) for item in items if item.kind not in _KINDS
    )
