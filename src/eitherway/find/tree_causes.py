# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause as one: two processes meet at a file in many calls, and fail in one way.

Who reads a file before another has renamed a new one over it reads before that one was made, given
its owner and written, too: each of these pairs has two orders, and all of them say the same.
"""

from collections.abc import Iterable
from dataclasses import replace

from eitherway.model.finding import Finding, Ordered
from eitherway.model.words import Kind

_NAMED = 3  # further pairs that a sentence names


def by_cause(findings: Iterable[Finding]) -> list[Finding]:
    """In the order of the first of each cause; the others stand in its explanation."""
    groups: list[list[Finding]] = []
    for finding in findings:
        same = [group for group in groups if any(_is_one(finding, other) for other in group)]
        joined = [each for group in same for each in group] + [finding]
        if same:
            groups[groups.index(same[0])] = joined
            groups = [group for group in groups if group not in same[1:]]
        else:
            groups.append(joined)
    return [_told(group) for group in groups]


def shares_with(one: Finding, other: Finding) -> bool:
    """Whether the same processes meet at a file that is in both."""
    return _actors(one) == _actors(other) and not _files(one).isdisjoint(_files(other))


def _is_one(one: Finding, other: Finding) -> bool:
    alike = one.klass is other.klass and _does(one.orders) == _does(other.orders)
    return alike and shares_with(one, other)


def _does(orders: tuple[Ordered, ...]) -> list[str]:
    return [order.does for order in orders]


def _actors(finding: Finding) -> frozenset[str]:
    return frozenset(operation.actor for operation in finding.operations)


def _files(finding: Finding) -> set[str]:
    return {operation.variable for operation in finding.operations} - {""}


def _told(group: list[Finding]) -> Finding:
    first = min(group, key=_rank)
    rest = [finding for finding in group if finding is not first]
    if not rest:
        return first
    pairs = list(dict.fromkeys(map(_calls, rest)))
    more = "" if len(pairs) <= _NAMED else f" and {len(pairs) - _NAMED} more"
    what = "another race" if len(rest) == 1 else f"{len(rest)} more races"
    sentence = (
        f"The same comes of {what} of these processes at the same files, and is not told again: "
        f"{', '.join(pairs[:_NAMED])}{more}."
    )
    return replace(first, explanation=(*first.explanation, sentence))


def _calls(finding: Finding) -> str:
    return "/".join(operation.op for operation in finding.operations)


def _rank(finding: Finding) -> tuple[bool, bool]:
    """What tells more than a pair, then what is about a name rather than what lies under it."""
    names = all(operation.object == "entry" for operation in finding.operations)
    return finding.kind not in (Kind.TOCTOU, Kind.ATOMICITY), not names
