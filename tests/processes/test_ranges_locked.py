# SPDX-License-Identifier: Apache-2.0
"""Locks of bytes of a file: those that overlap put their holders in order, others do not."""

from pathlib import Path

import pytest
from tests.processes.harness import ran

from eitherway.detect import detect_all
from eitherway.model.words import Kind
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.traced import Traced, traced

PROGRAM = """\
use Fcntl qw(:DEFAULT :flock :seek F_SETLK F_SETLKW F_RDLCK F_WRLCK F_UNLCK);
use constant OFD => 38;
sub ask {{
    my ($how, $type, $start, $length, $whence) = @_;
    fcntl(L, $how, pack "ssx4qqix4", $type, $whence // 0, $start, $length, 0);
}}
sub take {{ ask(F_SETLKW, F_WRLCK, @_) or die $! }}
sub share {{ ask(F_SETLKW, F_RDLCK, @_) or die $! }}
sub give {{ ask(F_SETLKW, F_UNLCK, @_) or die $! }}
sub reads {{ open F, "<f"; sysread F, my $x, 9; close F }}
sub writes {{ open F, "+<f"; syswrite F, 1; close F }}
for my $one (sub {{ {one} }}, sub {{ {other} }}) {{
    fork or do {{ open L, "+<l"; $one->(); exit 0 }};
}}
wait; wait;
"""
GAVE_UP = 'open M, "<l"; flock M, LOCK_SH; flock L, LOCK_SH; flock L, LOCK_EX | LOCK_NB;'
OTHER_CLOSED = 'open M, "<l"; close M;'


def trace_of(box: Sandbox, work: Path, one: str, other: str) -> Traced:
    (work / "f").write_text("0")
    (work / "l").write_text("0123456789")
    (work / "program").write_text(PROGRAM.format(one=one, other=other), encoding="ascii")
    return traced(ran(box, work, "perl", "program").log, str(work))


def is_open(trace: Traced, file: Path) -> bool:
    """Whether the bytes of a file are touched in no order."""
    races = [race for race in detect_all(trace.trace) if race.kind is Kind.LOAD_STORE]
    about = [{trace.describe(each).variable for each in race.operations} for race in races]
    return {str(file)} in about


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("take(0, 10); writes", "take(10, 10); reads"),
        ("take(0, 10); give(5, 5); writes", "take(5, 5); reads"),
        (f"take(0, 10); {OTHER_CLOSED} writes", "take(0, 10); reads"),
        ("flock L, LOCK_EX; writes", "take(0, 0); reads"),
        ("share(0, 10); writes", "share(5, 10); reads"),
        ("take(0, 10); share(0, 5); writes", "share(0, 5); reads"),
        (f"{GAVE_UP} close M; writes", "flock L, LOCK_EX; reads"),
    ],
    ids=[
        *("apart", "given back", "another closed", "of another sort", "shared", "shared later"),
        "lost for want of more",
    ],
)
def test_locks_that_keep_nobody_out(box: Sandbox, work: Path, one: str, other: str) -> None:
    assert is_open(trace_of(box, work, one, other), work / "f")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("take(0, 10); writes", "take(9, 10); reads"),
        ("take(0, 0); writes", "take(1000, 1); reads"),
        ("take(10, -10); writes", "take(5, 1); reads"),
        ("sysseek L, 7, 0; take(0, 1, SEEK_CUR); writes", "take(7, 1); reads"),
        ("take(-3, 1, SEEK_END); writes", "take(7, 1); reads"),
        ("take(0, 10); give(5, 5); writes", "take(4, 1); reads"),
        ("take(0, 10); writes; share(0, 10)", "share(5, 10); reads"),
        ("share(0, 10); take(0, 10); writes", "share(5, 10); reads"),
        (f"ask(OFD, F_WRLCK, 0, 10); {OTHER_CLOSED} writes", "ask(OFD, F_WRLCK, 5, 1); reads"),
    ],
    ids=[
        *("overlapping", "to the end", "backwards", "from the position", "from the end"),
        *("left of it", "shared afterwards", "shared before", "of an open file"),
    ],
)
def test_locks_that_overlap(box: Sandbox, work: Path, one: str, other: str) -> None:
    assert not is_open(trace_of(box, work, one, other), work / "f")


def test_who_gives_up_at_bytes_that_another_has(box: Sandbox, work: Path) -> None:
    """It races with who gives those back, and not with who gives back others."""
    trace = trace_of(
        box, work, "take(0, 5); take(5, 5); kill 9, $$", "ask(F_SETLK, F_WRLCK, 7, 20) or die"
    )
    pairs = [[trace.describe(each) for each in race.operations] for race in detect_all(trace.trace)]
    parts = {each.part for pair in pairs for each in pair if each.object == "file lock"}
    assert parts == {"bytes 7 to 9"}


def test_bytes_that_are_locked_in_two_orders(box: Sandbox, work: Path) -> None:
    trace = trace_of(box, work, "take(0, 2); take(6, 2)", "take(7, 2); take(1, 2)")
    (race,) = [race for race in detect_all(trace.trace) if race.kind is Kind.DEADLOCK]
    assert {trace.describe(each).part for each in race.operations} == {"byte 1", "byte 7"}
    trace = trace_of(box, work, "take(0, 2); take(6, 2)", "take(8, 2); take(1, 2)")
    assert not any(race.kind is Kind.DEADLOCK for race in detect_all(trace.trace))
