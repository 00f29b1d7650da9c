# SPDX-License-Identifier: Apache-2.0
"""Runs a program that was built for our runtime under one schedule."""

import dataclasses
import errno
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eitherway import dispositions
from eitherway.errors import BadInput, Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.guardian import guarded
from eitherway.sandbox.processes import (
    adopting,
    children,
    descendants,
    end_children,
    has_ended,
    is_running,
)
from eitherway.worlds.threads import family, guide
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.course import Conductor, Course, Ended, Known, Plan
from eitherway.worlds.threads.driver import Popen
from eitherway.worlds.threads.family import NOTHING_FOUND, Found, Member, State, places
from eitherway.worlds.threads.guide import SHOWN_NOTHING, UNGUIDED, Guidance, Shown
from eitherway.worlds.threads.holding import held
from eitherway.worlds.threads.launch import Launch, program_of
from eitherway.worlds.threads.limits import refuse_limits
from eitherway.worlds.threads.policies import LEAVING
from eitherway.worlds.threads.program import Kind, classify
from eitherway.worlds.threads.schedule import Schedule
from eitherway.worlds.threads.standard_input import standard_input
from eitherway.worlds.threads.target import STOP, Sink, Started
from eitherway.worlds.threads.trace_request import USUAL, TraceRequest

_AT_LEISURE = Plan()
Kept = tuple[bytes, tuple[bytes, bytes]]  # of the memories of a run, while it stands still


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run did, and all that is needed to do it again."""

    status: int  # as subprocess tells it: negative is a signal
    out: Captured
    err: Captured
    members: tuple[Member, ...]
    course: Course = field(default=Course(), compare=False)
    left: int = field(default=0, compare=False)  # processes that it left behind; they were ended
    found: Found = field(default=NOTHING_FOUND, compare=False)  # while it ran, if that was asked
    shown: Shown = field(default=SHOWN_NOTHING, compare=False)  # to those who guide the next one
    files: Mapping[str, str] = field(default_factory=dict, compare=False)  # it left, of a branch

    @property
    def schedule(self) -> Schedule:
        """Of the first process."""
        return self.members[0].schedule if self.members else Schedule()

    @property
    def began(self) -> bool:
        """Whether a program of ours ever ran: the loader or a library's constructor may end it."""
        return any(member.inputs for member in self.members)

    @property
    def was_killed(self) -> bool:
        """Nothing could be noted any more: a replay goes to the last step that is known.

        So it is of a run that was stopped when it had become a program without our runtime.
        """
        unheard = not any(member.was_ended for member in self.members)
        return self.status == -signal.SIGKILL or (self.status == -STOP and unheard)

    def differences(self, other: "Ran") -> list[str]:
        """In what two runs differ; empty when they are the same to the bit.

        Several processes write to the same output: which of them comes first there is chance. So
        what they wrote is compared without the order of its bytes. Of a run that was killed nobody
        knows which part of its last step it had done: there one output may go on where the other
        ends.
        """
        several = max(len(self.members), len(other.members)) > 1
        killed = self.was_killed and other.was_killed
        out, err = self.out.up_to(other.out, killed), self.err.up_to(other.err, killed)
        pairs: dict[str, tuple[object, object]] = {
            "exit status": (0, 0) if killed else (self.status, other.status),
            "standard output": (out.seen(several), other.out.seen(several)),
            "standard error": (err.seen(several), other.err.seen(several)),
        }
        found = [name for name, (mine, theirs) in pairs.items() if mine != theirs]
        return found + self._differences_of_members(other, killed)

    def _differences_of_members(self, other: "Ran", killed: bool) -> list[str]:
        mine, theirs = places(self.members), places(other.members)
        if mine.keys() != theirs.keys():
            return ["processes"]
        found = dict.fromkeys(
            name for place in mine for name in mine[place].differences(theirs[place], killed=killed)
        )
        return list(found)


class Memories:
    """The memories that runs share with us, one run at a time; given back with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        refuse_limits()
        self.family = stack.enter_context(family.empty())
        self.guide = stack.enter_context(guide.empty())
        self._given: tuple[tuple[Member, ...], int] | None = None  # to do again, and where it lies
        self._filled = stack.enter_context(ExitStack())

    @contextmanager
    def options(
        self, replay: Ran | None, guidance: Guidance = UNGUIDED
    ) -> Iterator[dict[str, int]]:
        """Descriptors for the next run, by the option that names them; the guide is told."""
        family.clear(self.family)
        guide.tell(self.guide, guidance)
        own = {"family": self.family}
        if replay is None:
            yield own
            return
        yield {**own, "given": self._given_to(replay.members)}

    def _given_to(self, members: tuple[Member, ...]) -> int:
        """Nobody writes to it: the next run most often does the same one again."""
        if self._given is None or self._given[0] is not members:
            self._filled.close()
            self._given = None
            self._given = members, self._filled.enter_context(family.filled(members))
        return self._given[1]

    def kept(self) -> "Kept":
        """As they are now, of a run that stands still."""
        return family.kept(self.family), guide.kept(self.guide)

    def put_back(self, was: "Kept") -> None:
        """As they were then: the next run is a copy of that one."""
        family.put_back(self.family, was[0])
        guide.put_back(self.guide, was[1])

    def waits(self) -> int:
        """How often the run under way had nothing to do but to wait for the outside."""
        return family.waits(self.family)

    def reached(self) -> int:
        """The step of its last decision point."""
        return family.reached(self.family)

    def leave_alone(self) -> None:
        """Nobody outside has anything more to say: time need not really pass."""
        family.leave_alone(self.family)

    def began(self) -> bool:
        """Whether the run did anything: it may be why there is nobody to ask any more."""
        return any(member.inputs for member in family.read(self.family))

    def found(self) -> Found:
        """What was found while the program ran."""
        return family.found(self.family)

    def shown(self) -> Shown:
        """What it showed to those who guide the next one."""
        return guide.shown(self.guide)

    def ran(self, status: int, out: Captured, err: Captured) -> Ran:
        """What is in them when the run is over."""
        members = family.with_death(family.read(self.family), status)
        return Ran(status, out, err, members, found=self.found(), shown=self.shown())


def run(
    launch: Launch,
    *,
    seed: int = 0,
    scheduler: str = "random-walk",
    guidance: Guidance = UNGUIDED,
    replay: Ran | None = None,
    trace: Path | None = None,
    request: TraceRequest = USUAL,
    detect: bool = False,
    show: tuple[Sink, Sink] | None = None,
    plan: Plan = _AT_LEISURE,
    box: Sandbox | None = None,
) -> Ran:
    """Run under a policy and seed, or as an earlier run.

    With `trace`, what is asked for of the operations is noted in that empty directory; with
    `detect`, races are looked for while it runs; with `show`,
    standard output and standard error are handed on as they come; with `box`, it runs in there, and
    what processes it leaves stay until that is reset. Else none is left.
    """
    with ExitStack() as stack:
        memories = Memories(stack)
        descriptors = stack.enter_context(memories.options(replay, guidance))
        paths = stack.enter_context(held({**descriptors, "guide": memories.guide}, box))
        traced, told = stack.enter_context(_tracing(trace, request))
        known = stack.enter_context(_none_left(memories, paths["family"], box))
        popen = partial(box.popen, as_is=traced) if box else subprocess.Popen
        decides = options_of(seed, scheduler, replay, guidance, detect=detect)
        process = _start(
            popen,
            launch,
            {**decides, **_place(launch), **paths, "tied": os.getpid(), **told},
            stdin=stack.enter_context(
                standard_input(launch.source, launch.stdin, live=replay is None)
            ),
            pass_fds=[] if traced is None else [traced],
        )
        number = (lambda: box.process_of(process)) if box else (lambda: process.pid)
        target = stack.enter_context(Started(process, number, memories, show))
        conductor = Conductor(
            target, plan, launch, popen, replay=replay is not None, known=known_end(replay)
        )
        course = conductor.conduct()
        status = target.status  # before somebody else takes it
        if course.ended in (Ended.ITSELF, Ended.DRIVEN):
            _let_finish(target, memories, known, box, plan.grace)
        left = end_children(known) + (len(box.strays()) if box else 0)
        target.drain()
        ran = memories.ran(status, *target.written())
        return dataclasses.replace(ran, course=course, left=left)


@contextmanager
def _tracing(
    directory: Path | None, request: TraceRequest
) -> Iterator[tuple[int | None, dict[str, object]]]:
    """A descriptor that the program inherits, and the options that tell it what to trace."""
    if directory is None:
        yield None, {}
        return
    with opened(directory) as descriptor:
        yield descriptor, {"trace": descriptor, **request.options()}


@contextmanager
def _none_left(memories: Memories, path: str, box: Sandbox | None) -> Iterator[list[int]]:
    """Afterwards no process of the run is there, even if we are killed; yields those before it."""
    with ExitStack() as stack:
        if box is None:
            stack.enter_context(guarded(memories.family, path))
        known = children(os.getpid())
        stack.enter_context(adopting())
        stack.callback(end_children, known)
        yield known


def _let_finish(
    target: Started, memories: Memories, known: list[int], box: Sandbox | None, seconds: float
) -> None:
    """What the program left behind, and what that still writes; the list of it may lack one."""
    if _left(known, box) or family.count(memories.family) > 1:
        target.linger(lambda: _at_work(memories, known, box), seconds)


def known_end(replay: Ran | None) -> Known | None:
    """Where a run that was killed ends when it is done again."""
    if replay is None or not replay.was_killed:
        return None
    return Known(replay.schedule.reached, replay.out.size + replay.err.size)


@contextmanager
def opened(directory: Path) -> Iterator[int]:
    """A descriptor of a directory."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def options_of(
    seed: int,
    scheduler: str,
    replay: Ran | None,
    guidance: Guidance = UNGUIDED,
    *,
    detect: bool = False,
) -> dict[str, object]:
    """How the runtime decides, as native/runtime/options.h has it."""
    looks = {"detect": 1} if detect else {}
    if not is_replay(replay, scheduler):
        return {"scheduler": scheduler, "seed": seed, **guidance.tuning, **looks}
    return {"scheduler": "replay", **looks}


def is_replay(replay: Ran | None, scheduler: str) -> bool:
    """Whether all of it is done again; a branch leaves what it follows."""
    return replay is not None and scheduler not in LEAVING


def _left(known: list[int], box: Sandbox | None) -> list[int]:
    """Processes that have lost their parents, and so become ours or the sandbox's."""
    return list(box.strays()) if box else [p for p in children(os.getpid()) if p not in known]


def _at_work(memories: Memories, known: list[int], box: Sandbox | None) -> bool:
    """Whether what the program left behind still has something to do.

    Who is no member, or not any more, may become one, or start one, while it runs: it is looked at
    first, for it becomes a member before it first rests. In a sandbox members have other numbers.
    """
    strays = [pid for each in _left(known, box) for pid in descendants(each)]
    others = [] if box else family.at_work(memories.family, {State.BECAME})
    if any(map(is_running, strays + others)):
        return True
    members = family.at_work(memories.family, {State.BEGAN, State.ENDED})
    return not all(map(has_ended, strays if box and members else members))


def _place(launch: Launch) -> dict[str, int]:
    """What a script starts is not the run itself: its seeds come of the run's."""
    return {} if classify(program_of(launch)).kind is Kind.OURS else {"ordinal": 1}


def _start(
    popen: Popen, launch: Launch, options: Mapping[str, object], **descriptors: Any
) -> "subprocess.Popen[bytes]":
    try:
        return popen(
            launch.command,
            cwd=launch.directory,
            env=launch.environment_with(options),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=dispositions.to_be_set(launch.ignored),
            **descriptors,
        )
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise Unavailable(
                "there are too few file descriptors to start a program", fix="ulimit -n 1024"
            ) from None
        name = error.filename or launch.command[0]
        raise BadInput(f"{name} cannot be started: {error.strerror}") from None
