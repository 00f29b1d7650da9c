# SPDX-License-Identifier: Apache-2.0
"""A long list in few lines: what many places race on with one is one line.

The same write may race with a dozen reads. Each is a finding with an id of its own; to see what is
there, it is one thing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from eitherway.model.finding import Finding
from eitherway.model.identity import headline, objects, sides

_NAMED = 5  # of the others


def overview(findings: Sequence[Finding]) -> Iterator[str]:
    """Lines, in the order of the list; each finding is in one of them."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.kind.value, *objects(finding)), []).append(finding)
    for group in groups.values():
        yield from _lines(group)


def _lines(group: list[Finding]) -> Iterator[str]:
    """Those of the side that most have in common first, then the rest in the same way."""
    while group:
        counted = Counter(side for finding in group for side in set(sides(finding)))
        most, count = min(counted.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        if count < 2:
            yield from (f"{headline(finding)} ({finding.id})" for finding in group)
            return
        alike = [finding for finding in group if most in sides(finding)]
        yield _line(alike, most)
        group = [finding for finding in group if finding not in alike]


def _line(alike: list[Finding], side: str) -> str:
    others = sorted({other for finding in alike for other in sides(finding)} - {side}) or [side]
    told = ", ".join(others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    touched = ", ".join(objects(alike[0]))
    about = f" on {touched}" if touched else ""
    return f"{alike[0].kind.value}{about}: {side} with {told}{more} ({len(alike)} findings)"
