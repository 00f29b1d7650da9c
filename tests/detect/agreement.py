# SPDX-License-Identifier: Apache-2.0
"""Each detector compared with its definition on one trace."""

from collections.abc import Callable, Iterable

from tests.detect import oracle
from tests.detect.oracle import ALL_EDGES, INHERENT, Graph, Key, Operations

from eitherway.detect import (
    atomicity,
    deadlock,
    load_store,
    lost_wakeup,
    wait_wakeups,
    wakeup_waits,
)
from eitherway.model.order import Order
from eitherway.model.race import Race
from eitherway.model.trace import Trace

KeyOf = Callable[[Graph, Operations], Key]


def agree(graph: Graph, races: list[Race], truth: Iterable[Operations], key: KeyOf) -> None:
    """The races are true, no two tell the same, and together they tell all."""
    true = list(truth)
    assert {frozenset(race.operations) for race in races} <= {frozenset(o) for o in true}
    keys = [key(graph, race.operations) for race in races]
    assert len(keys) == len(set(keys))
    assert set(keys) == {key(graph, operations) for operations in true}


def check_load_store(trace: Trace) -> None:
    graph = Graph(trace, ALL_EDGES)
    races = load_store.find(Order.of(trace))
    agree(graph, races, oracle.load_store(graph), oracle.load_store_key)


def check_load_store_per_object(trace: Trace) -> None:
    graph = Graph(trace, ALL_EDGES)
    races = load_store.find(Order.of(trace), per_object=True)
    agree(graph, races, oracle.load_store(graph), oracle.load_store_object_key)


def check_atomicity(trace: Trace) -> None:
    graph = Graph(trace, INHERENT)
    races = atomicity.find(Order.of(trace, INHERENT))
    agree(graph, races, oracle.atomicity(graph), oracle.atomicity_key)
    for race in races:
        first, remote, second = oracle.roles_of_accesses(graph, race.operations)
        kinds = (graph.ops[i].kind for i in (first, remote, second))
        assert race.pattern == oracle.violates(*kinds)[0]


def check_deadlock(trace: Trace) -> None:
    graph = Graph(trace, INHERENT)
    races = deadlock.find(Order.of(trace, INHERENT))
    themselves = [race for race in races if race.pattern == "self"]
    agree(graph, themselves, oracle.self_waits(graph), oracle.ring_key)
    rings = [race for race in races if race.pattern != "self"]
    agree(graph, rings, oracle.rings(graph, 4), oracle.ring_key)


def check_wait_wakeups(trace: Trace) -> None:
    graph = Graph(trace, INHERENT)
    races = wait_wakeups.find(Order.of(trace, INHERENT))
    agree(graph, races, oracle.wait_wakeups(graph), oracle.three_places)


def check_wakeup_waits(trace: Trace) -> None:
    graph = Graph(trace, INHERENT)
    races = wakeup_waits.find(Order.of(trace, INHERENT))
    agree(graph, races, oracle.wakeup_waits(graph), oracle.three_places)


def check_lost_wakeup(trace: Trace) -> None:
    graph = Graph(trace, INHERENT)
    races = lost_wakeup.find(Order.of(trace, INHERENT))
    seen = [race for race in races if race.pattern == "seen"]
    agree(graph, seen, oracle.lost_seen(graph), oracle.two_places)
    told = {oracle.two_places(graph, race.operations) for race in seen}
    possible = [race for race in races if race.pattern == "possible"]
    truth = [o for o in oracle.lost_possible(graph) if oracle.two_places(graph, o) not in told]
    agree(graph, possible, truth, oracle.two_places)
