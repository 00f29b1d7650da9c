# SPDX-License-Identifier: Apache-2.0
"""The other end of a runtime that serves: each run is a fork of a program already loaded."""

import array
import dataclasses
import fcntl
import os
import select
import signal
import socket
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from enum import IntEnum
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

from eitherway.closing import Closing
from eitherway.errors import Unavailable
from eitherway.model.trace import Table
from eitherway.recording.control import Decoder, Message
from eitherway.recording.layout import (
    CONTROL_ENDED,
    CONTROL_HELLO,
    CONTROL_RUN,
    CONTROL_STARTED,
    CONTROL_SURVEY,
    SURVEY_HEAD,
    MessageType,
)
from eitherway.sandbox.box import Sandbox
from eitherway.sandbox.kept import Kept
from eitherway.sandbox.memory import taken
from eitherway.sandbox.processes import children, first_to_go, is_stopped, kept_waiting
from eitherway.worlds.threads.captured import Capture, Captured
from eitherway.worlds.threads.course import Conductor, Course, Ended, Known, Plan
from eitherway.worlds.threads.family import Found
from eitherway.worlds.threads.guide import UNGUIDED, Guidance, Shown
from eitherway.worlds.threads.launch import Launch, options_text
from eitherway.worlds.threads.open_files import mapped_privately, open_to_write
from eitherway.worlds.threads.policies import BRANCH
from eitherway.worlds.threads.run import (
    Memories,
    Ran,
    is_replay,
    known_end,
    opened,
    options_of,
)
from eitherway.worlds.threads.shared import content, memory, parts
from eitherway.worlds.threads.standard_input import begin_again, standard_input
from eitherway.worlds.threads.trace_request import USUAL, TraceRequest

SURVEY_ROW = np.dtype(
    [
        ("seed", "<u8"),
        ("steps", "<u8"),
        ("schedule", "<u8"),
        ("out_size", "<u8"),
        ("out_hash", "<u8"),
        ("err_size", "<u8"),
        ("err_hash", "<u8"),
        ("status", "<u4"),
        ("stopped", "<u4"),  # a `Stopped`
    ]
)


class Stopped(IntEnum):
    """Why a run did not come to its end."""

    NOT = 0
    FOR_ITSELF = 1  # it took too long, or wrote too much
    WITH_ALL = 2  # there was no more time for any run
    WITH_SERVER = 3  # it ended who runs it, and so itself


_NEVER_ANSWERED = "the program ended before it answered; was it built with `eitherway cc`?"
_AT_ONCE = 4096  # bytes; the answers of a runtime are a few dozen
_AT_LEISURE = Plan()
_LOOK_EVERY = 0.1  # seconds


class Fallen(Unavailable):
    """Who serves is gone: a run has ended it, or the kernel has."""

    def __init__(self) -> None:
        super().__init__("the process that runs the program is gone")


class Surveyed(NamedTuple):
    """What a survey tells."""

    rows: Table  # SURVEY_ROW
    found: Found
    shown: Shown  # by the last run; but the places are those of all
    ran: Ran | None = None  # all of a single run that a seed alone does not bring back


class Standing:
    """A run that stands still, and what its copies find as it left it."""

    def __init__(
        self,
        step: int,
        memories: Memories,
        outputs: Sequence[int],
        given: int,
        files: Kept | None,
    ) -> None:
        """It has just come there; `given` is its standard input, `files` what it has written."""
        self.step = step
        self._files = files
        self.spent = 0.0  # seconds of the processor, by its copies
        self._memories = memories
        self._outputs = outputs
        self._input = given
        self._kept = memories.kept()
        self._sizes = [os.fstat(descriptor).st_size for descriptor in outputs]
        self._at = _position(given)

    def put_back(self) -> bool:
        """Before each copy; False: files cannot be. Output is longer by now, never shorter."""
        if self._files and not self._files.put_back():
            return False
        self._memories.put_back(self._kept)
        for descriptor, size in zip(self._outputs, self._sizes, strict=True):
            os.ftruncate(descriptor, size)
        if self._at is not None:
            os.lseek(self._input, self._at, os.SEEK_SET)
        return True


def _position(descriptor: int) -> int | None:
    """Where it is read next; None where it cannot be set back, because nobody reads there."""
    try:
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    except OSError:
        return None


class Server(Closing):
    """A loaded program that runs as often as asked, one run at a time.

    A replay can be left standing at a step, and then serves in its place: each run that is asked
    for is a copy of it. Those that stand are a pile, of which the last is at work.
    """

    def __init__(self, launch: Launch, *, threads: int = 0, box: Sandbox | None = None) -> None:
        """Start it, in a sandbox if there is one; `threads` are made ready before the first run."""
        ours, theirs = socket.socketpair()
        self._launch = launch
        self._box = box
        self._popen = box.popen if box else subprocess.Popen
        self._stack = ExitStack()
        self._memories = Memories(self._stack)
        with theirs:
            number, guided = theirs.fileno(), self._memories.guide
            self._process = self._popen(
                launch.command,
                cwd=launch.directory,
                env=launch.environment_with(
                    {"server": number, "threads": threads, "guided": guided}
                ),
                pass_fds=[number, guided],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours
        self._sent = 0
        self._decoder = Decoder()
        self._arrived: deque[Message] = deque()
        self._standing: list[Standing] = []
        self._run = 0  # the process of the last one that was started, as it knows itself
        self.is_gone = False  # a run was its end: there is nobody to ask any more
        self.spent = 0.0  # seconds of the processor, by all runs that are over
        self._input = self._stack.enter_context(
            standard_input(launch.source, launch.stdin, live=False)
        )
        self._outputs = [self._output(name) for name in ("out", "err")]
        try:
            first_to_go(self.number)
            self._receive(MessageType.HELLO, CONTROL_HELLO.size)
        except Fallen:
            self.close()
            raise Unavailable(_NEVER_ANSWERED) from None
        except BaseException:
            self.close()
            raise

    def run(
        self,
        *,
        seed: int = 0,
        scheduler: str = "random-walk",
        guidance: Guidance = UNGUIDED,
        replay: Ran | None = None,
        detect: bool = False,
        trace: Path | None = None,
        request: TraceRequest = USUAL,
        plan: Plan = _AT_LEISURE,
    ) -> Ran:
        """One run in a process of its own; with `trace`, it fills that directory as asked."""
        options = options_of(seed, scheduler, replay, guidance, detect=detect)
        self._begin_again()
        with self._memories.options(replay, guidance) as shared, ExitStack() as stack:
            descriptors = [self._input, *self._outputs, *shared.values()]
            if trace is not None:
                descriptors.append(stack.enter_context(opened(trace)))
                # Which one, the message says; whoever asks a server for a trace does not keep it.
                options |= {"trace": 0, "trace-passing": 1, **request.options()}
            self._send_run(options_text(options), descriptors)
            again = is_replay(replay, scheduler)
            course = self._conduct(plan, again, known_end(replay if again else None))
            return self._over(course, plan)

    def _begin_again(self) -> None:
        """Nobody stands, nothing is written, all is to be read."""
        while self._standing:
            self.fall()
        for descriptor in self._outputs:
            os.ftruncate(descriptor, 0)
        begin_again(self._launch.source, self._launch.stdin, self._input)
        for descriptor in self._outputs:
            os.lseek(descriptor, 0, os.SEEK_SET)

    def _conduct(self, plan: Plan, replay: bool, known: Known | None = None) -> Course:
        told = (self, plan, self._launch, self._popen)
        try:
            started = self._receive(MessageType.STARTED, CONTROL_STARTED.size)
            self._run, _ = CONTROL_STARTED.unpack(started)
            course = Conductor(*told, replay=replay, known=known).conduct()
            if self._is_of_another():
                raise Fallen
        except Fallen:
            if not self._memories.began():
                raise
            self.is_gone = True
            self._standing.clear()
            return Course(Ended.FELLED)
        return course

    def _is_of_another(self) -> bool:
        """Whether it ended the run that stood and was its parent, and that is told instead."""
        message = self._arrived[0]
        return (
            message.type == MessageType.ENDED
            and CONTROL_ENDED.unpack(message.payload)[0] != self._run
        )

    def _over(self, course: Course, plan: Plan) -> Ran:
        status = -signal.SIGKILL if self.is_gone else self._ended()
        out, err = map(_captured, self._outputs, plan.kept_from)
        return dataclasses.replace(self._memories.ran(status, out, err), course=course)

    def _ended(self, counted: float = 0.0) -> int:
        """The status of a run that is over; of its time, so much was `counted` already."""
        ended = CONTROL_ENDED.unpack(self._receive(MessageType.ENDED, CONTROL_ENDED.size))
        seconds = (ended[2] + ended[3]) / 1e6  # with its own children's
        self.spent += seconds - counted
        if self._standing:
            self._standing[-1].spent += seconds
        return os.waitstatus_to_exitcode(ended[1])

    # --- runs that stand still

    @property
    def standing(self) -> Sequence["Standing"]:
        """From the first to the last, which is at work."""
        return self._standing

    def put_back(self) -> bool:
        """What the copies of the last one share with it; False: that cannot be done."""
        return self._standing[-1].put_back()

    def stand(self, replay: Ran, guidance: Guidance, step: int, plan: Plan) -> bool:
        """Do a run again up to a step, from where the last one stands; False: it cannot be left.

        If one stands, all is as it left it.
        """
        keeps = self._box is not None and self._box.keeps
        stop = {"branch-stop": step, "branch-cut": step, "branch-files": int(keeps)}
        told = dataclasses.replace(guidance, tuning=stop)
        options = options_text(options_of(0, BRANCH, replay, told, detect=True))
        if self._standing:
            self._send_run(options, [])
            course = self._conduct(plan, replay=True)
        else:
            self._begin_again()
            with self._memories.options(replay, told) as shared:
                self._send_run(options, [self._input, *self._outputs, *shared.values()])
                course = self._conduct(plan, replay=True)
        if self.is_gone:
            return False
        if self._arrived[0].type == MessageType.HELLO:
            self._receive(MessageType.HELLO, CONTROL_HELLO.size)
            if course.ended is Ended.ITSELF:
                return self._stands(step, keeps=keeps)
        self._ended()
        return False

    def _stands(self, step: int, *, keeps: bool) -> bool:
        """One more does, unless it has written what cannot be put back."""
        files = self._box.keep(self.number) if self._box and keeps else None
        stays = not keeps or (files is not None and _holds_all(files, self.process))
        self._standing.append(Standing(step, self._memories, self._outputs, self._input, files))
        if not stays:
            self.fall()
        return stays

    def copy(self, replay: Ran, guidance: Guidance, seed: int, plan: Plan) -> Ran:
        """A branch of the run that stands, at its step or later, where all is as it left it."""
        options = options_of(seed, BRANCH, replay, guidance, detect=True)
        self._send_run(options_text(options), [])
        return self._over(self._conduct(plan, replay=False), plan)

    def fall(self) -> None:
        """End the last one that stands."""
        last = self._standing.pop()
        self._send(MessageType.STOP, b"", [])
        self._ended(counted=last.spent)

    def _output(self, name: str) -> int:
        """Appended to: of memory, unlike files, the kernel does not lock where a writer stands."""
        descriptor = self._stack.enter_context(memory(name, b""))
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
        return descriptor

    # --- the run under way, as `Target` has it

    @property
    def process(self) -> int:
        """There is one run at a time, the child of who serves."""
        serving = list(self._serving())
        whole = len(serving) > len(self._standing)
        return next(iter(children(serving[-1])), 0) if whole else 0

    @property
    def number(self) -> int:
        """Of its process."""
        return self._box.process_of(self._process) if self._box else self._process.pid

    def wait(self, seconds: float | None, also: Sequence[int]) -> bool:
        """What is over is told on the socket."""
        if not self._arrived:
            own = self._socket.fileno()
            ready, _, _ = select.select([own, *also], [], [], seconds)
            if own in ready:
                self._arrived.extend(self._decoder.feed(self._some()))
            elif not ready:
                self._let_go_on()
        return bool(self._arrived)

    def _let_go_on(self) -> None:
        """Who serves and was stopped by its run: nobody else would."""
        for number in self._serving():
            if is_stopped(number):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGCONT)

    def _serving(self) -> Iterator[int]:
        """The first one, and those that stand; as far as they are there."""
        number = self.number
        for _ in range(1 + len(self._standing)):
            if not number:
                return
            yield number
            number = next(iter(children(number)), 0)

    def waits(self) -> int:
        """From the memory that it shares."""
        return self._memories.waits()

    def reached(self) -> int:
        """From the same."""
        return self._memories.reached()

    def leave_alone(self) -> None:
        """In the same."""
        self._memories.leave_alone()

    def wrote(self) -> int:
        """All of it is in memory."""
        return self.stored()

    def written(self) -> tuple[Captured, Captured]:
        """Both lie in memory."""
        out, err = map(_captured, self._outputs)
        return out, err

    def stored(self) -> int:
        """All of it."""
        return sum(os.fstat(descriptor).st_size for descriptor in self._outputs)

    def taken(self) -> int:
        """By its processes, and by what is written in the sandbox."""
        return taken(self.process) + (self._box.written() if self._box else 0)

    # --- many runs

    def survey(
        self,
        seeds: range,
        scheduler: str = "random-walk",
        plan: Plan = _AT_LEISURE,
        *,
        guidance: Guidance = UNGUIDED,
        detect: bool = False,
    ) -> Surveyed:
        """A row for each seed; many times faster than asking one by one.

        Of the plan, time and room count; a run that took more was killed, and is `stopped`.
        """
        self._begin_again()
        options = options_of(0, scheduler, None, guidance, detect=detect)
        del options["seed"]  # each run has its own
        tail = os.fsencode(options_text(options))
        size = SURVEY_HEAD.size + len(seeds) * SURVEY_ROW.itemsize
        with (
            self._memories.options(None, guidance) as shared,
            memory("survey", SURVEY_HEAD.pack(0, 0), size) as rows,
        ):
            descriptors = [self._input, *self._outputs, *shared.values(), rows]
            head = (seeds.start, len(seeds), len(descriptors), 0, len(tail))
            self._send(MessageType.SURVEY, CONTROL_SURVEY.pack(*head) + tail, descriptors)
            stopped = self._watch(rows, plan)
            self._receive(MessageType.SURVEYED, 0)
            table = np.frombuffer(content(rows, SURVEY_HEAD.size, size), dtype=SURVEY_ROW).copy()
            for run, why in stopped.items():
                table["stopped"][run] = why
            return Surveyed(table, self._memories.found(), self._memories.shown())

    def _watch(self, rows: int, plan: Plan) -> dict[int, Stopped]:
        """Kill runs that take too much, until all are over; which ones, and why."""
        stopped: dict[int, Stopped] = {}
        since, current = monotonic(), 0
        while not self.wait(_LOOK_EVERY, []):
            run, process = _done(rows), self.process
            if run != current:
                since, current = monotonic(), run
            deadline, ended = plan.deadline(since)
            if monotonic() > deadline:
                waited = kept_waiting(process, monotonic() - since)
                deadline, ended = plan.deadline(since, waited)
            flood = self.stored() > plan.room or plan.share.is_exceeded(self.taken())
            # Still the same run: then it is the one whose process was seen.
            if (flood or monotonic() > deadline) and process and _done(rows) == run:
                with_all = ended is Ended.CUT_OFF and not flood
                stopped[run] = Stopped.WITH_ALL if with_all else Stopped.FOR_ITSELF
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        return stopped

    def _send_run(self, options: str, descriptors: list[int]) -> None:
        tail = os.fsencode(options)
        payload = CONTROL_RUN.pack(len(descriptors), len(tail)) + tail
        self._send(MessageType.RUN, payload, descriptors)

    def _send(self, kind: MessageType, payload: bytes, descriptors: list[int]) -> None:
        message = Message(kind, payload, self._sent)
        self._sent += 1
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        try:
            self._socket.sendmsg([message.to_bytes()], [rights] if descriptors else [])
        except ConnectionError as error:
            raise Fallen from error

    def _receive(self, kind: MessageType, size: int) -> bytes:
        while not self._arrived:
            self._arrived.extend(self._decoder.feed(self._some()))
        return self._arrived.popleft().expected(kind, size)

    def _some(self) -> bytes:
        try:
            data = self._socket.recv(_AT_ONCE)
        except ConnectionError as error:
            raise Fallen from error
        if not data:
            raise Fallen
        return data

    def close(self) -> None:
        """End it; what still runs ends with it."""
        self._socket.close()
        self._process.kill()
        self._process.wait()
        self._stack.close()


def _holds_all(files: Kept, process: int) -> bool:
    """Whether these are all that the process can write; what it maps stays itself."""
    try:
        files.pin(mapped_privately(process))
        return all(map(files.has_file, open_to_write(process)))
    except OSError:
        return False  # it is not to be looked at


def _done(rows: int) -> int:
    """How many rows of a survey are there."""
    return int(SURVEY_HEAD.unpack(content(rows, 0, SURVEY_HEAD.size))[0])


def _captured(descriptor: int, start: int = 0) -> Captured:
    size = os.fstat(descriptor).st_size
    if not size:
        return Captured(start=start)
    capture = Capture(start)
    for part in parts(descriptor, 0, size):
        capture.add(part)
    return capture.captured()
