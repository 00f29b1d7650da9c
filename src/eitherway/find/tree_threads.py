# SPDX-License-Identifier: Apache-2.0
"""Races that only the threads of a process between them seem to put in order.

One thread hears from a child, and another starts or feeds the next one: whether it had to come
behind is decided in their memory, which is not seen. So both are taken to be in order, and here in
none. A branch is a real run: where the order is one, the second does not come while the first is
held back, and nothing is told.
"""

from dataclasses import replace

import numpy as np

from eitherway.detect import near
from eitherway.find.tree_races import Candidates, candidates_of
from eitherway.model.order import Order
from eitherway.model.race import BY_THREADS, Race
from eitherway.worlds.processes.traced import Traced

_KINDS = ("file", "directory")


def ordered_by_threads(traced: Traced, evidence: str) -> Candidates:
    """Those on files, of different processes; the first of each sort."""
    found = candidates_of(traced, _races(traced), evidence, by_memory=True)
    return replace(found, groups=found.groups[: found.clusters])


def _races(traced: Traced) -> list[Race]:
    if not traced.as_seen.any():
        return []
    trace = traced.trace
    without = replace(trace, edges=trace.edges[~traced.as_seen])
    races = [race for race in near.find(Order.of(without)) if _is_of_files(traced, race)]
    pairs = np.array([race.operations for race in races], dtype=np.int64).reshape(-1, 2)
    known = Order.of(trace).concurrent(pairs[:, 0], pairs[:, 1])
    return [
        replace(race, pattern=BY_THREADS)
        for race, is_known in zip(races, known.tolist(), strict=True)
        if not is_known
    ]


def _is_of_files(traced: Traced, race: Race) -> bool:
    trace = traced.trace
    rows = trace.operations[list(race.operations)]
    one, other = (traced.process(trace.actor(actor).native_id) for actor in rows["actor"].tolist())
    touched = trace.range(int(rows["range"][0]))
    return touched is not None and touched.object_kind in _KINDS and one != other
