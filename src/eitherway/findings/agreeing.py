# SPDX-License-Identifier: Apache-2.0
"""The same race as several tools tell it: one that says less is the one that says more.

Tools differ in what they know: DRD tells one side, Helgrind the structure and not its field, Go no
variable at all. So a finding of another tool is taken for one of the list, if that has the same
world, kind and sides, and more besides, and if there is only one that it can be.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eitherway.findings.merge import absorbed
from eitherway.model.finding import Finding
from eitherway.model.identity import allocations, objects, sides
from eitherway.model.names import portable_words
from eitherway.model.words import OURS, Kind, World


@dataclass(frozen=True, slots=True)
class _Said:
    """What a finding says, as far as tools can agree on it."""

    world: World
    kind: Kind
    sides: Counter[str]
    names: frozenset[str]  # of variables
    places: frozenset[str]  # where they lie: "global", "heap block", "stack of thread T"
    makers: frozenset[str]  # functions that allocated them
    tools: frozenset[str]  # who says it

    @classmethod
    def by(cls, finding: Finding) -> "_Said":
        named = any(operation.variable for operation in finding.operations)
        names = frozenset(objects(finding)) if named else frozenset[str]()
        places = frozenset(portable_words(op.object) for op in finding.operations) - _ANYWHERE
        makers = frozenset(allocations(finding))
        tools = frozenset(source.tool for source in finding.sources)
        called = Counter(sides(finding))
        return cls(finding.world, finding.kind, called, names, places, makers, tools)

    def is_less_than(self, other: "_Said") -> bool:
        if (self.world, self.kind) != (other.world, other.kind) or not self.sides <= other.sides:
            return False
        if not self.places <= other.places or not (other.names or self.makers <= other.makers):
            return False
        return all(any(_is_part(whole, part) for part in other.names) for whole in self.names)


_ANYWHERE = frozenset({"", "memory", "mutex"})


def _is_part(whole: str, part: str) -> bool:
    return part == whole or part.startswith(f"{whole}.")


def agreed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The list, with what other tools say less of put to what it is."""
    every = tuple(findings)
    kept = {finding.id: finding for finding in every}
    for part, whole in wholes(every).items():
        kept[whole] = absorbed(kept[whole], kept.pop(part))
    return tuple(kept.values())


def wholes(findings: Sequence[Finding]) -> dict[str, str]:
    """For each finding that says less than exactly one other, the id of that one."""
    said = {finding.id: _Said.by(finding) for finding in findings}
    by_side: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        for side in said[finding.id].sides:
            by_side[side].append(finding)
    found = {finding.id: _whole_of(finding, said, by_side) for finding in findings}
    return {part: whole for part, whole in found.items() if whole is not None}


def _whole_of(
    finding: Finding, said: dict[str, _Said], by_side: defaultdict[str, list[Finding]]
) -> str | None:
    """The id of the one finding that says the same and more."""
    if any(source.tool == OURS for source in finding.sources):
        return None
    own = said[finding.id]
    fewest = min((by_side[side] for side in own.sides), key=len, default=[])
    more = [
        other.id
        for other in fewest
        if other.id != finding.id
        and own.is_less_than(said[other.id])
        and not said[other.id].is_less_than(own)
    ]
    # One that says less than another of them would itself be taken for that one.
    most = [
        one
        for one in more
        if not any(said[one].is_less_than(said[other]) for other in more if other != one)
    ]
    # One that this tool has told before stays what it was, whatever else has come to the list.
    before = [one for one in most if own.tools <= said[one].tools] if len(most) > 1 else most
    return before[0] if len(before) == 1 else None
