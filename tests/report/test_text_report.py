# SPDX-License-Identifier: Apache-2.0
"""The report for people: ThreadSanitizer's layout, then what it lacks."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from eitherway.findings.document import load
from eitherway.model.finding import Confidence, Finding, FoundOperation, Frame, Seen, Summary
from eitherway.model.words import Class, Kind, World
from eitherway.report import REPORTS, report
from eitherway.report.text import TextReport, wants_colour
from eitherway.report.words import MEANINGS, TITLES

SAMPLES = Path(__file__).parents[2] / "format" / "samples" / "findings"
EMPTY = Finding(World.THREADS, Kind.DATA_RACE, (), id="EW-" + 16 * "0")


def text_of(*findings: Finding, summary: Summary | None = None, colour: bool = False) -> str:
    out = io.StringIO()
    every = summary or Summary(len(findings), new=tuple(finding.id for finding in findings))
    TextReport(colour=colour).write(findings, every, out)
    return out.getvalue()


def sample(name: str, kind: Kind) -> Finding:
    return next(f for f in load(str(SAMPLES / name)).findings if f.kind is kind)


def test_a_data_race_looks_as_tools_expect_it() -> None:
    assert (
        text_of(sample("threads.json", Kind.DATA_RACE))
        == """\
==================
WARNING: EitherWay: data race
  Read of size 4 at balance by thread T2 'auditor':
    #0 audit /src/bank/bank.c:17:14 (bank+0x1240)
    #1 auditor /src/bank/bank.c:30:9 (bank+0x12a8)

  Previous write of size 4 at balance by thread T1 'teller' (mutexes: write M1):
    #0 deposit /src/bank/bank.c:12:11 (bank+0x11f4)
    #1 teller /src/bank/bank.c:23:5 (bank+0x11f4)

  Location is global 'balance'

  Mutex M1 (mutex 'till')

  Thread T1 'teller' created at:
    #0 pthread_create <null> (libc.so.6+0x8a1c0)
    #1 main /src/bank/bank.c:41:3 (bank+0x13d2)

  Thread T2 'auditor' created at:
    #0 pthread_create <null> (libc.so.6+0x8a1c0)
    #1 main /src/bank/bank.c:42:3 (bank+0x13d2)

SUMMARY: EitherWay: data race /src/bank/bank.c:17:14 in audit
  id: EW-8d799a201f7701c3
  class: output-differs (the other order changes the output; tried 8 ways)
  reason: standard output differs in 8 of 8 continuations of the flip arm, in none of the others
  consequence: The audit prints 120 instead of 100.
  Let A be the write of size 4 to global 'balance' by thread T1 'teller' in deposit \
(/src/bank/bank.c:12).
  Let B be the read of size 4 of global 'balance' by thread T2 'auditor' in audit \
(/src/bank/bank.c:17).
  Then the outcome can depend on which comes first, because both touch the same global and A writes.
  Suppose the program decides this. Then a chain of locks, starts, joins and wake-ups leads from A \
to B or from B to A, because nothing else orders two actors.
  However, no such chain exists in this run (A holds mutex 'till', B holds no lock): a \
contradiction.
  So the program does not decide it: A came first here, and B can come first.
  evidence: 20310501-120000-000000
  replay: eitherway replay 20310501-120000-000000
==================
EitherWay: 1 finding
"""
    )


def test_a_deadlock_shows_its_cycle() -> None:
    text = text_of(sample("threads.json", Kind.DEADLOCK))
    assert "WARNING: EitherWay: lock-order-inversion (potential deadlock)\n" in text
    assert "  Cycle in lock order graph: till => accounts => till\n" in text
    assert "  Mutex 'accounts' acquired here while holding mutex 'till' in thread T1:\n" in text


def test_a_cycle_of_pairs_names_each_lock_once() -> None:
    def lock(actor: str, name: str) -> FoundOperation:
        return FoundOperation(actor, "lock", "mutex", name)

    ring = tuple(lock(f"thread T{n // 2}", name) for n, name in enumerate("abbcca"))
    text = text_of(replace(EMPTY, kind=Kind.DEADLOCK, operations=ring))
    assert "  Cycle in lock order graph: a => b => c => a\n" in text


def test_where_things_were_made_is_told() -> None:
    made = (Frame("malloc"), Frame("new_account", "bank.c", 8))
    block = FoundOperation(
        "main thread", "write of size 8", "heap block of 40 bytes", allocated=made
    )
    lock = FoundOperation("main thread", "unlock", "mutex", "till", (), ("mutex 'till'",), (), made)
    text = text_of(replace(EMPTY, operations=(block, lock)))
    made_at = "    #0 malloc <null>\n    #1 new_account bank.c:8\n"
    assert "  Location is heap block of 40 bytes allocated at:\n" + made_at in text
    assert "  Mutex M1 (mutex 'till') created at:\n" + made_at in text


def test_one_side_that_is_not_known() -> None:
    text = text_of(sample("kernel-one-sided.json", Kind.DATA_RACE))
    assert "    [failed to restore the stack]\n" in text
    assert "SUMMARY: EitherWay: data race fs/inode.c:317 in inc_nlink\n" in text


def test_places_as_far_as_known() -> None:
    frames = (
        Frame("f", "a.c", 3, 4),
        Frame("f", "a.c", 3),
        Frame("f", "a.c"),
        Frame("f", "", 3, 4),
        Frame("", "a.c", 0, 4),
        Frame(module="/bin/x", offset=255),
        Frame(),
    )
    operation = FoundOperation("main thread", "read", stack=frames)
    lines = text_of(replace(EMPTY, operations=(operation,))).split("\n")
    assert [line for line in lines if line.startswith("    #")] == [
        "    #0 f a.c:3:4",
        "    #1 f a.c:3",
        "    #2 f a.c",
        "    #3 f <null>",
        "    #4 <null> a.c",
        "    #5 <null> <null> (/bin/x+0xff)",
        "    #6 <null> <null>",
    ]


def test_a_stripped_program_has_its_module_in_the_summary() -> None:
    operation = FoundOperation("main thread", "read", stack=(Frame(module="/bin/x", offset=255),))
    text = text_of(replace(EMPTY, operations=(operation,)))
    assert "SUMMARY: EitherWay: data race (/bin/x+0xff)\n" in text


def test_three_operations_are_told_in_the_order_seen() -> None:
    text = text_of(sample("processes.json", Kind.TOCTOU))
    assert re.findall(r"^  (\w+) at /etc", text, re.MULTILINE) == ["Stat", "Rename", "Open"]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_title(kind: Kind) -> None:
    text = text_of(replace(EMPTY, kind=kind, operations=(FoundOperation("main thread", "lock"),)))
    assert f"WARNING: EitherWay: {TITLES[kind]}\n" in text


@pytest.mark.parametrize("klass", Class)
def test_every_class_has_a_meaning_and_none_promises_safety(klass: Class) -> None:
    text = text_of(replace(EMPTY, klass=klass, confidence=Confidence(2, 3)))
    assert f"  class: {klass.value} ({MEANINGS[klass]}; tried 6 ways)\n" in text
    assert not re.search("safe|benign", text)


def test_the_summary_tells_what_was_left_out() -> None:
    summary = Summary(
        findings=2,
        new=("EW-" + 16 * "1",),
        gone=("EW-" + 16 * "2",),
        suppressed=3,
        unused_suppressions=("x.supp:3: race:foo",),
        classes={Class.UNJUDGED: 2},
        notes=("8 schedules were tried.",),
    )
    text = text_of(replace(EMPTY, seen=Seen(count=4)), summary=summary)
    assert "  id: EW-0000000000000000, in the baseline\n" in text
    assert "  seen: 4 times\n" in text
    assert text.endswith(
        "EitherWay: 2 findings: 2 unjudged\n"
        "  1 new, 1 in the baseline, 1 gone\n"
        "  gone: EW-2222222222222222\n"
        "  3 suppressed\n"
        "  matched nothing: x.supp:3: race:foo\n"
        "  8 schedules were tried.\n"
    )


def test_nothing_found() -> None:
    assert text_of() == "EitherWay: 0 findings\n"


EVIL = "x\x1b[2J\x07\r\n\x9b31m\u202e\u2028\udcff"


def test_no_text_of_the_program_reaches_the_terminal_unescaped() -> None:
    frame = Frame(EVIL, EVIL, 1, 2, EVIL, 3)
    side = FoundOperation(EVIL, EVIL, EVIL, EVIL, (frame,), (EVIL,), (frame,), (frame,), EVIL)
    finding = replace(
        EMPTY, operations=(side, side), reason=EVIL, consequence=EVIL, explanation=(EVIL,),
        replay=EVIL, evidence=EVIL,
    )  # fmt: skip
    for kind in Kind:
        summary = Summary(1, unused_suppressions=(EVIL,), notes=(EVIL,))
        text = text_of(replace(finding, kind=kind), summary=summary)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]", text)
        assert text.count("\n") == text_of(
            replace(plain(finding), kind=kind), summary=summary
        ).count("\n")


def plain(finding: Finding) -> Finding:
    """The same finding with harmless names: as many lines, or a name has made one up."""
    frame = Frame("x", "x", 1, 2, "x", 3)
    side = FoundOperation("x", "x", "x", "x", (frame,), ("x",), (frame,), (frame,), "x")
    return replace(finding, operations=(side, side))


def test_colours_are_for_terminals_only() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert wants_colour(Terminal(), {"TERM": "xterm"})
    assert wants_colour(Terminal(), {"NO_COLOR": ""})  # set but empty counts as not set
    assert not wants_colour(Terminal(), {"NO_COLOR": "1"})
    assert not wants_colour(Terminal(), {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {"TERM": "xterm"})


def test_colours_change_nothing_but_colours() -> None:
    finding = sample("threads.json", Kind.DATA_RACE)
    coloured = text_of(finding, colour=True)
    assert "\x1b[1;31mWARNING: EitherWay: data race\x1b[0m\n" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == text_of(finding)


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_can_be_asked_for_by_name(name: str) -> None:
    out = io.StringIO()
    report(name).write([EMPTY], Summary(1, new=(EMPTY.id,)), out)
    assert EMPTY.id in out.getvalue()
    assert "\x1b" not in out.getvalue()
