# SPDX-License-Identifier: Apache-2.0
"""How trees end: by themselves, by signals, asleep for ever, or with something left behind."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.processes.harness import (
    LOST_UPDATE,
    OTHER_USER,
    PATIENCE,
    PROGRAMS,
    as_each,
    calls,
    compiled,
    eitherway,
    folder,
    launch,
    ran,
)

from eitherway.find.trees import TreeSearch
from eitherway.model.outcome import Ending, Outcome
from eitherway.model.words import Class
from eitherway.recording.store import Store
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.branch import Branches, Spec
from eitherway.worlds.processes.outcome import outcome_of
from eitherway.worlds.processes.run import Limits


def test_a_tree_that_sleeps_for_ever_hangs(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "mkfifo p; cat p", limits=Limits(1))
    assert outcome_of(done, box).ending is Ending.DEADLOCK


@pytest.mark.parametrize(
    ("what", "ending"),
    [("asleep at a pipe", Ending.DEADLOCK), ("asleep in memory", Ending.BUDGET)],
)
def test_threads_that_wait_for_each_other_alone_tell_nothing_of_calls(
    box: Sandbox, work: Path, what: str, ending: Ending
) -> None:
    program = compiled(PROGRAMS / "kinds.c", work / "kinds")
    done = ran(box, work, str(program), what, limits=Limits(1))
    assert outcome_of(done, box).ending is ending


def test_who_had_to_be_ended_was_not_killed_by_the_program(work: Path) -> None:
    done = eitherway(work, "check", "--", "sh", "-c", "mkfifo p; cat p")
    assert "the recorded run: no end of its own; " in done.stdout
    assert "all of its processes slept, nothing could wake one, and it was ended" in done.stdout
    assert done.returncode == 2


@pytest.fixture(scope="module")
def asleep() -> Iterator[Path]:
    with folder(os.geteuid()) as made:
        yield compiled(PROGRAMS / "asleep.c", made / "asleep")


AT_ONCE = Limits(600, seconds=20)  # who is waited for is ended by time, and that is another ending


@pytest.mark.parametrize(
    "where",
    [
        *("fifo", "pipe", "socket pair", "flock", "poll", "epoll of epoll", "signal descriptor"),
        *("message", "child", "stopped child", "thread"),
    ],
)
def test_a_sleep_that_nobody_can_end_is_not_waited_for(
    box: Sandbox, work: Path, asleep: Path, where: str
) -> None:
    done = ran(box, work, str(asleep), "nobody", where, limits=AT_ONCE)
    assert outcome_of(done, box).ending is Ending.DEADLOCK


@pytest.mark.parametrize(
    "what",
    [
        *("alarm", "timer of the parent", "timer", "timer descriptor"),
        *("poll", "epoll", "socket", "futex", "own futex"),
    ],
)
def test_a_sleep_that_time_ends_is_waited_for(
    box: Sandbox, work: Path, asleep: Path, what: str
) -> None:
    done = ran(box, work, str(asleep), "time", what, limits=Limits(5))
    outcome = outcome_of(done, box)
    assert (outcome.ending, outcome.code) in ((Ending.EXIT, 7), (Ending.SIGNAL, signal.SIGALRM))


SERVER = "use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 5) or die; my @c;"
ACCEPTS = "push @c, scalar $s->accept while 1;"
POLLS = "my $r = ''; vec($r, fileno $s, 1) = 1; select(my $x = $r, undef, undef, undef);"
CLIENT = """\
unless (fork) {
    my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport); <$c>;
}
"""
WORKER = "pipe(my $r, my $w); my $p = fork; unless ($p) { <$r> }"


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        (SERVER + ACCEPTS, Ending.SERVES),
        (SERVER + POLLS, Ending.SERVES),
        (SERVER + "fork;" + ACCEPTS, Ending.SERVES),
        (SERVER + "if (fork) { wait }" + ACCEPTS, Ending.SERVES),
        ("wait if fork or exit;" + SERVER + ACCEPTS, Ending.SERVES),
        (WORKER + "sleep 1; kill 15, $p; wait;" + SERVER + ACCEPTS, Ending.SERVES),
        (SERVER + CLIENT + ACCEPTS, Ending.DEADLOCK),
        (SERVER + WORKER + ACCEPTS, Ending.DEADLOCK),
        ("pipe(my $r, my $w); select(undef, undef, undef, undef);", Ending.DEADLOCK),
    ],
    ids=[
        *("accepts", "polls", "several", "parent", "one ended", "one was ended"),
        *("client", "worker", "nobody listens"),
    ],
)
def test_a_server_waits_for_who_comes_and_who_waits_for_others_hangs(
    box: Sandbox, work: Path, program: str, ending: Ending
) -> None:
    done = ran(box, work, "perl", "-e", program, limits=AT_ONCE)
    assert outcome_of(done, box).ending is ending


def test_who_sleeps_again_and_again_is_ended(box: Sandbox, work: Path) -> None:
    """A long sleep counts no more than a short one: alone it is no reason to end."""
    loop = "echo made > f; sleep 100000; while sleep 9; do :; done"
    done = ran(box, work, "sh", "-c", loop, limits=Limits(PATIENCE, rest=1))
    assert done.log.ending.late
    assert len(calls(done.log, "clock_nanosleep")) == 21
    assert outcome_of(done, box).ending is Ending.BUDGET


def test_of_a_run_that_came_to_no_end_races_are_told_and_none_is_tried(work: Path) -> None:
    script = "echo a > f & echo b > f & wait; echo done; while :; do :; done"
    done = eitherway(work, "check", "--timeout", "1", "--", "sh", "-c", script)
    assert done.returncode == 1
    assert "reason: not tried: the recorded run came to no end, and had to be ended" in done.stdout
    assert "none was tried" in done.stdout
    assert "--timeout SECONDS sets another" in done.stdout


def test_what_ends_otherwise_when_it_is_run_again_is_not_decided(
    box: Sandbox, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert box
    recorded = Branches.recorded

    def otherwise(self: Branches, spec: Spec, box: Sandbox, into: Path) -> Outcome:
        return replace(recorded(self, spec, box, into), ending=Ending.DEADLOCK)

    monkeypatch.setattr(Branches, "recorded", otherwise)
    started = launch(work, "sh", "-c", LOST_UPDATE)
    with TreeSearch(started, Store(work / "store")) as search:
        (finding,) = search.check(600.0, lambda _: None).findings.values()
    assert finding.klass is Class.INCONCLUSIVE
    assert "did something else when it was run again" in finding.reason


def test_a_tree_that_makes_calls_for_ever_is_ended(box: Sandbox, work: Path) -> None:
    spins = "while [ ! -e never ]; do :; done"
    done = ran(box, work, "sh", "-c", spins, limits=Limits(PATIENCE, calls=3000))
    assert outcome_of(done, box).ending is Ending.BUDGET
    assert 2990 < len(done.log.calls) <= 3002


@pytest.mark.parametrize(
    ("loop", "ending"),
    [
        ("while [ ! -e never ]; do :; done", Ending.HANG),
        ("while [ -e . ] && [ ! -d never ]; do :; done", Ending.HANG),
        ("i=0; while [ ! -e never ]; do i=$((i + 1)); echo $i; done", Ending.BUDGET),
        ("while [ ! -e never ]; do : > made; done", Ending.BUDGET),
    ],
    ids=["looks", "looks twice", "tells", "writes"],
)
def test_rounds_that_change_nothing_go_on_for_ever(
    box: Sandbox, work: Path, loop: str, ending: Ending
) -> None:
    done = ran(box, work, "sh", "-c", loop, limits=Limits(PATIENCE, calls=9000))
    assert outcome_of(done, box).ending is ending


def test_what_takes_too_long_is_ended_and_its_recording_kept(work: Path) -> None:
    words = ["record", "--timeout", "1", "--", "sh", "-c", "echo a; while :; do :; done"]
    done = eitherway(work, *words)
    assert (done.returncode, done.stdout) == (124, "a\n")
    assert "no end in the time that it may take" in done.stderr
    assert eitherway(work, "races").returncode == 0


def test_what_is_left_behind_is_ended_and_counted(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "mkfifo p; cat p & exit 4")
    assert os.waitstatus_to_exitcode(done.log.ending.status) == 4
    assert done.log.ending.left == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV])
def test_signals_are_told(box: Sandbox, work: Path, number: int) -> None:
    done = ran(box, work, "sh", "-c", f"sh -c 'kill -{int(number)} $$'; kill -{int(number)} $$")
    outcome = outcome_of(done, box)
    assert (outcome.ending, outcome.code) == (Ending.SIGNAL, number)
    assert bool(outcome.complaints) == (number == signal.SIGSEGV)


def test_sleeping_takes_no_time_and_younger_sleepers_wake_later(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "(sleep 1000; echo a) & (sleep 1000; echo b) & wait")
    assert sorted(done.out.beginning.split()) == [b"a", b"b"]


def test_standard_input_is_the_same_for_all(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "read a; read b; echo $b $a", stdin=b"1\n2\n")
    assert done.out.beginning == b"2 1\n"


def test_processes_have_the_same_numbers_every_time(box: Sandbox, work: Path) -> None:
    runs = []
    for _ in range(2):
        box.reset()
        done = ran(box, work, "sh", "-c", "for i in 1 2 3; do sh -c 'echo $$' & done; wait")
        runs.append((done.out.beginning, [call.name for call in calls(done.log)]))
    assert runs[0] == runs[1]


def test_as_they_come_is_recorded_too(box: Sandbox, work: Path) -> None:
    done = ran(box, work, "sh", "-c", "echo a | cat; (echo b) & wait", seed=None)
    assert sorted(done.out.beginning.split()) == [b"a", b"b"]
    assert done.log.ending.status == 0


def test_setuid_programs_under_ptrace_are_counted(work: Path) -> None:
    """Who has no privileges cannot let others have them."""
    program = compiled(PROGRAMS / "every_call.c", work / "setuid")
    program.chmod(0o4755)

    def told() -> tuple[int, int]:
        with folder(OTHER_USER) as own, Sandbox(work=[str(own)]) as box:
            done = ran(box, own, "sh", "-c", f"{program} leave now; true")
            plain = ran(box, own, "true")
        return done.log.ending.without_privileges, plain.log.ending.without_privileges

    if os.geteuid() != 0:
        pytest.skip("another user is needed")
    assert as_each(OTHER_USER, told) == (1, 0)
