# SPDX-License-Identifier: Apache-2.0
"""Findings to be reported: a race as `check` tells it, and names as a hostile program has them."""

from dataclasses import replace

from eitherway.findings.baseline import Baseline, compare
from eitherway.findings.summary import summarized
from eitherway.findings.verdict import FAILING, failing
from eitherway.model.finding import (
    Excerpt,
    Finding,
    FoundOperation,
    Frame,
    Ordered,
    Seen,
    Source,
    Summary,
)
from eitherway.model.history import Edge, History, Moment
from eitherway.model.identity import identified
from eitherway.model.place import Place
from eitherway.model.words import Class, Kind, OpKind, World

BANK = "/src/bank/bank.c"


def side(actor: str, op: str, function: str, line: int, *, value: str = "") -> FoundOperation:
    return FoundOperation(
        actor=actor,
        op=op,
        object="global",
        variable="balance",
        stack=(Frame(function, BANK, line, 5, "bank", 0x1000 + line), Frame("teller", BANK, 30)),
        created=(Frame("main", BANK, 41),),
        created_by="main thread",
        value=value,
    )


def race(name: str = "balance", klass: Class = Class.UNJUDGED) -> Finding:
    """Two threads on one variable, with the history of the run."""
    first = replace(side("thread T1", "write of size 8", "deposit", 12, value="10"), variable=name)
    second = replace(side("thread T2", "read of size 8", "audit", 17, value="10"), variable=name)
    at = Place("deposit", BANK, 12)
    moments = (
        Moment(0, 0, OpKind.START, "start", "thread 'T1'", place=Place("main", BANK, 41)),
        Moment(1, 1, OpKind.BEGIN, "begin", "thread 'T1'"),
        Moment(1, 2, OpKind.STORE, "write of size 8", f"global '{name}'", "10", at, side=1),
        Moment(2, 9, OpKind.LOAD, "read of size 8", f"global '{name}'", "10", at, side=2),
    )
    return identified(
        Finding(
            world=World.THREADS,
            kind=Kind.DATA_RACE,
            operations=(first, second),
            klass=klass,
            explanation=("Let A be a write.", "Let B be a read.", "So B can come first."),
            replay="eitherway replay 20310501-120000-000001",
            evidence=".eitherway/recordings/20310501-120000-000001",
            sources=(Source("eitherway"),),
            seen=Seen("2031-05-01T12:00:00Z", "2031-05-02T12:00:00Z", 3),
            history=History(
                ("main thread", "thread T1", "thread T2"), moments, (Edge(0, 1), Edge(1, 3, True))
            ),
            code=(Excerpt(BANK, 11, ("{", "    balance = before + amount;", "}")),),
        )
    )


def summary_of(*findings: Finding, known: tuple[Finding, ...] = ()) -> Summary:
    """As a verb makes it."""
    compared = compare(findings, Baseline({one.id: "" for one in known}))
    fails = failing(findings, compared.new, FAILING)
    return summarized(findings, compared, notes=("8 schedules were tried",), failing=fails)


HOSTILE = (
    "</script><script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "]]><owned/>&lt;",
    "x\n::error::owned\r\n%0A::stop-commands::x",
    "`x` | @somebody **x** [a](javascript:owned)",
    "\x1b[31mred\x1b[0m\x00\u202eevil\ufffe\ud800",
    "'; drop, table=1:2",
    "javascript:document.title='owned'",
)


def hostile(text: str) -> Finding:
    """A finding with this text wherever a program can put one."""
    frame = Frame(text, f"/{text}", 3, 4, text, 5)
    operation = FoundOperation(
        actor=text,
        op=text,
        object=text,
        variable=text,
        stack=(frame, frame),
        locks=(text,),
        created=(frame,),
        allocated=(frame,),
        value=text,
        part=text,
        created_by=text,
        allocated_by=text,
    )
    moments = (
        Moment(0, 0, OpKind.STORE, text, text, text, Place(text, f"/{text}", 3), side=1),
        Moment(1, 4, OpKind.LOAD, text, text, text, Place(text, f"/{text}", 3), side=2),
    )
    return identified(
        replace(
            race(),
            operations=(operation, operation),
            reason=text,
            consequence=text,
            explanation=(text, f"Let A be {text}"),
            replay=text,
            evidence=text,
            sources=(Source(text, text),),
            orders=(Ordered(text, text, text, text), Ordered(text, text)),
            history=History((text, text), moments, (Edge(0, 1),)),
            code=(Excerpt(f"/{text}", 3, (text, text)),),
        )
    )
