# SPDX-License-Identifier: Apache-2.0
"""Races from a trace. A detector is one file with `find(order) -> list[Race]` and a line here.

Each takes the order it is defined on (the trace is in it), changes nothing, and tells first
witnesses: one race per distinct combination of places in the code, not one per instance.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eitherway.detect import (
    atomicity,
    deadlock,
    interrupted,
    load_store,
    lock_misuse,
    lost_wakeup,
    memory_error,
    near,
    sections,
    toctou,
    tries,
    upgrades,
    wait_wakeups,
    wakeup_waits,
)
from eitherway.detect.found import Found
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace
from eitherway.model.words import EdgeKind, World

ALL_EDGES = (EdgeKind.INHERENT, EdgeKind.CHANCE)
INHERENT_EDGES = (EdgeKind.INHERENT,)
MEMORY_WORLDS = frozenset({World.THREADS, World.KERNEL})
ALL_WORLDS = frozenset(World)


@dataclass(frozen=True, slots=True)
class Detector:
    """A way to find races: on the order of which edges, in which worlds it means something."""

    name: str
    find: Callable[[Order], list[Race]]
    edges: tuple[EdgeKind, ...]
    worlds: frozenset[World]
    guesses: bool = False  # about what the program means to do: right programs are named too
    whole: bool = False  # is wrong about a trace that does not have all of the run


DETECTORS = (
    Detector("load-store", load_store.find, ALL_EDGES, MEMORY_WORLDS),
    Detector("load-store", near.find, ALL_EDGES, frozenset({World.PROCESSES})),
    Detector("load-store", tries.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("wait-wakeups", wait_wakeups.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("wait-wakeups", interrupted.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("wakeup-waits", wakeup_waits.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("toctou", toctou.find, ALL_EDGES, frozenset({World.PROCESSES})),
    Detector("atomicity", atomicity.find, INHERENT_EDGES, MEMORY_WORLDS, guesses=True),
    Detector("atomicity", sections.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("deadlock", deadlock.find, INHERENT_EDGES, ALL_WORLDS),
    Detector("deadlock", upgrades.find, INHERENT_EDGES, frozenset({World.PROCESSES})),
    Detector("lost-wakeup", lost_wakeup.find, INHERENT_EDGES, MEMORY_WORLDS),
    Detector("memory-error", memory_error.find, ALL_EDGES, MEMORY_WORLDS),
    Detector("lock-misuse", lock_misuse.find, ALL_EDGES, MEMORY_WORLDS, whole=True),
)


# Of a trace that has no accesses.
SEEN_LOST = Detector("lost-wakeup", lost_wakeup.find_seen, INHERENT_EDGES, MEMORY_WORLDS)

CERTAIN = tuple(detector for detector in DETECTORS if not detector.guesses)


def detect_all(trace: Trace, detectors: tuple[Detector, ...] = DETECTORS) -> Found:
    """What all detectors of the trace's world find, detector by detector, and their limits."""
    orders: dict[frozenset[int], Order] = {}
    present = frozenset(np.unique(trace.edges["kind"]).tolist())
    races: list[Race] = []
    limits: list[str] = []
    for detector in detectors:
        if trace.world in detector.worlds:
            that_count = present.intersection(map(int, detector.edges))
            if that_count not in orders:
                orders[that_count] = Order.of(trace, detector.edges)
            found = detector.find(orders[that_count])
            races += found
            limits += found.limits if isinstance(found, Found) else ()
    return Found(races, limits)
