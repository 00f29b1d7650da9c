# SPDX-License-Identifier: Apache-2.0
"""Locks of files, and names that stand for one: who waits is right, who gives up may fail."""

from pathlib import Path

import pytest
from tests.processes.harness import launch

from eitherway.detect import detect_all
from eitherway.find.tree_judge import TreeJudge
from eitherway.find.tree_races import candidates_of
from eitherway.find.tree_rules import Rules
from eitherway.find.trees import TreeSearch
from eitherway.model.finding import Finding
from eitherway.model.outcome import Ending
from eitherway.model.words import Class, Kind
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.processes.apart import apart
from eitherway.worlds.processes.log import Log
from eitherway.worlds.processes.traced import traced

LOUD = {Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS}


def loud(work: Path, text: str, *command: str) -> list[Finding]:
    (work / "program").write_text(text, encoding="ascii")
    with TreeSearch(launch(work, *command, "program"), Store(work / "store"), jobs=2) as search:
        found = search.check(600.0, lambda _: None).findings.values()
    return [finding for finding in found if finding.klass in LOUD]


def calls(finding: Finding) -> list[str]:
    return [operation.op for operation in finding.operations]


PERL = """\
use Fcntl qw(:flock F_SETLK F_WRLCK);
use POSIX "_exit";
sub one {{ {one} }}
for (1..2) {{ fork or do {{ one(); exit 0 }} }}
wait; wait;
"""
FLOCK = 'open L, ">l"; flock L, {how} or die "busy\\n"; open F, ">>f"; print F "x\\n"; close F;'
FCNTL = (
    'open L, ">l"; my $s = pack "ssx4qqi", F_WRLCK, 0, 0, 0, 0;'
    'fcntl(L, F_SETLK, $s) or die "busy\\n";'
    'open F, ">>f"; print F "x\\n"; close F;'
)
LINK = 'symlink "x", "l" or die "busy\\n"; open F, ">>f"; print F "x\\n"; close F; unlink "l";'


@pytest.mark.parametrize(
    ("one", "pair"),
    [
        (FLOCK.format(how="LOCK_EX | LOCK_NB") + "_exit(0);", ["exit_group", "flock"]),
        (FLOCK.format(how="LOCK_EX | LOCK_NB"), ["close", "flock"]),
        (FCNTL + "_exit(0);", ["exit_group", "fcntl"]),
        (LINK, ["unlink", "symlink"]),
    ],
    ids=["flock until the end", "flock", "fcntl", "name"],
)
@pytest.mark.usefixtures("box")
def test_who_gives_up_where_another_has_it(work: Path, one: str, pair: list[str]) -> None:
    (finding,) = loud(work, PERL.format(one=one), "perl")
    assert (finding.klass, calls(finding)) == (Class.SPEC_VIOLATED, pair)
    assert "says 'busy'" in finding.consequence
    assert any("it does not wait: it gives up" in line for line in finding.explanation)
    assert any(line.startswith("Who finds this") for line in finding.explanation)


@pytest.mark.parametrize(
    "one",
    [
        FLOCK.format(how="LOCK_EX"),
        'select undef, undef, undef, 0.01 until mkdir "l";'
        'open F, ">>f"; print F "x\\n"; close F; rmdir "l";',
    ],
    ids=["flock", "mkdir"],
)
@pytest.mark.usefixtures("box")
def test_who_waits_for_it_is_right(work: Path, one: str) -> None:
    assert loud(work, PERL.format(one=one), "perl") == []


@pytest.mark.usefixtures("box")
def test_a_lock_that_both_share_keeps_nobody_out(work: Path) -> None:
    one = (
        'open L, ">>l"; flock L, LOCK_SH; open F, "<f"; sysread F, $x, 9; close F;'
        'open F, "+<f"; syswrite F, $x + 1; close F; close L;'
    )
    (work / "f").write_text("0")
    (finding,) = loud(work, PERL.format(one=one), "perl")
    assert (finding.klass, calls(finding)) == (Class.OUTPUT_DIFFERS, ["write", "read"])


@pytest.mark.usefixtures("box")
def test_a_file_that_is_made_needs_no_absence(work: Path) -> None:
    """Who opens with O_CREAT alone may come before or after who removes it."""
    (work / "f").write_text("old\n")
    text = """\
    fork or do { unlink "f"; exit 0 };
    fork or do { sysopen F, "f", 0x241; syswrite F, "new\\n"; exit 0 };
    wait; wait;
    """
    (finding,) = loud(work, text, "perl")
    assert (finding.klass, calls(finding)) == (Class.OUTPUT_DIFFERS, ["unlink", "openat"])


IN_TURN = """\
use Fcntl ":flock";
for my $names ("{one}", "{other}") {{
    fork or do {{
        my @held = map {{ open my $l, ">", $_; flock $l, LOCK_EX; $l }} split //, $names;
        exit 0;
    }};
}}
wait; wait;
"""


@pytest.mark.usefixtures("box")
def test_locks_that_are_taken_in_two_orders(work: Path) -> None:
    (finding,) = loud(work, IN_TURN.format(one="ab", other="ba"), "perl")
    assert (finding.kind, finding.klass) == (Kind.DEADLOCK, Class.SPEC_VIOLATED)
    assert "come before either goes on, nothing in the program can go on" in finding.consequence
    assert finding.explanation[-1].startswith("Where all take these locks in one and the same")
    assert len(finding.orders) == 2
    assert loud(work, IN_TURN.format(one="ab", other="ab"), "perl") == []


UPGRADED = """\
use Fcntl;
sub take {{ fcntl(L, F_SETLKW, pack "ssx4qqi", shift, 0, 0, 0, 0) or die "refused\\n" }}
for (1..2) {{ fork or do {{ open L, "+>>l"; take({first}); take(F_WRLCK); exit 0 }} }}
wait; wait;
"""


@pytest.mark.usefixtures("box")
def test_a_lock_that_two_share_and_each_wants_alone(work: Path) -> None:
    """The kernel refuses it to one of them (EDEADLK)."""
    (finding,) = loud(work, UPGRADED.format(first="F_RDLCK"), "perl")
    assert (finding.kind, finding.klass) == (Kind.DEADLOCK, Class.SPEC_VIOLATED)
    assert "says 'refused'" in finding.consequence
    assert finding.explanation[-1].startswith("Who will want the lock alone takes it alone")
    assert loud(work, UPGRADED.format(first="F_WRLCK"), "perl") == []


TAKE, GIVE = 'open L, ">>l"; flock L, LOCK_EX;', "close L;"
READ = 'open F, "<f"; sysread F, my $x, 9; close F;'
WRITE = 'open F, "+<f"; syswrite F, $x + 1; close F;'
APPEND = 'open F, ">>f"; syswrite F, "$$\\n"; close F;'


@pytest.mark.usefixtures("box")
def test_what_is_read_and_written_in_two_sections_of_a_lock(work: Path) -> None:
    (work / "f").write_text("0")
    apart = f"{TAKE} {READ} {GIVE} {TAKE} {WRITE} {GIVE}"
    (finding,) = loud(work, PERL.format(one=apart), "perl")
    assert (finding.kind, finding.klass) == (Kind.ATOMICITY, Class.OUTPUT_DIFFERS)
    assert calls(finding) == ["read", "write", "write"]
    assert {operation.variable for operation in finding.operations} == {str(work / "f")}
    assert finding.explanation[-1].startswith("The lock is given back between A and C")


@pytest.mark.usefixtures("box")
def test_a_shared_lock_of_flock_is_given_back_before_it_is_taken_alone(work: Path) -> None:
    """Both may have read by then."""
    (work / "f").write_text("0")
    upgraded = f'open L, ">>l"; flock L, LOCK_SH; {READ} flock L, LOCK_EX; {WRITE} {GIVE}'
    (finding,) = loud(work, PERL.format(one=upgraded), "perl")
    assert (finding.kind, finding.klass) == (Kind.ATOMICITY, Class.OUTPUT_DIFFERS)
    assert calls(finding) == ["read", "write", "write"]


@pytest.mark.parametrize(
    "one", [f"{TAKE} {READ} {WRITE} {GIVE}", f"{TAKE} {APPEND} {GIVE} {TAKE} {APPEND} {GIVE}"]
)
@pytest.mark.usefixtures("box")
def test_what_is_kept_together_or_need_not_be(work: Path, one: str) -> None:
    (work / "f").write_text("0")
    assert loud(work, PERL.format(one=one), "perl") == []


@pytest.mark.usefixtures("box")
def test_a_run_in_which_all_wait_is_told_by_the_order_that_mends_it(work: Path) -> None:
    (work / "program").write_text(IN_TURN.format(one="ab", other="ba"), encoding="ascii")
    started = launch(work, "perl", "program")
    store = Store(work / "store")
    with TreeSearch(started, store, jobs=2) as search:
        (finding,) = search.check(600.0, lambda _: None).findings.values()
    with Recording.open(Path(finding.evidence)) as recording:
        trace = traced(Log.read(recording), str(work))
    (instances,) = [
        group
        for group in candidates_of(trace, detect_all(trace.trace), "").groups
        if group[0].finding.kind is Kind.DEADLOCK
    ]
    with apart(started) as box, TreeJudge(started, trace, [box], store, rules=Rules()) as judge:
        tried = judge.tried(instances)
    assert tried.klass is Class.SPEC_VIOLATED
    assert tried.verdict.decisive.control.ending is Ending.DEADLOCK
