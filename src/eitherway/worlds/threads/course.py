# SPDX-License-Identifier: Apache-2.0
"""The course of a run: its driver, its time, its interruption, and how it is brought to an end.

Whatever the reason, an end is a ladder of signals, each with its time to take effect: first what
the program itself knows (SIGTERM), then STOP, which the runtime takes at its next decision point
and notes, so that a replay ends at the very same step, and last SIGKILL.
"""

import os
import signal
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from time import monotonic

from eitherway.sandbox.memory import WHOLE, Share
from eitherway.sandbox.processes import kept_waiting, worked
from eitherway.worlds.threads.driver import Driven, Driver, Driving, Popen
from eitherway.worlds.threads.interrupts import Interrupts
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.target import STOP, Sink, Target, send

GRACE = 5.0  # seconds of its own that a program has to end by itself when it is asked to
_LOOK_EVERY = 0.01  # seconds, while it is not ready yet
_MEASURE_EVERY = 0.1  # seconds: what it takes of memory, and its output there
_NEVER = float("inf")
_UNHEARD = 1.0  # seconds of computing to no decision point: what was sent is not going to be taken

Rung = tuple[int | None, float]  # a signal, or none, and the seconds it has


class Ended(StrEnum):
    """Why a run was over."""

    ITSELF = "by itself"
    DRIVEN = "after its driver"
    TIMEOUT = "out of time"
    CUT_OFF = "when there was no time for any other run either"
    FLOOD = "with more output than is kept"
    GREED = "with more memory than there is for it"
    INTERRUPTED = "interrupted"
    FELLED = "with the process that ran it"
    KNOWN = "at the end of what is known of it"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen while a program runs."""

    timeout: float | None = None  # seconds
    until: float | None = None  # the moment at which all runs are to be over
    driver: Driver | None = None
    grace: float = GRACE
    stopping: float = 2.0  # seconds of its own until a run that decides nothing is killed
    room: int = 1 << 28  # bytes of output that are kept in memory until the run is over
    kept_from: tuple[int, int] = (0, 0)  # a later part of either output that is kept, too
    share: Share = WHOLE  # of memory
    show_driver: Sink | None = None

    def deadline(self, began: float, waited: float = 0) -> tuple[float, Ended]:
        """Until when a run that began then may go on, and what it is when that has passed.

        What it waited for a processor is not its own time: on a busy machine no run is a hang
        because others were at work.
        """
        own = _NEVER if self.timeout is None else began + self.timeout + waited
        if self.until is not None and self.until < own:
            return self.until, Ended.CUT_OFF
        return own, Ended.TIMEOUT


@dataclass(frozen=True, slots=True)
class Course:
    """What did happen."""

    ended: Ended = Ended.ITSELF
    driven: Driven | None = None  # None: there was no driver, or it was never ready for it
    interrupt: int = 0  # the signal that came to us
    driving: bool = False  # the driver was started
    killed: bool = False  # it did not come to an end in any gentler way


@dataclass(frozen=True, slots=True)
class Known:
    """How far a run is known that was killed: code that decides nothing would go on for ever."""

    reached: int  # the step of its last decision point
    wrote: int  # bytes, of all its output


@dataclass(frozen=True, slots=True)
class _Moment:
    """In the life of a run, and what it had come to by then."""

    when: float
    own: float  # seconds since its begin, without those in which others had the processors
    worked: float  # seconds
    reached: int  # step
    wrote: int  # bytes


class Conductor:
    """Sees a run through."""

    def __init__(
        self,
        target: Target,
        plan: Plan,
        launch: Launch,
        popen: Popen,
        *,
        replay: bool,
        known: Known | None = None,
    ) -> None:
        """A replay hears no signal but SIGKILL: those of the recording come instead."""
        self._target = target
        self._plan = plan
        self._launch = launch
        self._popen = popen
        self._gently = not replay
        self._began = monotonic()
        self._deadline, self._at_deadline = plan.deadline(self._began)
        self._awaited = plan.driver
        self._driving: Driving | None = None
        self._driven: Driven | None = None
        self._drives = False
        self._ended = Ended.ITSELF
        self._ladder: deque[Rung] = deque()
        self._climb_at: float | None = None
        self._patience = 0.0  # seconds that it has for what was sent
        self._sent = _Moment(0.0, 0.0, 0.0, 0, -1)
        self._known = known
        self._grew = self._sent  # the output
        self._interrupt = 0
        self._killed = False

    def conduct(self) -> Course:
        """Until it is over."""
        with ExitStack() as stack:
            self._stack = stack
            self._interrupts = stack.enter_context(Interrupts())
            while not self._target.wait(self._pause(), self._streams()):
                self._look()
            self._await_driver()
        told = (self._ended, self._driven, self._interrupt, self._drives, self._killed)
        return Course(*told)

    def _streams(self) -> list[int]:
        return [self._interrupts.fileno(), *(self._driving.streams if self._driving else [])]

    def _pause(self) -> float | None:
        """How long nothing has to be looked at."""
        if self._awaited:
            return _LOOK_EVERY
        now = monotonic()
        moments = [self._deadline] if self._deadline < _NEVER else []
        if self._climb_at is not None:
            moments.append(self._climb_at)
        if self._known or self._climb_at is not None or self._target.stored() is not None:
            moments.append(now + _MEASURE_EVERY)
        return max(min(moments) - now, 0) if moments else None

    def _look(self) -> None:
        now = monotonic()
        if (number := self._interrupts.next()) is not None:
            self._interrupted(number)
        if self._awaited and self._awaited.ready.holds(self._target):
            self._drive(self._awaited)
        if self._driving and (driven := self._driving.look()):
            self._done(driven)
        if now >= self._deadline and not self._has_waited(now):
            self._deadline = _NEVER
            self._end(self._at_deadline, [])
        if (self._target.stored() or 0) > self._plan.room and self._ended is not Ended.FLOOD:
            self._end(Ended.FLOOD, [])
        if self._ended is not Ended.GREED and self._is_greedy():
            self._end(Ended.GREED, [])
        if self._known and self._is_all_there(self._known, now):
            self._known = None
            self._end(Ended.KNOWN, [])
        if self._climb_at is not None and (self._had_its_time(now) or self._is_deaf()):
            self._climb()

    def _is_greedy(self) -> bool:
        return self._plan.share.is_exceeded(self._target.taken())

    def _has_waited(self, now: float) -> bool:
        """Whether it gets more time, for what it did not get of a processor."""
        waited = kept_waiting(self._target.process, now - self._began)
        self._deadline, self._at_deadline = self._plan.deadline(self._began, waited)
        return now < self._deadline

    def _is_all_there(self, known: Known, now: float) -> bool:
        """Whether it did what is known, or comes to no more of it."""
        if self._target.reached() < known.reached:
            return False
        if self._target.wrote() != self._grew.wrote:
            self._grew = self._moment(now)
        return self._grew.wrote >= known.wrote or not self._left(
            self._grew, self._plan.stopping, now
        )

    def _moment(self, now: float) -> _Moment:
        process = self._target.process
        own = now - self._began - kept_waiting(process, now - self._began)
        return _Moment(now, own, worked(process), self._target.reached(), self._target.wrote())

    def _left(self, since: _Moment, seconds: float, now: float) -> float:
        """Of the seconds that it has of its own since that moment; 0 when there are none."""
        if now - since.when < seconds:
            return seconds - (now - since.when)
        return max(0.0, seconds - (self._moment(now).own - since.own))

    # --- the driver

    def _drive(self, driver: Driver) -> None:
        self._awaited = None
        self._drives = True
        start = Driving(driver, self._launch, self._popen, self._plan.show_driver)
        self._driving = self._stack.enter_context(start)

    def _done(self, driven: Driven) -> None:
        self._driving, self._driven = None, driven
        stop = self._plan.driver.stop if self._plan.driver else None
        if self._ended is Ended.ITSELF:
            self._end(Ended.DRIVEN, [(stop, self._plan.grace)])
            self._target.leave_alone()  # after the signal: else time may pass before it

    def _await_driver(self) -> None:
        """The program ended before its driver did, which may notice it."""
        if self._driving and self._ended is Ended.ITSELF:
            self._driven = self._driving.look(self._plan.grace)

    # --- the end

    def _interrupted(self, number: int) -> None:
        """A second time means: not so gently."""
        if self._ended is Ended.INTERRUPTED:
            self._climb()
            return
        self._interrupt = number
        told = number == signal.SIGINT and _terminal_told_all()
        self._end(Ended.INTERRUPTED, [(None if told else number, self._plan.grace)])

    def _end(self, why: Ended, first: list[Rung]) -> None:
        if self._ended is not Ended.ITSELF:  # it has been asked already
            first = []
        self._ended = why
        self._awaited = None
        gently = [*first, (STOP, self._plan.stopping)] if self._gently else []
        self._ladder = deque([*gently, (signal.SIGKILL, float("inf"))])
        self._climb()

    def _climb(self) -> None:
        if not self._ladder:
            return
        number, self._patience = self._ladder.popleft()
        self._killed = number == signal.SIGKILL
        self._sent = self._moment(monotonic())
        self._climb_at = self._sent.when + self._patience if self._ladder else None
        if number is not None:
            send(self._target, number)

    def _had_its_time(self, now: float) -> bool:
        """Whether it did not take what was sent, in all the time that it has for it."""
        left = self._left(self._sent, self._patience, now)
        self._climb_at = now + left
        return not left

    def _is_deaf(self) -> bool:
        """Whether it computes and comes to no decision point, where signals are taken."""
        computed = worked(self._target.process) - self._sent.worked
        return computed >= _UNHEARD and self._target.reached() == self._sent.reached


def _terminal_told_all() -> bool:
    """Whether we are in the foreground of a terminal: its Ctrl-C goes to the program too."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
