# SPDX-License-Identifier: Apache-2.0
"""Explains what a recording shows: its finding gets the shortest run, and the pair that decides."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic

from eitherway.errors import Problem, Unavailable
from eitherway.explain import sentences
from eitherway.find.clock import OutOfTime, alarm
from eitherway.find.explained import Cause, Explainer, Short, Tell, switches, taken
from eitherway.find.judging import recorded_of
from eitherway.find.known import Known
from eitherway.find.lost import Lost
from eitherway.find.orders import Kept, orders_of
from eitherway.findings.from_races import history_of
from eitherway.model.finding import Finding, FoundOperation
from eitherway.model.history import History
from eitherway.model.identity import own_frame
from eitherway.model.text import counted
from eitherway.model.words import Arm, Class, Kind
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.described import Descriptions
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.recorded import Recorded, save
from eitherway.worlds.threads.run import Ran

Keep = Callable[[Ran], Path]  # puts a run where it can be done again


@contextmanager
def explaining(
    launch: Launch, box: Sandbox, store: Store, plan: Plan, *, fixed: bool, tell: Tell
) -> Iterator[Explainer]:
    """A program that is held ready to be explained."""
    with Explorer(launch, box, plan=plan) as explorer:
        yield Explainer(explorer, fixed=fixed, places=Known(launch, store).places, tell=tell)


_FAILURES = (
    Kind.FAILURE,
    Kind.HANG,
    Kind.DEADLOCK,
    Kind.LOST_WAKEUP,
    Kind.MEMORY_ERROR,
)


def is_open(finding: Finding) -> bool:
    """Whether it may be a failure that happened, and was not explained."""
    return finding.kind in _FAILURES and bool(finding.evidence) and not finding.orders


@dataclass(frozen=True, slots=True)
class Refuted:
    """What the run of a finding seemed to show, and what is not so in so many other ones."""

    finding: Finding
    ways: int

    def __str__(self) -> str:
        """For people."""
        wait = own_frame(self.finding.operations[-1].stack)
        where = f"{Path(wait.file).name}:{wait.line}" if wait.file else wait.function
        return (
            f"by what a trace has, the wait at {where} could lose its wake-up; the wake-up came "
            f"first in {counted(self.ways, 'run')}, and none was lost"
        )


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding with why it is so."""

    finding: Finding
    race: Finding | None = None  # the data race that decides, with what its two orders do

    def worse(self, known: Iterable[Finding]) -> Iterator[Finding]:
        """The race, where it is told already, and not as what breaks the program.

        It was judged in another run, and there nothing came of it.
        """
        race = self.race
        if race is None or race.id == self.finding.id:
            return
        for finding in known:
            if finding.id == race.id and finding.klass is not Class.SPEC_VIOLATED:
                yield replace(race, seen=finding.seen, sources=finding.sources)


def explain_all(
    explainer: Explainer, findings: Iterable[Finding], store: Store, until: float, more: float
) -> list[Explained | Refuted]:
    """Those of which the recorded run fails, as long as there is time; and what is not so.

    What is under way then has so many seconds more; else it stays as it was.
    """
    told: list[Explained | Refuted] = []
    with suppress(OutOfTime), alarm(max(until - monotonic(), 0) + more):
        told.extend(_explained_each(explainer, findings, store, until))
    return told


def is_feared(finding: Finding) -> bool:
    """Whether it may be one that no run has shown."""
    return finding.kind is Kind.LOST_WAKEUP and is_open(finding)


def refuted_all(
    explainer: Explainer, findings: Iterable[Finding], until: float, more: float
) -> list[Refuted]:
    """Those that are not so, as `explain_all` tells them, and nothing else."""
    told: list[Refuted] = []
    with suppress(OutOfTime), alarm(max(until - monotonic(), 0) + more):
        for finding in findings:
            with suppress(Problem):
                ran = recorded_of(finding).ran
                left = until - monotonic()
                lost = Lost() if explainer.fails(ran) else _lost(explainer, finding, ran, left)
                if lost.refuted:
                    told.append(Refuted(finding, lost.ways))
    return told


def _explained_each(
    explainer: Explainer, findings: Iterable[Finding], store: Store, until: float
) -> Iterator[Explained | Refuted]:
    for finding in findings:
        left = until - monotonic()
        if left <= 0:
            return
        try:
            recorded = recorded_of(finding)
            ran, seconds = recorded.ran, min(left, _EACH)
            fails = explainer.fails(ran)
            explainer.tell(f"explaining {finding.id}")
            if not fails:
                lost = _lost(explainer, finding, ran, seconds)
                if lost.refuted:
                    yield Refuted(finding, lost.ways)
                if lost.ran is None:
                    continue
                ran = lost.ran
            yield explained(finding, ran, explainer, partial(_keep, recorded, store), seconds)
        except Problem:
            continue  # what was found stays as it was: `eitherway explain` says why


def _lost(explainer: Explainer, finding: Finding, ran: Ran, seconds: float) -> Lost:
    if finding.kind is not Kind.LOST_WAKEUP:
        return Lost()
    return explainer.lost(finding, ran, seconds)


_EACH = 5.0  # seconds to shorten one
_POSSIBLE = (Kind.DEADLOCK, Kind.LOST_WAKEUP)  # told of runs that end well, too
_QUIET = (Class.K_WITNESS_HARMLESS, Class.SINGLE_ORDERING)  # nothing to explain beyond the reason
_ONLY_POSSIBLE = (
    "The recorded run ends well: it only shows that this can happen. No schedule is known yet that "
    "comes to it; eitherway check --seconds 60 may find one."
)


def _keep(recorded: Recorded, store: Store, ran: Ran) -> Path:
    return save(Recorded(recorded.launch, ran), store)


def explained(
    finding: Finding, ran: Ran, explainer: Explainer, keep: Keep, seconds: float
) -> Explained:
    """The finding with why it is so. Raises Unavailable when the run does not come again."""
    if (finding.kind in _POSSIBLE or finding.klass in _QUIET) and not explainer.fails(ran):
        possible = replace(finding, reason=_ONLY_POSSIBLE)
        return Explained(finding if finding.klass in _QUIET else possible)
    short = explainer.shorten(ran, seconds)
    before, after = switches(ran.schedule), switches(short.ran.schedule)
    told = sentences.shortest(before, after, short.runs, whole=short.whole)
    path = keep(short.ran)
    shown = replace(
        finding,
        evidence=os.fspath(path),
        replay=f"eitherway replay {path.name}",
        reason=told,
        orders=(),
    )
    try:
        sought = explainer.cause(short, seconds)
    except Unavailable as problem:
        return Explained(_and(shown, f"Which pair decides is not known: {problem.message}."))
    if sought.cause is not None:
        decided = _with_cause(shown, short, sought.cause, explainer, keep)
        return Explained(decided, _race(decided, sought.cause))
    if not sought.avoided:
        return Explained(_and(shown, sentences.unavoidable(sought.runs)))
    return Explained(_and(shown, sentences.undecided(sought.pairs, whole=sought.whole)))


def _and(finding: Finding, more: str) -> Finding:
    return replace(finding, reason=f"{finding.reason} {more}")


def _with_cause(
    finding: Finding, short: Short, cause: Cause, explainer: Explainer, keep: Keep
) -> Finding:
    critical, pair = cause.critical, cause.sides
    turned = explainer.turned_round(cause)
    other = Kept(turned, outcome_of(turned), keep(turned))
    if cause.fails:
        orders = orders_of(pair, Kept(short.ran, short.outcome, Path(finding.evidence)), other)
    else:
        well = explainer.recorded(cause)
        orders = orders_of(pair, Kept(well, outcome_of(well), keep(well)), other)[::-1]
    return replace(
        _and(finding, sentences.decided(critical.shown, critical.tried, drawn=cause.fails)),
        klass=Class.SPEC_VIOLATED if short.outcome.fails else Class.OUTPUT_DIFFERS,
        confidence=replace(
            finding.confidence, paths=1, schedules=critical.shown, arms=(Arm.FLIP, Arm.CONTROL)
        ),
        orders=orders,
        history=_history(finding, pair, cause),
    )


def _race(told: Finding, cause: Cause) -> Finding | None:
    """The race that decides what a finding tells of, with the same two runs."""
    race = cause.race
    if race is None or told.klass is not Class.SPEC_VIOLATED:
        return None
    return replace(
        race,
        klass=told.klass,
        reason=sentences.of_race(told.id),
        consequence=sentences.of_orders(told.orders),
        confidence=told.confidence,
        evidence=told.evidence,
        replay=told.replay,
        orders=told.orders,
    )


def _open(history: History, pair: tuple[FoundOperation, FoundOperation]) -> History:
    """With the two by their names; who reads what the other wrote comes after it by chance."""
    two = {number for number, moment in enumerate(history.moments) if moment.side}
    edges = (replace(e, chance=e.chance or {e.before, e.after} == two) for e in history.edges)
    moments = (
        replace(m, op=pair[m.side - 1].op, touched=pair[m.side - 1].touched) if m.side else taken(m)
        for m in history.moments
    )
    return replace(history, moments=tuple(moments), edges=tuple(edges))


def _history(
    finding: Finding, pair: tuple[FoundOperation, FoundOperation], cause: Cause
) -> History:
    """Around the two; by the letters of the finding's operations where they are among them."""
    met = cause.critical.pair
    describe = Descriptions(cause.traced.events)
    drawn = _open(history_of(cause.traced.trace, (met.first, met.second), describe), pair)
    letters = sides_of(finding.operations, pair)
    moments = (replace(m, side=letters[m.side - 1] if m.side else 0) for m in drawn.moments)
    return replace(drawn, moments=tuple(moments))


def sides_of(operations: Sequence[FoundOperation], pair: Sequence[FoundOperation]) -> list[int]:
    """Which operation of a finding each of the two is, from 1; those that are none come behind."""
    keys = [[(op.actor, op.op, own_frame(op.stack)) for op in some] for some in (operations, pair)]
    known = [keys[0].index(key) + 1 if key in keys[0] else 0 for key in keys[1]]
    if known[0] == known[1]:
        known = [0, 0]
    behind = count(len(operations) + 1)
    return [side or next(behind) for side in known]
