# SPDX-License-Identifier: Apache-2.0
"""Which races of a process tree are worth a try, and in which order.

There may be thousands. Those that meet in the same way (the same calls of the same programs on
files of one directory) are a cluster; the first of every cluster comes before the second of any.
"""

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from eitherway.findings.from_races import findings_of
from eitherway.model.finding import Finding, FoundOperation, Source
from eitherway.model.race import Race
from eitherway.model.words import OURS, Kind
from eitherway.worlds.processes.cut import (
    Alone,
    Anchors,
    Between,
    Came,
    Choice,
    Cuts,
    Interrupted,
    Pair,
    Ring,
    Unended,
)
from eitherway.worlds.processes.known import Known
from eitherway.worlds.processes.traced import Traced

_THREES = (Kind.TOCTOU, Kind.ATOMICITY)
_ONE_ORDER = "its calls have one order only, or what one waits for is no call"
_LIGHT = ("the size and times", "the attributes", "the number of links")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A race with the finding that it would be."""

    finding: Finding
    anchors: Anchors
    operations: tuple[int, ...]
    sides: tuple[FoundOperation, ...]  # of the finding, those whose order is tried

    def is_part_of(self, other: "Candidate") -> bool:
        """Whether what it is about is two of the three that the other, of any run, is about."""
        if not isinstance(self.anchors, Pair) or not isinstance(other.anchors, Between):
            return False
        mine, three = (set(map(_who, each.finding.operations)) for each in (self, other))
        return mine <= three


@dataclass(frozen=True, slots=True)
class Candidates:
    """Of one run, what is to be tried first in front; several instances of one finding together."""

    groups: tuple[tuple[Candidate, ...], ...]
    clusters: int
    untried: int  # races of kinds that cannot be tried
    left_out: Mapping[str, int]  # by reason


def _who(operation: FoundOperation) -> tuple[str, ...]:
    return operation.op, operation.place.module, operation.variable


def candidates_of(
    traced: Traced, races: Iterable[Race], evidence: str, *, by_memory: bool = False
) -> Candidates:
    """All of them; `by_memory`: only what is done there, which is not seen, seems to order them."""
    known, cuts = Known(traced), Cuts(traced)
    left_out: Counter[str] = Counter()
    chosen: list[tuple[Race, Anchors]] = []
    untried = 0
    for race in sorted(races, key=_rank):
        if reason := known.reason(race.operations):
            left_out[reason] += 1
        elif (anchors := cuts.anchors(race)) is None:
            untried += 1
        else:
            if isinstance(anchors, Pair):
                anchors = replace(anchors, by_memory=by_memory)
            chosen += [(race, each) for each in (anchors, *cuts.others(race))]
    groups = list(_grouped(traced, chosen, evidence))
    clusters = _clustered(groups)
    return Candidates(tuple(_in_turn(clusters)), len(clusters), untried, dict(left_out))


def not_tried(traced: Traced, races: Sequence[Race], wanted: str) -> str:
    """Why a race that the run shows is no candidate; nothing when it does not show it."""
    known = Known(traced)
    found = findings_of(traced.trace, races, source=Source(OURS), describe=traced.describe)
    for race, finding in zip(races, found, strict=True):
        if finding.id == wanted:
            reason = known.reason(race.operations)
            return f"it is of {reason}, and left out" if reason else _ONE_ORDER
    return ""


def _rank(race: Race) -> tuple[bool, int]:
    """What tells more than a pair comes first; nearer calls are more likely the other way round."""
    return race.kind not in _THREES, max(race.operations) - min(race.operations)


def _grouped(
    traced: Traced, chosen: list[tuple[Race, Anchors]], evidence: str
) -> Iterator[tuple[Candidate, ...]]:
    """By id, the nearest first; two calls that meet in several ways are tried once."""
    found = findings_of(
        traced.trace,
        [race for race, _ in chosen],
        source=Source(OURS),
        evidence=evidence,
        describe=traced.describe,
    )
    groups: dict[str, list[Candidate]] = defaultdict(list)
    known: set[Anchors] = set()
    for (race, anchors), finding in zip(chosen, found, strict=True):
        if anchors not in known:
            known.add(anchors)
            sides = _sides(traced, race, anchors, finding)
            groups[finding.id].append(Candidate(finding, anchors, race.operations, sides))
    return map(tuple, groups.values())


def _sides(
    traced: Traced, race: Race, anchors: Anchors, finding: Finding
) -> tuple[FoundOperation, ...]:
    """Of three operations it is the order of two that is tried: first as it was seen."""
    if isinstance(anchors, Between):
        check, change, use = finding.operations
        seen = {
            Came.BEFORE: (change, check),
            Came.BETWEEN: (change, use),
            Came.AFTER: (use, change),
        }
        return seen[anchors.seen]
    if isinstance(anchors, Interrupted):
        return finding.operations[1:]
    if isinstance(anchors, Choice | Unended | Alone | Ring):
        return finding.operations
    calls = [int(traced.call[number]) for number in race.operations]
    return tuple(finding.operations[calls.index(call)] for call in (anchors.first, anchors.second))


def _clustered(groups: list[tuple[Candidate, ...]]) -> list[list[tuple[Candidate, ...]]]:
    clusters: dict[tuple[object, ...], list[tuple[Candidate, ...]]] = defaultdict(list)
    for group in groups:
        clusters[_shape(group[0].finding)].append(group)
    return sorted(clusters.values(), key=lambda cluster: _is_light(cluster[0][0].finding))


def _in_turn(clusters: list[list[tuple[Candidate, ...]]]) -> Iterator[tuple[Candidate, ...]]:
    for rank in zip_longest(*clusters):
        yield from (group for group in rank if group is not None)


def _shape(finding: Finding) -> tuple[object, ...]:
    return finding.kind, *map(_side, finding.operations)


def _side(operation: FoundOperation) -> tuple[str, ...]:
    """Calls, programs and the directory; not the name in it, but of a process what /proc tells."""
    module, name = operation.place.module, operation.variable
    about = posixpath.dirname(name)
    if operation.object == "process":
        about = name.removeprefix("/proc/").partition("/")[2]
    return operation.op, module, operation.object, about


def _is_light(finding: Finding) -> bool:
    """What is only about sizes and times seldom decides anything."""
    return any(operation.part in _LIGHT for operation in finding.operations)
