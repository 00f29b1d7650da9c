# SPDX-License-Identifier: Apache-2.0
"""Runs a program under many schedules, each as if it were the first.

A fork server lives in a sandbox. What a run writes goes to the sandbox's own layer; when it was
written to, the sandbox is made anew and the server with it. Most runs of most programs write
nothing, so seeds are run in batches, and a batch that wrote is done again seed by seed.
"""

import dataclasses
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import numpy as np

from eitherway.closing import Closing
from eitherway.model.trace import Table
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.course import Ended, Plan
from eitherway.worlds.threads.driver import Driver
from eitherway.worlds.threads.guide import UNGUIDED, Guidance
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.places import Places
from eitherway.worlds.threads.policies import BRANCH, LEAVING
from eitherway.worlds.threads.run import Ran, is_replay
from eitherway.worlds.threads.schedule import SwitchKind
from eitherway.worlds.threads.server import SURVEY_ROW, Fallen, Server, Stopped, Surveyed
from eitherway.worlds.threads.target import STOP
from eitherway.worlds.threads.trace_request import USUAL, TraceRequest

BATCH = 64
_PART = 0.25  # seconds
_AT_LEISURE = Plan()
_LONGER = 50  # times what a run may take, a replay may
WORTH = 20_000  # steps: what is shorter is done again sooner than it is kept
_LUCK = 2  # more often than not, what a copy has written must be possible to put back
_PILE = 6  # runs that stand still, at most: each holds memory
_CRASHES = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}
_STOPPED = {
    Ended.TIMEOUT: Stopped.FOR_ITSELF,
    Ended.FLOOD: Stopped.FOR_ITSELF,
    Ended.GREED: Stopped.FOR_ITSELF,
    Ended.CUT_OFF: Stopped.WITH_ALL,
    Ended.FELLED: Stopped.WITH_SERVER,
}


class ClosedError(Exception):
    """Somebody else has closed the explorer while it was at work: it runs nothing any more."""


class Explorer(Closing):
    """A program to be run many ways; the sandbox stays the caller's.

    The plan holds for each run: with a driver, each schedule has its own run of the driver, in the
    sandbox and its network.
    """

    def __init__(
        self, launch: Launch, box: Sandbox, *, threads: int = 0, plan: Plan = _AT_LEISURE
    ) -> None:
        """Start a server in the sandbox; `threads` are made ready before each run."""
        self._launch = launch
        self._box = box
        self._threads = threads
        self._plan = plan
        self._size = 1  # of parts
        self._fells = False  # who serves: then each is asked for by itself
        self._writes = False  # what runs last did: then each is alone from the start
        self._spent = 0.0
        self._followed: tuple[Ran, Places] | None = None  # the run that branches were made of last
        self._apart = True  # its copies are, as far as is known
        self._soiled = False  # copies may have written
        self._lost = False  # one that stood: then as few as possible do
        self._luck = _LUCK
        self._drives = 0  # runs with the driver so far
        self._numbered = 1  # threads that such a run had
        self._is_closed = False
        self._starting = threading.Lock()  # who closes it may be another thread than who uses it
        self._server = self._start()

    def run(
        self,
        *,
        seed: int = 0,
        scheduler: str = "random-walk",
        replay: Ran | None = None,
        guidance: Guidance = UNGUIDED,
        detect: bool = False,
        trace: Path | None = None,
        request: TraceRequest = USUAL,
        again: bool = False,
        kept_from: tuple[int, int] = (0, 0),
    ) -> Ran:
        """One run, with everything that is needed to do it again; a replay needs no driver.

        `again`: it is known to have ended, and is waited for beyond the time of all. An interrupt
        that came meanwhile was for us: what the run did then is nothing that the program does.
        """
        plan = _replayed(self._plan) if is_replay(replay, scheduler) else self._plan
        if scheduler in LEAVING:
            plan = dataclasses.replace(plan, driver=None)
        if again:
            plan = dataclasses.replace(plan, until=None)
        if any(kept_from):
            plan = dataclasses.replace(plan, kept_from=kept_from)
        self._begin_afresh()
        ran = self._server.run(
            seed=seed,
            scheduler=scheduler,
            replay=replay,
            guidance=guidance,
            detect=detect,
            trace=trace,
            request=request,
            plan=plan,
        )
        return self._finished(ran, leaves=scheduler in LEAVING)

    def branch(
        self,
        replay: Ran,
        *,
        cut: int,
        seed: int,
        guidance: Guidance,
        kept_from: tuple[int, int] = (0, 0),
    ) -> Ran:
        """A run that leaves another one at a step, or later.

        What comes before is done once for several such runs, where copies of a process are apart
        from each other; else it is done again each time. What comes out is the same.
        """
        plan = dataclasses.replace(self._plan, driver=None, kept_from=kept_from)
        if not self._stands(replay, guidance, cut):
            return self.run(
                replay=replay,
                scheduler=BRANCH,
                seed=seed,
                guidance=guidance,
                detect=True,
                kept_from=kept_from,
            )
        return self._over(self._server.copy(replay, guidance, seed, plan), leaves=True)

    def _finished(self, ran: Ran, *, leaves: bool) -> Ran:
        self._heard(ran)
        if not self._box.dirty():
            return self._served(ran)
        ran = self._with_files(ran) if leaves else ran
        self._renew()
        return ran

    def _over(self, ran: Ran, *, leaves: bool) -> Ran:
        self._heard(ran)
        return self._served(self._with_files(ran) if leaves and self._box.dirty() else ran)

    def _heard(self, ran: Ran) -> None:
        if ran.course.interrupt:
            signal.raise_signal(ran.course.interrupt)

    def _with_files(self, ran: Ran) -> Ran:
        if ran.course.ended is Ended.GREED:
            return ran  # for what it wrote, perhaps: reading that would take long
        return dataclasses.replace(ran, files=self._box.contents(between=self._refuse_closed))

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise ClosedError

    def _served(self, ran: Ran) -> Ran:
        """With somebody to serve the next one."""
        if self._server.is_gone:
            self._renew()
        return ran

    def _begin_afresh(self) -> None:
        """Before a whole run: nothing is left of what copies wrote."""
        if self._soiled:
            self._fall(-1)
            self._clean()
            self._soiled = False

    def _stands(self, ran: Ran, guidance: Guidance, cut: int) -> bool:
        """Whether the run stands at the step, or before it but near."""
        if (
            self._followed is None
            or self._followed[0] is not ran
            or self._followed[1] != (guidance.places)
        ):
            self._fall(-1)
            self._followed = ran, guidance.places
            self._apart, self._lost, self._luck = True, False, _LUCK
        self._fall(cut)
        self._put_back()
        half = _decided_before(ran, cut // 2)
        if not self.standing and not self._lost and half > WORTH:
            self._stand(ran, guidance, half)  # for a race that comes earlier
        if cut - self._step() > WORTH:
            self._stand(ran, guidance, cut)
        return bool(self.standing)

    def _stand(self, ran: Ran, guidance: Guidance, step: int) -> None:
        """Until it was seen that copies would meet: then none stands."""
        if len(self._server.standing) == _PILE:
            self._server.fall()
            self._put_back()
        if not self.standing:
            self._begin_afresh()
        if self._apart:
            self._soiled = True
            self._apart = self._server.stand(ran, guidance, step, _replayed(self._plan))
        if not self._apart:
            self._fall(-1)

    def _put_back(self) -> None:
        """What copies share with the run that stands; where that cannot be, none stands."""
        if not self.standing:
            return
        if not self._box.strays() and self._server.put_back():
            self._luck += 1
            return
        self._lost = True
        self._luck -= 1
        self._apart = self._luck > 0
        self._begin_afresh()

    def _step(self) -> int:
        """Where the run stands."""
        return self.standing[-1] if self.standing else 0

    def _fall(self, step: int) -> None:
        """Those that stand behind it are of no use."""
        while self.standing and self._step() > step:
            self._server.fall()

    @property
    def spent(self) -> float:
        """Seconds of the processor, by all runs so far that are over."""
        return self._spent + self._server.spent

    @property
    def standing(self) -> list[int]:
        """The steps at which a run stands still, for branches to come."""
        return [standing.step for standing in self._server.standing]

    @property
    def process(self) -> int:
        """The server."""
        return self._server.number

    def hurry(self, until: float | None) -> None:
        """From this moment on no run goes on, but for those that are done again."""
        self._plan = dataclasses.replace(self._plan, until=until)

    def survey(self, seeds: range, scheduler: str = "random-walk") -> Table:
        """A row of `server.SURVEY_ROW` for each seed."""
        return np.concatenate([part.rows for part in self.look(seeds, scheduler)])

    def look(
        self,
        seeds: range,
        scheduler: str = "random-walk",
        *,
        guidance: Guidance = UNGUIDED,
        detect: bool = False,
    ) -> Iterator[Surveyed]:
        """The same, part by part, and with what was found in it if that is asked."""
        while seeds:
            part = seeds[: 1 if self._plan.driver or self._writes else self._size]
            seeds = seeds[len(part) :]
            since = monotonic()
            if self._fells:
                yield from self._one_by_one(part, scheduler, guidance, detect=detect)
            elif self._plan.driver:
                yield self._driven(part.start, scheduler, guidance, detect=detect)
            else:
                yield from self._part(part, scheduler, guidance, detect=detect)
            self._fit(len(part), monotonic() - since)

    def _fit(self, done: int, seconds: float) -> None:
        """Parts that take about as long as a person waits for news."""
        fitting = int(done * _PART / max(seconds, 1e-6))
        self._size = max(1, min(BATCH, 2 * self._size, fitting))

    def _driven(self, seed: int, scheduler: str, guidance: Guidance, *, detect: bool) -> Surveyed:
        """In every second run a thread comes late, behind what the driver does: the last first."""
        turn, comes_late = divmod(self._drives, 2)
        late = {"late": self._numbered - turn % self._numbered} if comes_late else {}
        told = dataclasses.replace(guidance, tuning={**guidance.tuning, **late})
        self._drives += 1
        ran = self.run(seed=seed, scheduler=scheduler, guidance=told, detect=detect)
        self._numbered = max(self._numbered, _numbered(ran))
        return surveyed(seed, ran, self._plan.driver)

    def _part(
        self, seeds: range, scheduler: str, guidance: Guidance, *, detect: bool
    ) -> Iterator[Surveyed]:
        self._begin_afresh()
        try:
            done = self._server.survey(
                seeds, scheduler, self._plan, guidance=guidance, detect=detect
            )
        except Fallen:  # which of them it was is seen when each is asked for
            self._fells = True
            self._renew()
            yield from self._one_by_one(seeds, scheduler, guidance, detect=detect)
            return
        self._writes = self._clean()
        if len(seeds) == 1 or not self._writes:
            yield done
            return
        for seed in seeds:
            yield from self._part(range(seed, seed + 1), scheduler, guidance, detect=detect)

    def _one_by_one(
        self, seeds: range, scheduler: str, guidance: Guidance, *, detect: bool
    ) -> Iterator[Surveyed]:
        for seed in seeds:
            ran = self.run(seed=seed, scheduler=scheduler, guidance=guidance, detect=detect)
            yield surveyed(seed, ran)

    def _clean(self) -> bool:
        """Forget what was written; whether anything was."""
        if not self._box.dirty():
            return False
        self._renew()
        return True

    def _renew(self) -> None:
        """Another sandbox, another server."""
        self._spent += self._server.spent
        self._server.close()
        self._box.reset()
        with self._starting:
            self._refuse_closed()
            self._server = self._start()
        self._soiled = False

    def _start(self) -> Server:
        return Server(self._launch, threads=self._threads, box=self._box)

    def close(self) -> None:
        """End the server; there will be no other."""
        with self._starting:
            self._is_closed = True
            self._server.close()


def _numbered(ran: Ran) -> int:
    """How many threads had a turn, or lower numbers than one that had."""
    switches = ran.schedule.switches
    chosen = switches["choice"][switches["kind"] == SwitchKind.THREAD]
    return 1 + int(chosen.max(initial=0))


def _decided_before(ran: Ran, step: int) -> int:
    """The last step up to this one at which something was decided: a replay stops there anyway."""
    steps = ran.schedule.switches["steps"]
    index = int(np.searchsorted(steps, step, side="right"))
    return int(steps[index - 1]) if index else 0


def _replayed(plan: Plan) -> Plan:
    """It ends where the first one did; with a tracer around it, that takes its time."""
    longer = None if plan.timeout is None else _LONGER * plan.timeout
    return dataclasses.replace(plan, driver=None, timeout=longer, until=None)


def surveyed(seed: int, ran: Ran, driver: Driver | None = None) -> Surveyed:
    """A single run as a survey tells it."""
    rows = np.array([_row(seed, ran, driver)], dtype=SURVEY_ROW)
    return Surveyed(rows, ran.found, ran.shown, ran)


def _row(seed: int, ran: Ran, driver: Driver | None) -> tuple[int, ...]:
    streams = (number for stream in (ran.out, ran.err) for number in (stream.size, stream.crc))
    status = _as_waited(_outcome(ran, driver))
    deaf = ran.course.ended is Ended.DRIVEN and -ran.status in (STOP, signal.SIGKILL)
    asked = driver is not None and driver.stop not in (None, signal.SIGKILL)
    stopped = _STOPPED.get(ran.course.ended, Stopped.FOR_ITSELF if deaf and asked else Stopped.NOT)
    return (seed, ran.schedule.steps, ran.schedule.hash, *streams, status, int(stopped))


def _outcome(ran: Ran, driver: Driver | None) -> int:
    """Of a server that its driver was content with, that we stopped it is no failure.

    That it fell is one, whatever the driver says, which may only have noticed it.
    """
    course = ran.course
    asked = course.ended is Ended.DRIVEN and driver and ran.status == -(driver.stop or 0)
    fell = -ran.status in _CRASHES and not asked
    left = course.ended is Ended.ITSELF and ran.status != 0
    if course.driven is None or fell or left:
        return ran.status
    return course.driven.exit_code or (0 if course.ended is Ended.DRIVEN else ran.status)


def _as_waited(status: int) -> int:
    """As wait4 tells it."""
    return -status if status < 0 else status << 8
