# SPDX-License-Identifier: Apache-2.0
"""Whether a finding is still there in a program that was built anew."""

import re
from collections.abc import Iterable
from enum import StrEnum

from eitherway.errors import Problem
from eitherway.find.failures import way_told
from eitherway.find.progress import Budget
from eitherway.find.search import Search, Tell
from eitherway.model.finding import Finding
from eitherway.model.identity import allocations, objects, own_frame, sides
from eitherway.model.words import Kind
from eitherway.recording.read import Recording
from eitherway.worlds.threads.policies import Turn
from eitherway.worlds.threads.recorded import schedule_of
from eitherway.worlds.threads.turns import Turns


class Still(StrEnum):
    """What became of it."""

    THERE = "still there"
    GONE = "gone"
    NOT_REACHED = "no longer reached"  # so nothing can be said of it


def verify(
    finding: Finding, search: Search, turns: Iterable[Turn], budget: Budget, tell: Tell
) -> Still:
    """First with the turns that its recording has, then in many other ways."""
    shown = _turns_of(finding)
    if shown is not None:
        search.try_turns(shown)
    if finding.id not in search.progress.findings:
        search.run(turns, budget, tell)
    if again(finding, search) is not None:
        return Still.THERE
    if search.progress.interrupted:  # what was not looked for is not gone
        raise search.progress.interrupted
    if search.progress.in_vain or missing(finding, search):
        return Still.NOT_REACHED
    return Still.GONE


def again(finding: Finding, search: Search) -> Finding | None:
    """What was found that is the same; its file may have another name, and so it another id.

    A failure is the same when it ends in the same way in the same function: what its thread did
    last before may be another thing by now.
    """
    found = search.progress.findings
    alike = (_without_files, *((_way_to_fail,) if finding.kind is Kind.FAILURE else ()))
    same = (other for known in alike for other in found.values() if known(other) == known(finding))
    return found.get(finding.id) or next(same, None)


def _without_files(finding: Finding) -> tuple[object, ...]:
    """What tells it apart, but for the files in which its functions are."""
    makers = sorted(_FILE.sub("", name) for name in allocations(finding))
    return finding.kind, _functions(finding), makers, objects(finding)


def _way_to_fail(finding: Finding) -> tuple[object, ...]:
    return finding.kind, _functions(finding), way_told(finding.consequence)


def _functions(finding: Finding) -> list[str]:
    return sorted(_FILE.sub("", name) for name in sides(finding))


_FILE = re.compile(r"^[^:]*\.\w+:(?!:)")


def _turns_of(finding: Finding) -> Turns | None:
    """What its recording had; that may have been removed to make room."""
    try:
        with Recording.open(finding.evidence) as recording:
            return Turns.of(schedule_of(recording))
    except Problem:
        return None


def missing(finding: Finding, search: Search) -> tuple[str, ...]:
    """Functions that it is about and in which the program was not."""
    named = dict.fromkeys(own_frame(op.stack).function for op in finding.operations)
    reached = search.functions()
    return tuple(name for name in named if name and name not in reached)
