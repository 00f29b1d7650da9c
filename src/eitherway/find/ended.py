# SPDX-License-Identifier: Apache-2.0
"""A run of which no finding tells, as a finding: how it ends, and where."""

from eitherway.find.confirm import Tracer
from eitherway.find.endings import Ending, How
from eitherway.find.failures import operations_of
from eitherway.model import outcome as outcomes
from eitherway.model.finding import Finding, Source
from eitherway.model.identity import identified
from eitherway.model.outcome import Outcome
from eitherway.model.words import Kind, World
from eitherway.worlds.threads.branch import outcome_of
from eitherway.worlds.threads.run import Ran

_HOW = {
    outcomes.Ending.EXIT: How.EXIT,
    outcomes.Ending.SIGNAL: How.SIGNAL,
    outcomes.Ending.DEADLOCK: How.DEADLOCK,
    outcomes.Ending.HANG: How.CIRCLE,
    outcomes.Ending.BUDGET: How.HANG,
}
_KINDS = {How.DEADLOCK: Kind.DEADLOCK, How.CIRCLE: Kind.HANG, How.HANG: Kind.HANG}


def ending_of(outcome: Outcome) -> Ending:
    """The same in the words of a search."""
    if outcome.ending is outcomes.Ending.HANG and outcome.code:  # as a search sees it: no circle
        return Ending(How.HANG)
    return Ending(_HOW[outcome.ending], outcome.code)


def finding_of(ran: Ran, tracer: Tracer) -> Finding:
    """Of a run in which races were looked for."""
    ending = ending_of(outcome_of(ran))
    return identified(
        Finding(
            world=World.THREADS,
            kind=_KINDS.get(ending.how, Kind.FAILURE),
            operations=operations_of(ending, ran, tracer),
            sources=(Source("eitherway"),),
        )
    )
