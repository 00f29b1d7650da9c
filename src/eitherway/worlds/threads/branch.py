# SPDX-License-Identifier: Apache-2.0
"""Branches of a recorded run: two accesses that race, in the order that is asked for, and on.

The run is done again up to the first of the two. From there on each thread still gets from outside
what it got in the recording, as long as it asks for the same.
"""

import hashlib
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from eitherway.errors import Unavailable
from eitherway.model.outcome import Ending, Forced, Outcome
from eitherway.model.trace import Table
from eitherway.model.words import STORES, Arm, OpKind
from eitherway.sandbox.contents import UNREADABLE
from eitherway.worlds.threads.captured import Captured
from eitherway.worlds.threads.course import Ended
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.guide import NOBODY, End, Guidance, PairEnd, Shown
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.policies import BRANCH
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import TraceRequest

_ARMS = {Arm.FLIP: 1, Arm.CONTROL: 2, Arm.PREFIX: 3}
_SECOND_STORES = 2
_PATIENCE = 5  # times as many steps as the run had, until the second access must have come
_AT_LEAST = 20_000  # steps, and times that nobody could go on until something was due
_LONG_WAIT = 50_000_000  # steps, a second or two: of a longer run, as many as it had
_LONGEST = 5  # times as many steps as the run had, that a branch may have behind the two
_SLOWER = 32  # such a part of its steps, one that does the same may have more
SLOW = -1  # the number of a continuation: the second, and the first is held while it looks again
SLOW_STEPS = 500_000  # for so many steps
_LONG = 10_000_000  # steps, about a second: fewer are not worth to be stopped for


@dataclass(frozen=True, slots=True)
class Side:
    """An access of a traced run."""

    thread: int
    step: int
    op: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses to some of the same bytes, as they came in the run."""

    first: Side
    second: Side
    times: int = 1  # which of the second thread's accesses of its sort, after the first one

    @classmethod
    def of(cls, events: Events, first: int, second: int, *, apart: bool = False) -> "Pair":
        """By the numbers of their events; `apart`: they do not touch the same bytes."""
        one, other = side_of(events, first), side_of(events, second)
        if apart:  # of the first only the moment counts
            one = replace(one, low=other.low, high=other.high)
        between = events.events[first + 1 : second + 1]
        return cls(one, other, int(np.count_nonzero(_alike(between, one, other))))

    @property
    def apart(self) -> int:
        """Steps between the two."""
        return self.second.step - self.first.step

    def options(self, arm: Arm) -> dict[str, int]:
        """As native/runtime/options.c reads them."""
        low = max(self.first.low, self.second.low)
        told = {
            "arm": _ARMS[arm],
            "first": self.first.thread,
            "second": self.second.thread,
            "op": self.second.op,
            "times": self.times,
            "address": low,
            "size": min(self.first.high, self.second.high) - low,
            "cut": (self.second if arm is Arm.PREFIX else self.first).step,
            "pause": self.first.step,
            "stores": (self.first.op in STORES) + _SECOND_STORES * (self.second.op in STORES),
        }
        return {f"branch-{name}": value for name, value in told.items()}


def side_of(events: Events, number: int) -> Side:
    """The access of an event."""
    row = events.events[number]
    low = int(row["address"])
    return Side(
        int(row["thread"]), int(row["step"]), int(row["op"]), low, low + max(int(row["size"]), 1)
    )


def _alike(rows: Table, first: Side, second: Side) -> Table:
    """Those of the second thread that do the same to what the first touches too."""
    low, high = max(first.low, second.low), min(first.high, second.high)
    alike: Table = (
        (rows["thread"] == second.thread)
        & (rows["op"] == second.op)
        & (rows["address"] < high)
        & (rows["address"] + rows["size"] > low)
    )
    return alike


@dataclass(frozen=True, slots=True)
class Turned:
    """Of a branch that is only asked whether it does the same as without that."""

    bits: int  # of what the two share, turned round
    usual: int | None = None  # steps of the run without that, if with much more it is another one
    last: bool = False  # once, behind the store of the second thread; else behind each store


@dataclass(frozen=True, slots=True)
class Spec:
    """One branch: all that says what it is, beside the run."""

    pair: Pair
    arm: Arm
    continuation: int  # 0: then the first thread goes on; 1: the second; more: a seed; or SLOW
    turned: Turned | None = None  # where it is no run that is kept

    @property
    def seed(self) -> int:
        """Of the policy."""
        return 1 if self.continuation == SLOW else self.continuation


class Branches:
    """Branches of one run."""

    def __init__(self, explorer: Explorer, ran: Ran, places: Places = NOWHERE) -> None:
        """`places` are decision points when a branch goes on."""
        self._explorer = explorer
        self.ran = ran
        self._places = places
        self._rests = _AT_LEAST  # until the second access must have come
        if reason := why_not(ran):
            raise Unavailable(f"the run cannot be left half-way: {reason}")

    @property
    def steps(self) -> int:
        """Of the run."""
        return self.ran.schedule.reached

    def branch(self, spec: Spec, explorer: Explorer | None = None) -> Outcome:
        """What it does, whoever runs it: any explorer of the same program can."""
        return outcome_of(self.run(spec, explorer))

    def run(
        self, spec: Spec, explorer: Explorer | None = None, kept_from: tuple[int, int] = (0, 0)
    ) -> Ran:
        """The same as a run of its own, which can be kept and done again.

        `kept_from`: where a part of its outputs begins that is kept beside their beginnings.
        """
        explorer, allowed = explorer or self._explorer, self._rests
        ran = self._left(spec, explorer, kept_from)
        told = ran.shown
        if told.pair_end is PairEnd.WAITS and told.rests > allowed:
            recorded = explorer.run(replay=self.ran).shown.rests
            self._rests = max(self._rests, _PATIENCE * recorded)
            if self._rests > allowed:  # others may run branches meanwhile, and have seen to it
                return self._left(spec, explorer, kept_from)
        return ran

    def _left(self, spec: Spec, explorer: Explorer, kept_from: tuple[int, int]) -> Ran:
        return explorer.branch(
            self.ran,
            cut=spec.pair.first.step,
            seed=spec.seed,
            guidance=self._guidance(spec),
            kept_from=kept_from,
        )

    def traced(self, spec: Spec, request: TraceRequest, into: Path) -> Ran:
        """The same with a trace of it."""
        return self._explorer.run(
            replay=self.ran,
            scheduler=BRANCH,
            seed=spec.seed,
            guidance=self._guidance(spec),
            detect=True,
            trace=into,
            request=request,
        )

    def _guidance(self, spec: Spec) -> Guidance:
        longest = max(_LONG, _LONGEST * self.steps)
        if spec.turned and spec.turned.usual is not None:
            usual = max(spec.turned.usual - spec.pair.first.step, 0)
            longest = usual + usual // _SLOWER + _AT_LEAST
        options = {
            **spec.pair.options(spec.arm),
            "branch-patience": _patience(self.steps),
            "branch-rests": self._rests,
            "branch-turned": spec.turned.bits if spec.turned else 0,
            "branch-longest": longest,
            "branch-slow": SLOW_STEPS if spec.continuation == SLOW else 0,
        }
        if spec.turned and spec.turned.last:
            options["branch-stores"] = _SECOND_STORES
        return Guidance(self._places, tuning=options)


def _patience(steps: int) -> int:
    """With who is held back, in a run that had so many."""
    return max(_AT_LEAST, min(_PATIENCE * steps, max(_LONG_WAIT, steps)))


def why_not(ran: Ran) -> str:
    """Why no branch can be made of a run; nothing when one can."""
    return "" if len(ran.members) == 1 else "it has several processes"


# --- what it did

_FORCED = {
    PairEnd.NOT_REACHED: Forced.NOT_REACHED,
    PairEnd.HELD: Forced.CUT_SHORT,
    PairEnd.ORDERED: Forced.AS_ASKED,
    PairEnd.BLOCKED: Forced.BLOCKED,
    PairEnd.ENDED: Forced.ENDED,
    PairEnd.WAITS: Forced.WAITS,
    PairEnd.UNKNOWN: Forced.UNKNOWN,
}


_COMPLAINTS = {
    FoundKind.USE_AFTER_FREE: "memory is used after it was given back",
    FoundKind.DOUBLE_FREE: "memory is given back twice",
    FoundKind.INVALID_FREE: "what is given back is no block",
}


def outcome_of(ran: Ran) -> Outcome:
    """As far as it can be compared."""
    kinds = _kinds(ran.found.rows[ran.found.rows["slot"] == 0])
    ending, code = _ending(ran, kinds)
    writers = _writers(ran.out, ran.shown, "out"), _writers(ran.err, ran.shown, "err")
    return Outcome(
        ending,
        code,
        output={"standard output": ran.out.digest, "standard error": ran.err.digest, **ran.files},
        writers={"standard output": writers[0], "standard error": writers[1]},
        lines={"standard output": ran.out.lines, "standard error": ran.err.lines},
        steps=ran.schedule.reached,
        complaints=tuple(words for kind, words in _COMPLAINTS.items() if kind in kinds),
        forced=_FORCED[ran.shown.pair_end],
        refused=FoundKind.REFUSED in kinds,
        unseen=UNREADABLE in ran.files.values(),
    )


def _writers(written: Captured, shown: Shown, name: str) -> str:
    """A digest of what each thread wrote, whichever it is; where that is not known, of all."""
    rows = NOBODY if shown.threads is None else shown.threads
    sizes, hashes = rows[f"{name}_size"], rows[f"{name}_hash"]
    if int(sizes.sum()) != written.size:
        return written.digest
    return hashlib.sha256(np.sort(hashes[sizes > 0]).tobytes()).hexdigest()


def _kinds(rows: Table) -> set[int]:
    """What was found; a race with an earlier `free` is a use of what is gone, or a second free."""
    if not len(rows):
        return set()
    late = rows[(rows["kind"] == FoundKind.RACE) & (rows["past_op"] == OpKind.FREE)]
    frees = late["op"] == OpKind.FREE
    more = {FoundKind.DOUBLE_FREE: frees.any(), FoundKind.USE_AFTER_FREE: (~frees).any()}
    return {int(kind) for kind in rows["kind"]} | {int(kind) for kind in more if more[kind]}


def _ending(ran: Ran, kinds: Container[int]) -> tuple[Ending, int]:
    if FoundKind.DEADLOCK in kinds:
        return Ending.DEADLOCK, 0
    if FoundKind.HANG in kinds:
        return Ending.HANG, ran.found.stopped_by
    if ran.shown.end is End.BEYOND:
        return Ending.BEYOND, 0
    stopped = ran.course.ended is not Ended.ITSELF or ran.shown.end is End.TOO_LONG
    if stopped or ran.schedule.diverged_at:
        return Ending.BUDGET, 0
    return (Ending.SIGNAL, -ran.status) if ran.status < 0 else (Ending.EXIT, ran.status)
