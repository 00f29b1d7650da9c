# SPDX-License-Identifier: Apache-2.0
"""What is needed to run a program many ways and to judge its races."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from eitherway.detect import detect_all
from eitherway.find.confirm import ACCESSES, Tracer
from eitherway.find.judged import Judge
from eitherway.find.specification import ANYTHING, Specification
from eitherway.judge.experiment import CONTINUATIONS
from eitherway.model.finding import Finding
from eitherway.model.words import Kind
from eitherway.sandbox.confined import confined
from eitherway.worlds.threads.course import Plan
from eitherway.worlds.threads.explorer import Explorer
from eitherway.worlds.threads.launch import Launch
from eitherway.worlds.threads.run import Ran
from eitherway.worlds.threads.trace_request import Depth, TraceRequest

USUAL = Plan(timeout=30)


class Bench(NamedTuple):
    """A program, held ready."""

    explorer: Explorer
    tracer: Tracer
    judge: Judge

    def races_in(self, ran: Ran) -> dict[str, Finding]:
        """Data races of one run, by id."""
        traced = self.tracer.trace(ran, TraceRequest(Depth.VALUES))
        findings = traced.findings(detect_all(traced.trace, ACCESSES))
        return {finding.id: finding for finding in findings if finding.kind is Kind.DATA_RACE}


@contextmanager
def bench(
    command: Sequence[str],
    plan: Plan = USUAL,
    specification: Specification = ANYTHING,
    disk: int | None = None,
    continuations: int = CONTINUATIONS,
) -> Iterator[Bench]:
    """Until the block is left; `disk`: bytes that all files may have that are written."""
    launch = Launch.here(command)
    with confined(disk=disk) as box, Explorer(launch, box, plan=plan) as explorer:
        tracer = Tracer(explorer, fixed=True)
        judge = Judge(
            [explorer],
            fixed=True,
            isolation="",
            specification=specification,
            continuations=continuations,
        )
        with judge:
            yield Bench(explorer, tracer, judge)
