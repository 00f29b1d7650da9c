# SPDX-License-Identifier: Apache-2.0
"""What each detector must find, straight from its definition on the explicit graph.

Written without the code under test: no segments, clocks, slots or columns, only the closure of
program order and edges, and loops over all operations. Slow, and meant to be read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from eitherway.model.trace import Operation, Trace
from eitherway.model.words import ACCESSES, STORES, EdgeKind, OpFlag, OpKind, World

INHERENT = (EdgeKind.INHERENT,)
ALL_EDGES = (EdgeKind.INHERENT, EdgeKind.CHANCE)


class Graph:
    """Operations of a trace and the closure of what orders them."""

    def __init__(self, trace: Trace, kinds: tuple[EdgeKind, ...]) -> None:
        self.trace = trace
        self.ops = [trace.operation(i) for i in range(len(trace))]
        self.place = [int(trace.stacks["place"][row["stack"]]) for row in trace.operations]
        self.stack = [int(row["stack"]) for row in trace.operations]
        self.range = [int(row["range"]) for row in trace.operations]
        self.endings = {
            (int(e["source"]), int(e["target"]))
            for e in trace.edges
            if e["kind"] == EdgeKind.INHERENT
            and _wakes(self.ops[e["source"]], self.ops[e["target"]])
        }
        self._past = self._closure(kinds)

    def _closure(self, kinds: tuple[EdgeKind, ...]) -> list[int]:
        """The operations before each, as bits."""
        direct: list[list[int]] = [[] for _ in self.ops]
        last: dict[int, int] = {}
        for op in self.ops:
            if op.actor in last:
                direct[op.index].append(last[op.actor])
            last[op.actor] = op.index
        for edge in self.trace.edges:
            if EdgeKind(int(edge["kind"])) in kinds:
                direct[edge["target"]].append(int(edge["source"]))
        past: list[int] = []
        for sources in direct:
            bits = 0
            for source in sources:
                bits |= past[source] | 1 << source
            past.append(bits)
        return past

    def before(self, a: int, b: int) -> bool:
        return bool(self._past[b] >> a & 1)

    def unordered(self, a: int, b: int) -> bool:
        return a != b and not self.before(a, b) and not self.before(b, a)

    def overlap(self, a: int, b: int) -> bool:
        x, y = self.ops[a].range, self.ops[b].range
        if x is None or y is None:
            return False
        return x.object == y.object and x.lo < y.hi and y.lo < x.hi

    def of_actor(self, actor: int) -> list[int]:
        return [op.index for op in self.ops if op.actor == actor]


def _wakes(source: Operation, target: Operation) -> bool:
    return (
        source.kind is OpKind.WAKE
        and target.kind is OpKind.WAIT
        and not source.flags & OpFlag.FAILED
        and source.range is not None
        and target.range is not None
        and source.range.object == target.range.object
    )


Key = tuple[object, ...]
Operations = tuple[int, ...]


# Load-store


def access_side(graph: Graph, i: int) -> Key:
    memory = graph.trace.world is not World.PROCESSES
    atomic = memory and bool(graph.ops[i].flags & OpFlag.ATOMIC)
    return graph.place[i], int(graph.ops[i].kind), atomic


def load_store_key(graph: Graph, operations: Operations) -> Key:
    return tuple(sorted(access_side(graph, i) for i in operations))


def load_store_object_key(graph: Graph, operations: Operations) -> Key:
    one = graph.ops[operations[0]].range
    return (one.object if one else 0, *load_store_key(graph, operations))


def load_store(graph: Graph) -> Iterator[Operations]:
    accesses = [op.index for op in graph.ops if op.kind in ACCESSES]
    for i in accesses:
        for j in accesses:
            kinds = {graph.ops[i].kind, graph.ops[j].kind}
            atomic = access_side(graph, i)[2] and access_side(graph, j)[2]
            if i < j and kinds & STORES and not atomic and conflicting(graph, i, j):
                yield i, j


def conflicting(graph: Graph, i: int, j: int) -> bool:
    return graph.overlap(i, j) and graph.unordered(i, j)


# Locks


@dataclass(frozen=True)
class Taken:
    lock: int
    shared: bool
    since: int


def held(graph: Graph, at: int) -> list[Taken]:
    """What the actor of an operation holds when it begins."""
    hands: list[list[Taken]] = []
    for i in graph.of_actor(graph.ops[at].actor):
        op = graph.ops[i]
        if i == at:
            break
        if op.range is None or op.flags & (OpFlag.FAILED | OpFlag.BLOCKED):
            continue
        mine = next((h for h in hands if h[0].lock == graph.range[i]), None)
        if op.kind is OpKind.ACQUIRE:
            taken = Taken(graph.range[i], bool(op.flags & OpFlag.SHARED), i)
            hands.append([taken]) if mine is None else mine.append(taken)
        elif op.kind is OpKind.RELEASE and mine is not None:
            mine.pop()
            if not mine:
                hands.remove(mine)
    return [h[0] for h in hands]


def exclusive(one: list[Taken], other: list[Taken]) -> bool:
    return any(a.lock == b.lock and not (a.shared and b.shared) for a in one for b in other)


# Atomicity


PATTERNS = ("RWR", "WWR", "RWW", "WRW")


def plays(kind: OpKind) -> str:
    return {OpKind.LOAD: "R", OpKind.STORE: "W", OpKind.UPDATE: "RW"}[kind]


def violates(first: OpKind, remote: OpKind, second: OpKind) -> list[str]:
    if first is OpKind.UPDATE and second is OpKind.UPDATE:
        return []
    return [
        p
        for p in PATTERNS
        if p[0] in plays(first) and p[1] in plays(remote) and p[2] in plays(second)
    ]


def calls(graph: Graph, i: int) -> set[tuple[int, int]]:
    """The innermost function call of an operation and the call around it."""
    trace, found = graph.trace, set()
    stack = graph.stack[i]
    for _ in range(2):
        if stack:
            caller = int(trace.stacks["caller"][stack])
            place = trace.stacks["place"][stack]
            found.add((caller, int(trace.places["function"][place])))
            stack = caller
    return found


def local_pairs(graph: Graph) -> Iterator[tuple[int, int]]:
    """Consecutive accesses of an actor to a range with no place coming twice since the first."""
    for actor in range(len(graph.trace.actors)):
        mine = [i for i in graph.of_actor(actor) if graph.ops[i].kind in ACCESSES]
        for number in {graph.range[i] for i in mine} - {0}:
            region: list[int] = []
            for i in (i for i in mine if graph.range[i] == number):
                sides = {(graph.place[j], graph.ops[j].kind) for j in region}
                if (graph.place[i], graph.ops[i].kind) in sides:
                    region = []
                if region and calls(graph, region[-1]) & calls(graph, i):
                    yield region[-1], i
                region.append(i)


def atomicity(graph: Graph) -> Iterator[Operations]:
    for i, j in local_pairs(graph):
        kept = [lock for lock in held(graph, i) if lock in held(graph, j)]
        for k in range(len(graph.ops)):
            op = graph.ops[k]
            if op.kind not in ACCESSES or op.actor == graph.ops[i].actor:
                continue
            if not violates(graph.ops[i].kind, op.kind, graph.ops[j].kind):
                continue
            between = not graph.before(k, i) and not graph.before(j, k)
            if between and graph.overlap(i, k) and not exclusive(kept, held(graph, k)):
                yield tuple(sorted((i, k, j)))


def roles_of_accesses(graph: Graph, operations: Operations) -> Operations:
    """(first, remote, second) of three accesses, two of them by one actor."""
    actors = [graph.ops[i].actor for i in operations]
    remote = next(i for i in operations if actors.count(graph.ops[i].actor) == 1)
    first, second = (i for i in operations if i != remote)
    return first, remote, second


def atomicity_key(graph: Graph, operations: Operations) -> Key:
    roles = roles_of_accesses(graph, operations)
    return tuple((graph.place[i], graph.ops[i].kind) for i in roles)


# Deadlock


@dataclass(frozen=True)
class Want:
    operation: int
    taken: Taken


def wants(graph: Graph) -> Iterator[Want]:
    for op in graph.ops:
        if op.kind is OpKind.ACQUIRE and op.range is not None and not op.flags & OpFlag.TRY:
            for taken in held(graph, op.index):
                yield Want(op.index, taken)


def blocks(graph: Graph, want: Want, taken: Taken) -> bool:
    shared = bool(graph.ops[want.operation].flags & OpFlag.SHARED)
    return taken.lock == graph.range[want.operation] and not (taken.shared and shared)


def self_waits(graph: Graph) -> Iterator[Operations]:
    for want in wants(graph):
        if graph.ops[want.operation].flags & OpFlag.BLOCKED and blocks(graph, want, want.taken):
            yield want.taken.since, want.operation


def rings(graph: Graph, longest: int) -> Iterator[Operations]:
    """All orders of all sets of requests, kept if they make a ring."""
    candidates = [
        want
        for want in wants(graph)
        if graph.range[want.operation] not in {t.lock for t in held(graph, want.operation)}
    ]
    for size in range(2, longest + 1):
        for ring in permutations(candidates, size):
            if ring[0].operation == min(w.operation for w in ring) and is_ring(graph, ring):
                yield tuple(i for want in ring for i in (want.taken.since, want.operation))


def is_ring(graph: Graph, ring: tuple[Want, ...]) -> bool:
    actors = {graph.ops[want.operation].actor for want in ring}
    locks = {want.taken.lock for want in ring}
    if len(actors) < len(ring) or len(locks) < len(ring):
        return False
    if not all(
        blocks(graph, want, following.taken)
        for want, following in zip(ring, ring[1:] + ring[:1], strict=True)
    ):
        return False
    return all(
        graph.unordered(a.operation, b.operation)
        and not exclusive(held(graph, a.operation), held(graph, b.operation))
        for a in ring
        for b in ring
        if a is not b
    )


def ring_key(graph: Graph, operations: Operations) -> Key:
    steps = [
        (graph.place[operations[i]], graph.place[operations[i + 1]])
        for i in range(0, len(operations), 2)
    ]
    return min(tuple(steps[i:] + steps[:i]) for i in range(len(steps)))


# Waits and wake-ups


def wait_wakeups(graph: Graph) -> Iterator[Operations]:
    """(WAIT, WAKE that ended it, other WAKE)."""
    wakes = usable_wakes(graph)
    for u, w in graph.endings:
        if not graph.ops[w].flags & OpFlag.WILDCARD:
            continue
        for v in wakes:
            if v == u or not graph.overlap(v, w) or graph.before(w, v):
                continue
            takers = [b for a, b in graph.endings if a == v]
            if takers and graph.before(max(takers), w):
                continue
            both = graph.ops[u].flags & graph.ops[v].flags & OpFlag.CUMULATIVE
            if both or not graph.before(u, v):
                yield w, u, v


def wakeup_waits(graph: Graph) -> Iterator[Operations]:
    """(WAKE, WAIT that it ended, other WAIT)."""
    waits = [op.index for op in graph.ops if op.kind is OpKind.WAIT]
    for u, w in graph.endings:
        for x in waits:
            if x == w or not graph.overlap(x, u) or graph.before(x, u):
                continue
            if graph.before(w, x) and not graph.ops[w].flags & OpFlag.TRY:
                continue
            enders = [a for a, b in graph.endings if b == x]
            had_its_own = bool(enders) and graph.before(max(enders), u)
            if graph.ops[u].flags & OpFlag.CUMULATIVE or not had_its_own:
                yield u, w, x


def three_places(graph: Graph, operations: Operations) -> Key:
    """The place of the odd one out, then the two others; of processes the object and who, too."""
    kinds = [graph.ops[i].kind for i in operations]
    single = next(i for i in operations if kinds.count(graph.ops[i].kind) == 1)
    two = [i for i in operations if i != single]
    others = sorted(graph.place[i] for i in two)
    if graph.trace.world is not World.PROCESSES:
        return graph.place[single], *others
    about = int(graph.trace.ranges["object"][graph.range[single]])
    by_one = len({graph.ops[i].actor for i in two}) == 1
    return about, by_one, graph.place[single], *others


def usable_wakes(graph: Graph) -> list[int]:
    return [
        op.index
        for op in graph.ops
        if op.kind is OpKind.WAKE and op.range is not None and not op.flags & OpFlag.FAILED
    ]


def lost_seen(graph: Graph) -> Iterator[Operations]:
    heard = {u for u, _ in graph.endings}
    for u in usable_wakes(graph):
        for w in range(u + 1, len(graph.ops)):
            op = graph.ops[w]
            stuck = op.kind is OpKind.WAIT and op.flags & OpFlag.BLOCKED
            lost = u not in heard and not graph.ops[u].flags & OpFlag.CUMULATIVE
            if stuck and lost and graph.overlap(u, w) and graph.unordered(u, w):
                yield u, w


def lost_possible(graph: Graph) -> Iterator[Operations]:
    for u, w in graph.endings:
        if graph.ops[u].flags & OpFlag.CUMULATIVE or graph.ops[w].flags & OpFlag.TRY:
            continue
        earlier = [i for i in graph.of_actor(graph.ops[w].actor) if i < w]
        begin = earlier[-1] if earlier else None
        if begin is None and not waits_again(graph, w):
            yield u, w
        elif begin is None:
            continue
        elif graph.unordered(begin, u) and not (
            would_notice(graph, u, begin) or waits_again(graph, w)
        ):
            yield tuple(sorted((begin, u, w)))


def waits_again(graph: Graph, w: int) -> bool:
    """Whether the next that others could see of a waiter, after a look, is the same WAIT."""
    later = [i for i in graph.of_actor(graph.ops[w].actor) if i > w]
    waits = [i for i in later if graph.ops[i].kind is OpKind.WAIT]
    if not waits or graph.range[waits[0]] != graph.range[w]:
        return False
    between = [graph.ops[i] for i in later if i < waits[0]]
    seen = [op for op in between if op.kind not in (OpKind.ACQUIRE, OpKind.RELEASE, OpKind.LOAD)]
    touched = {graph.range[op.index] for op in graph.ops if op.actor != graph.ops[w].actor}
    hidden = [op.kind is OpKind.STORE and graph.range[op.index] not in touched for op in seen]
    return all(hidden) and any(op.kind is OpKind.LOAD for op in between)


def would_notice(graph: Graph, u: int, begin: int) -> bool:
    if graph.ops[begin].kind is not OpKind.RELEASE:
        return False
    mutex = [taken for taken in held(graph, begin) if taken.lock == graph.range[begin]]
    looked = [
        i
        for i in graph.of_actor(graph.ops[begin].actor)
        if mutex and mutex[0].since < i < begin
        if graph.ops[i].kind in (OpKind.LOAD, OpKind.UPDATE)
    ]
    stored = [i for i in graph.of_actor(graph.ops[u].actor) if graph.ops[i].kind in STORES]
    if mutex and exclusive(mutex, held(graph, u)) and graph.before(mutex[0].since, u):
        return True  # the waker's section is behind the waiter's
    under_it = any(
        graph.overlap(r, s) and announced(graph, u, s, mutex) for r in looked for s in stored
    )
    if under_it or not mutex:
        return under_it
    if told_by_another(graph, u, begin, mutex[0].lock, looked):
        return True
    return would_notice_under_another(graph, u, mutex[0], stored)


def told_by_another(graph: Graph, u: int, begin: int, lock: int, looked: list[int]) -> bool:
    """Whether the waker read what a third one stored in a section that stored what is looked at."""
    inside = {
        i: taken
        for i in range(begin + 1, u)
        for taken in held(graph, i)
        if taken.lock == lock and not taken.shared
    }
    stores = [i for i in inside if graph.ops[i].kind in STORES]
    waker = graph.ops[u].actor
    telling = set[Taken]()
    for i, section in inside.items():
        read = [s for s in stores if s < i and graph.overlap(s, i)]
        loads = graph.ops[i].kind in (OpKind.LOAD, OpKind.UPDATE)
        if loads and read and inside[read[-1]] in telling:
            if graph.ops[i].actor == waker:
                return True
            telling.add(section)
        mine = graph.ops[i].actor == waker
        if i in stores and not mine and any(graph.overlap(r, i) for r in looked):
            telling.add(section)
    return False


def would_notice_under_another(graph: Graph, u: int, mutex: Taken, stored: list[int]) -> bool:
    """By a look under a lock that the waiter still had when it took the mutex."""
    looked = [
        (other, i)
        for other in held(graph, mutex.since)
        for i in graph.of_actor(graph.ops[mutex.since].actor)
        if other.since < i < mutex.since
        if graph.ops[i].kind in (OpKind.LOAD, OpKind.UPDATE)
    ]
    return exclusive([mutex], held(graph, u)) and any(
        s < u and graph.overlap(r, s) and exclusive([other], held(graph, s))
        for other, r in looked
        for s in stored
    )


def announced(graph: Graph, u: int, s: int, mutex: list[Taken]) -> bool:
    """Whether the mutex keeps a waiter from missing both the store and the WAKE."""
    if s < u and (exclusive(mutex, held(graph, s)) or exclusive(mutex, held(graph, u))):
        return True
    both = [t for t in held(graph, s) if t in held(graph, u)]
    return exclusive(mutex, both)


def two_places(graph: Graph, operations: Operations) -> Key:
    """Of the WAKE and of the WAIT, which comes last; a third one is the begin of the WAIT."""
    wait = operations[-1]
    wake = next(i for i in operations if graph.ops[i].actor != graph.ops[wait].actor)
    return graph.place[wake], graph.place[wait]
