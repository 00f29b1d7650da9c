# SPDX-License-Identifier: Apache-2.0
"""Many runs, one list: findings of one id become one.

What is kept does not depend on order or grouping of the runs, and merging the same run again
changes nothing but `seen.count`, which adds up.
"""

import json
from collections.abc import Iterable
from dataclasses import replace

from eitherway.errors import BadInput
from eitherway.model.document import finding_to_json
from eitherway.model.finding import MOST, Finding, Seen


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding per id, most severe class first, then by id."""
    by_id: dict[str, Finding] = {}
    for finding in findings:
        known = by_id.get(finding.id)
        by_id[finding.id] = _alone(finding) if known is None else merge(known, finding)
    return tuple(sorted(by_id.values(), key=lambda f: (-f.klass.urgency, f.id)))


def merge(one: Finding, other: Finding) -> Finding:
    """Two findings of one id: the telling of the more severe one, the sources and times of both."""
    if one.id != other.id:
        raise ValueError(f"{one.id} and {other.id} are two findings")
    if (one.world, one.kind) != (other.world, other.kind):
        raise BadInput(
            f"{one.id} is {_described(one)} in one place and {_described(other)} in another; "
            "an id is made from both, so not all of them come from EitherWay"
        )
    return absorbed(*_telling(one, other))


def absorbed(whole: Finding, part: Finding) -> Finding:
    """The first as it is, with the sources and times of another that tells the same in part."""
    return replace(
        whole,
        sources=tuple(sorted({*whole.sources, *part.sources}, key=lambda s: (s.tool, s.file))),
        seen=_seen(whole.seen, part.seen),
    )


def stamped(finding: Finding, when: str) -> Finding:
    """The finding as seen once, at this time (RFC 3339, UTC)."""
    return replace(finding, seen=Seen(first=when, last=when, count=1))


def _described(finding: Finding) -> str:
    files = ", ".join(source.file for source in finding.sources[:2] if source.file)
    return f"{finding.kind.value} of {finding.world.value}" + (f" ({files})" if files else "")


def _alone(finding: Finding) -> Finding:
    sources = tuple(sorted(set(finding.sources), key=lambda s: (s.tool, s.file)))
    return finding if sources == finding.sources else replace(finding, sources=sources)


def _telling(one: Finding, other: Finding) -> tuple[Finding, Finding]:
    """First the one with the worse class; then the one that more was tried on or that says more.

    The last key is the whole content: a choice by position would depend on the order of the runs.
    """
    first, second = _rank(one), _rank(other)
    if first == second and _bare(one) != _bare(other):  # most often they are the same
        first, second = _content(one), _content(other)
    return (one, other) if first >= second else (other, one)


def _rank(finding: Finding) -> tuple[object, ...]:
    return (
        finding.klass.weight,
        finding.confidence.paths * finding.confidence.schedules,
        bool(finding.evidence),
        sum(len(operation.stack) for operation in finding.operations),
        len(finding.explanation),
        len(finding.history.moments),
    )


def _content(finding: Finding) -> tuple[object, ...]:
    return (json.dumps(finding_to_json(_bare(finding)), sort_keys=True),)


def _bare(finding: Finding) -> Finding:
    return replace(finding, sources=(), seen=Seen())


def _seen(one: Seen, other: Seen) -> Seen:
    return Seen(
        first=min(filter(None, (one.first, other.first)), key=_moment, default=""),
        last=max(one.last, other.last, key=_moment),
        count=min(one.count + other.count, MOST),
    )


def _moment(time: str) -> tuple[str, str, str]:
    """What times are compared by: as text, 12:00:00.5Z would come before 12:00:00Z.

    The text itself decides between two spellings of one moment, so that the order does not.
    """
    seconds, _, fraction = time.removesuffix("Z").partition(".")
    return seconds, fraction.rstrip("0"), time
