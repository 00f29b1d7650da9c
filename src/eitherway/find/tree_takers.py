# SPDX-License-Identifier: Apache-2.0
"""Who takes what lies in a pipe, where a lock in memory lets one reader in at a time.

The workers of a pool share a pipe of jobs. In a run in which one worker did all before the others
had begun, nothing shows that another could have taken one: who finds the lock free makes no call,
and who waits for it seems to come behind. So the worker that took a job is held before it asks for
the lock, until another has taken that job. A branch is a real run: what races there, and not in
the recorded one, is looked for in it.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from eitherway.detect.wakes import wakes_of
from eitherway.find.tree_judge import Tried
from eitherway.find.tree_races import Candidate, Candidates, candidates_of
from eitherway.judge.why import Why
from eitherway.model.order import Order
from eitherway.model.race import BY_MEMORY, Race
from eitherway.model.words import Kind
from eitherway.worlds.processes.cut import Cuts, Pair
from eitherway.worlds.processes.traced import Traced

KEPT = 4  # of what was taken, the last
_TWO = 2
_PARTS = 2  # in which a message is read

Group = tuple[Candidate, ...]


def taken_under_locks(traced: Traced, evidence: str, results: Iterable[Tried] = ()) -> Candidates:
    """What another could have taken, if it had not waited for a lock: one by one, as they came.

    `results`: of pairs of readers by themselves. Whose other order could not be had may be due to
    a lock that was free in this run.
    """
    blocked = {
        _pipe(traced, tried.candidate)
        for tried in results
        if tried.candidate.finding.kind is Kind.WAKEUP_WAITS and tried.verdict.why is Why.BLOCKED
    }
    found = candidates_of(traced, _races(traced, blocked), evidence, by_memory=True)
    each = [candidate for instances in found.groups for candidate in instances]
    return replace(found, groups=tuple(_each(traced, each)))


def _pipe(traced: Traced, candidate: Candidate) -> int:
    return int(traced.trace.operations["range"][candidate.operations[-1]])


def _each(traced: Traced, candidates: Iterable[Candidate]) -> Iterator[Group]:
    cuts, known = Cuts(traced), set[tuple[int, int | None]]()
    for candidate in sorted(candidates, key=lambda each: each.operations):
        anchors = candidate.anchors
        held = cuts.held_earlier(anchors) if isinstance(anchors, Pair) else None
        if held and (held.second, held.held) not in known:  # one message may be read in parts
            known.add((held.second, held.held))
            yield (replace(candidate, anchors=held),)


def _races(traced: Traced, blocked: set[int]) -> list[Race]:
    """What one process took before another did, in no order but by memory."""
    trace = traced.trace
    in_memory = traced.as_seen | traced.by_futex
    found = wakes_of(trace)
    wake = dict(zip(found.wait.tolist(), found.wake.tolist(), strict=True))
    pairs = np.array(list(_takers(traced, list(wake))), dtype=np.int64).reshape(-1, _TWO)
    if not len(pairs):
        return []
    loose = Order.of(replace(trace, edges=trace.edges[~in_memory]))
    ranges = trace.operations["range"]
    chosen = Order.of(trace).before(*pairs.T) | np.isin(ranges[pairs[:, 0]], list(blocked))
    told: dict[int, list[tuple[int, int]]] = defaultdict(list)  # by pipe: of the first that waited
    for one, other in pairs[chosen & loose.concurrent(*pairs.T)].tolist():
        those = told[int(ranges[one])]
        if not those or those[0][1] == other:
            those.append((one, other))
    return [
        Race(Kind.WAKEUP_WAITS, tuple(sorted((wake[one], one, other))), BY_MEMORY)
        for those in told.values()
        for one, other in those[-_PARTS * KEPT :]
    ]


def _takers(traced: Traced, waits: list[int]) -> Iterator[tuple[int, int]]:
    """What was taken, the begin of each, before another process first came to take; and that."""
    trace, rows = traced.trace, traced.trace.operations
    actors = sorted(set(rows["actor"][waits].tolist()))
    process_of = {actor: traced.process(trace.actor(actor).native_id) for actor in actors}
    before: dict[int, deque[int]] = defaultdict(lambda: deque(maxlen=_PARTS * KEPT))
    came: dict[int, set[int]] = defaultdict(set)
    for wait in sorted(waits):
        pipe, process = int(rows["range"][wait]), process_of[int(rows["actor"][wait])]
        if process not in came[pipe]:
            yield from ((taken, wait) for taken in before[pipe])
        came[pipe].add(process)
        before[pipe].append(wait)
