# SPDX-License-Identifier: Apache-2.0
"""The second opinion: the same schedule again, traced, and `detect` on the trace.

The runtime proposes while the program runs, from a shadow of memory; this looks at the operations
themselves. Where the two do not agree one of them is wrong, and it is not the program.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path

import numpy as np

from eitherway.detect import CERTAIN, INHERENT_EDGES, SEEN_LOST, detect_all, load_store
from eitherway.detect.load_store import are_racing
from eitherway.detect.lost_wakeup import are_open
from eitherway.find.candidates import Candidate
from eitherway.findings.from_races import findings_of, side_of, told_of
from eitherway.model.described import Described
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Table, Trace
from eitherway.model.words import Kind, OpKind
from eitherway.recording.read import Recording
from eitherway.sandbox import scratch
from eitherway.worlds.threads.blocks import Blocks
from eitherway.worlds.threads.described import Descriptions
from eitherway.worlds.threads.events import Events
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.family import FoundKind
from eitherway.worlds.threads.named import object_of, trace_of
from eitherway.worlds.threads.places import NOWHERE, Places, places_of
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.strays import strays
from eitherway.worlds.threads.trace_request import RANGES, Depth, TraceRequest, Where

ACCESSES = tuple(d for d in CERTAIN if d.name in ("load-store", "memory-error"))
# Of races on several variables at one place, each is another finding.
ACCESSES_TO_EACH = tuple(
    replace(d, find=partial(load_store.find, per_object=True)) if d.name == "load-store" else d
    for d in ACCESSES
)
MISUSE = tuple(d for d in CERTAIN if d.name == "lock-misuse")
SYNCHRONISATION = tuple(d for d in CERTAIN if d.name in ("deadlock", "lock-misuse"))
# A wake-up is not lost when what it tells of is looked at under a lock: that needs the accesses.
WAKE_UPS = tuple(detector for detector in CERTAIN if detector.name == "lost-wakeup")
# Steps: of longer runs, synchronisation alone is looked at. A million accesses take a second and
# 130 MB.
_ALL_ACCESSES = 1 << 22
_SHORT = 1 << 16  # steps: of longer runs not all accesses are looked at where some are enough
_NOWHERE = Where(0, 1)
_WRONG_FREES = (FoundKind.USE_AFTER_FREE, FoundKind.DOUBLE_FREE, FoundKind.INVALID_FREE)


class _All:
    """Of ids."""

    def __contains__(self, _: object) -> bool:
        return True


_ALL = _All()


@dataclass(frozen=True)
class Traced:
    """A run done again with a tracer around it."""

    events: Events
    differs: tuple[str, ...]  # from what it was
    known: Container[str]  # ids of which a history was drawn already

    @cached_property
    def trace(self) -> Trace:
        """With names, which take longer than the run: only for those who ask."""
        return trace_of(self.events)

    def findings(self, races: Sequence[Race], *, history: bool = True) -> Iterator[Finding]:
        """These races, with all that the run says of what they are about."""
        yield from findings_of(
            self.trace,
            races,
            source=Source("eitherway"),
            describe=self._descriptions,
            known=self.known if history else _ALL,
        )

    def at_end(self, address: int, size: int) -> Described:
        """What lies there when it is over."""
        return self._descriptions.at_end(address, size)

    @cached_property
    def _descriptions(self) -> Descriptions:
        return Descriptions(self.events)

    def side(self, operation: int) -> FoundOperation:
        """One operation of it."""
        return side_of(self.trace, operation, self._descriptions)

    def about(self, operation: int) -> Described:
        """What it touched, as its side tells it, but without the names of all places of the run."""
        op = OpKind(int(self.events.events["op"][operation]))
        return told_of(op, object_of(self.events, operation), self._descriptions(operation))


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a trace says of one schedule."""

    findings: tuple[Finding, ...]
    denied: tuple[Candidate, ...] = ()  # the runtime saw them, and they are not there
    differs: tuple[str, ...] = ()  # in what the run was another one when it was done again
    limits: tuple[str, ...] = ()  # of the search in the trace
    places: Places = NOWHERE  # of the accesses that race


class Tracer:
    """Runs schedules again with a tracer around them."""

    def __init__(
        self, explorer: Explorer, *, fixed: bool, known: Container[str] = frozenset()
    ) -> None:
        """`fixed`: addresses are the same in every run, so that one can be asked for."""
        self._explorer = explorer
        self._fixed = fixed
        self._known = known

    def trace(self, ran: Ran, request: TraceRequest, *, detect: bool = True) -> Traced:
        """What was asked for of a run; detecting, it knows which blocks are there to be freed."""

        def again(into: Path) -> Ran:
            return self._explorer.run(replay=ran, trace=into, request=request, detect=detect)

        done, traced = self.traced(again)
        return replace(traced, differs=tuple(done.differences(ran)))

    def traced(self, run: Callable[[Path], Ran]) -> tuple[Ran, Traced]:
        """What a run did that traces itself into an empty directory, and its trace."""
        with scratch.on_disk() as folder:
            ran = run(folder.path)
            with Recording.open(
                folder.path, incomplete=True
            ) as recording:  # it may have been killed
                events = Events.read(recording)
        return ran, Traced(events, (), self._known)

    def accesses(self, ran: Ran) -> Traced:
        """All of them; of a long run those to bytes that race in it, which it says itself.

        Where nothing is wrong with what is freed, the trace needs no detection besides, which takes
        a quarter of its time.
        """
        if ran.schedule.reached <= _SHORT or not self._fixed:
            return self.trace(ran, TraceRequest())
        own = _found_by_itself(ran)
        if not np.any(own["kind"] == int(FoundKind.RACE)):  # perhaps nobody looked
            own = _found_by_itself(self._explorer.run(replay=ran, detect=True))
        races = own[own["kind"] == int(FoundKind.RACE)]
        bytes_ = [(int(row["address"]), int(row["size"])) for row in races]
        where, *also = _ranges(bytes_) if bytes_ else [_NOWHERE]
        request = TraceRequest(where=where, also=tuple(also))
        traced = self.trace(ran, request, detect=_is_of_frees(own))
        return self.trace(ran, request) if traced.differs else traced

    def races(self, candidates: Sequence[Candidate], ran: Ran) -> Opinion:
        """Look at all accesses to the bytes that the candidates are about, up to the last."""
        stop = max(candidate.step for candidate in candidates) + 1
        bytes_ = [(candidate.address, candidate.size) for candidate in candidates]
        where, *also = _ranges(bytes_) if self._fixed else [Where()]
        request = TraceRequest(Depth.VALUES, stop=stop, where=where, also=tuple(also))
        traced = self.trace(ran, request)
        seen = detect_all(traced.trace, ACCESSES_TO_EACH)
        races = [race for race in seen if not _is_behind_a_block(traced, race)]
        not_shown = _not_shown(traced, candidates, races)
        denied = _within_blocks(traced, not_shown)
        are_astray = denied != not_shown or len(races) < len(seen)
        limits = (*seen.limits, *(_ASTRAY if are_astray else ()))
        found = tuple(traced.findings(races))
        sides = {number for race in races for number in race.operations}
        return Opinion(found, denied, traced.differs, limits, places_of(traced.events, sides))

    def misuse(self, candidates: Sequence[Candidate], ran: Ran) -> Opinion:
        """Look at all locks of the run; to its end, because a wait is told when it is over."""
        traced = self.trace(ran, TraceRequest(Depth.SYNC))
        races = detect_all(traced.trace, MISUSE)
        denied = _not_shown(traced, candidates, races)
        found = tuple(traced.findings(races))
        return Opinion(found, denied, traced.differs, races.limits)

    def order(self, ran: Ran) -> Opinion:
        """Look at the synchronisation of a whole run: deadlocks, wake-ups that can be lost."""
        long = ran.schedule.steps > _ALL_ACCESSES
        traced = self.trace(ran, TraceRequest(Depth.SYNC if long else Depth.ACCESSES))
        looked_for = (*SYNCHRONISATION, *((SEEN_LOST,) if long else WAKE_UPS))
        races = detect_all(traced.trace, looked_for)
        open_still = long and are_open(Order.of(traced.trace, INHERENT_EDGES))
        limits = (*races.limits, *(_NOT_LOOKED_FOR if open_still else ()))
        found = tuple(traced.findings(races))
        return Opinion(found, (), traced.differs, limits)


def _found_by_itself(ran: Ran) -> Table:
    """And not by its children."""
    own: Table = ran.found.rows[ran.found.rows["slot"] == 0]
    return own


def _is_of_frees(rows: Table) -> bool:
    """Whether something was found that has to do with memory that is given back."""
    frees = (rows["op"] == int(OpKind.FREE)) | (rows["past_op"] == int(OpKind.FREE))
    return bool(np.any(frees | np.isin(rows["kind"], list(map(int, _WRONG_FREES)))))


def _ranges(bytes_: Iterable[tuple[int, int]]) -> list[Where]:
    """Of addresses and sizes; what is too much for a request is filled up in between."""
    ranges: list[Where] = []
    for low, high in sorted((address, address + max(size, 1)) for address, size in bytes_):
        if ranges and (low <= ranges[-1].high or len(ranges) > RANGES):
            last = ranges.pop()
            ranges.append(Where(last.low, max(last.high, high)))
        else:
            ranges.append(Where(low, high))
    return ranges


def _not_shown(
    traced: Traced, candidates: Iterable[Candidate], races: Sequence[Race]
) -> tuple[Candidate, ...]:
    """Those that the trace does not show."""
    pairs = [one for one in candidates if _is_race(one)]
    shown = {
        *_that_race(traced, pairs),
        *(one for one in candidates if not _is_race(one) and _tells(traced, one, races)),
    }
    return tuple(candidate for candidate in candidates if candidate not in shown)


def _is_race(candidate: Candidate) -> bool:
    return candidate.key.side.kind == FoundKind.RACE


def _that_race(traced: Traced, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Those whose access races; of accesses at one place, the detector tells the first alone."""
    there = [np.flatnonzero(_is_at(traced, candidate)).tolist() for candidate in candidates]
    racing = iter(are_racing(Order.of(traced.trace), list(chain.from_iterable(there))).tolist())
    for candidate, accesses in zip(candidates, there, strict=True):
        if any(list(islice(racing, len(accesses)))):
            yield candidate


def _tells(traced: Traced, candidate: Candidate, races: Sequence[Race]) -> bool:
    """Whether one of these is at the place of the candidate; of each place the first is told."""
    there = _places_of(traced.trace, np.flatnonzero(_is_at(traced, candidate)).tolist())
    told = {number for race in races for number in race.operations}
    return not there.isdisjoint(_places_of(traced.trace, sorted(told)))


def _is_at(traced: Traced, candidate: Candidate) -> Table:
    rows = traced.events.events
    at: Table = (rows["step"] == candidate.step) & (rows["thread"] == candidate.thread)
    return at


def _within_blocks(traced: Traced, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those whose bytes nobody touched who reached over the end of a block."""
    if not candidates:
        return ()
    rows = traced.events.events[strays(traced.events)]
    low, high = rows["address"], rows["address"] + rows["size"]
    return tuple(
        one
        for one in candidates
        if not np.any((low < one.address + max(one.size, 1)) & (high > one.address))
    )


def _is_behind_a_block(traced: Traced, race: Race) -> bool:
    """Whether of who allocates or frees only that was traced which is not the block's.

    It is about the block, and the access about what lies behind it: where all of a run is traced,
    the two do not meet.
    """
    numbers = np.array(race.operations)
    rows = traced.events.events[numbers]
    is_life = np.isin(rows["op"], [int(OpKind.ALLOCATE), int(OpKind.FREE)])
    if race.kind is not Kind.DATA_RACE or not is_life.any():
        return False
    in_block = Blocks(traced.events.names.memory).find(rows["address"], numbers) >= 0
    return bool(np.any(is_life & ~in_block)) and bool(np.any(strays(traced.events)[numbers]))


_ASTRAY = (
    "some accesses reach over the end of a block of the heap: of races there, those are told that "
    "are within one block",
)


def _places_of(trace: Trace, operations: list[int]) -> set[int]:
    """In the code."""
    return set(trace.stacks["place"][trace.operations["stack"][operations]].tolist())


_NOT_LOOKED_FOR = (
    "wake-ups that were heard, and could have been lost, were not looked for: that takes all "
    f"accesses of a run, and these have more than {_ALL_ACCESSES:,} steps",
)
