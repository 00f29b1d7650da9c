# SPDX-License-Identifier: Apache-2.0
"""Looking on from the kernel gives the same log as stopping every call."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes.harness import (
    OTHER_USER,
    PROGRAMS,
    as_each,
    calls,
    compiled,
    folder,
    launch,
)

from eitherway.errors import Unavailable
from eitherway.sandbox.box import Sandbox
from eitherway.worlds.processes.calls import Call
from eitherway.worlds.processes.log import EventKind, Log
from eitherway.worlds.processes.meaning import micros
from eitherway.worlds.processes.run import Ran, run
from eitherway.worlds.processes.traced import traced
from eitherway.worlds.processes.tree import events_of
from eitherway.worlds.processes.watching import PROGRAMS as FILES
from eitherway.worlds.processes.watching import Watching

SEEN_BY_STOPS = {"gettimeofday", "clock_gettime", "time"}  # the kernel is not called for these
AS_OFTEN_AS_WOKEN = {"wait4", "rt_sigsuspend"}  # by when a child ends, which is chance
TO_BE_MADE_AGAIN = range(-516, -511)  # within the kernel only: a signal came first

SCRIPTS = {
    "files": "echo a > f; cat f; mv f g; chmod 600 g; cat nothing",
    "links": "echo a > g; ln g h; ln -s g l; cat l h; rm g h l",
    "directories": "mkdir -p a/b; echo x > a/b/f; ls a/b; cd a; cat b/f; rm b/f; rmdir b",
    "pipes": "echo a | cat | wc -c; (echo b; echo c) | (read x; cat)",
    "appending": "echo a >> f; echo b >> f; cat f; head -c 1 f",
    "children": "sh -c 'exit 3'; (sh -c 'kill -9 $$'); true",
    "moved directories": "mkdir -p a/b; echo x > a/b/f; cat a/b/f a/b/../b/f; mv a c; "
    "cat c/b/f a/b/f; mkdir a; cat a/b/f; cd c/b; cat ../b/f ./f; mv ../../c ../../d; cat ../b/f f",
    "links that change": "echo 1 > x; echo 2 > y; ln -s x l; cat l l; rm l; ln -s y l; cat l; "
    "mv l m; cat m l; ln -s m l; cat l",
    "what comes and goes": "cat f; echo 1 > f; cat f; rm f; cat f; mkdir f; cat f/g",
    "dots": "mkdir -p a/b/c; echo x > a/b/f; cat a/b/c/../f a/b/c/../../b/f a/./b/./f; mv a/b d; "
    "cat d/c/../f a/b/c/../f d/f/../f d/f/.; cd d/c; cat ../f ../../d/f; cd ..; cat ./f",
    "missing directories": "cat a; cat a/b/f; cat a/b/f; mkdir -p a/b; cat a/b/f; echo 1 > a/b/f; "
    "cat a/b/f; rm -r a; cat a/b/f; echo 2 > a; cat a/b/f; rm a; cat a/b/f",
    "links at the end": "echo 1 > x; echo 2 > y; ln -s x l; cat l; cat l; ln -s y n; mv -T n l; "
    "cat l; cat l; ln -s l m; cat m; rm l; cat m; echo 3 > l; cat m; mkdir d; rm l; ln -s d l; "
    "ls l/; ls m/; rm x",
    "made by the call": "set -C; echo 1 > f; cat f; echo 2 > f; set +C; ln -s t l; echo 3 > l; "
    "cat t l; rm t; cat l; set -C; echo 4 > l; cat l",
    "walked trees": "mkdir -p a/b; echo 1 > a/b/f; ln -s f a/b/l; tar cf t a; cat a/b/l; "
    "rm a/b/f; mkdir a/b/f; tar cf t a; cat a/b/f/x; rm -r a; mkdir a; tar cf t a",
    "sockets": "mkdir d; perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0); chdir q(d);"
    "connect(S, sockaddr_un(q(s))); bind(S, sockaddr_un(q(s))); listen(S, 1); bind(S, sockaddr_un"
    "(q(s))); socket(C, PF_UNIX, SOCK_STREAM, 0); connect(C, sockaddr_un(q(../d/s)))'; rm d/s",
    "locks": "echo 0123 > f; perl -e 'open F, q(+<f); sysseek F, 3, 0; fcntl(F, 6, pack "
    "q(ssx4qqix4), @$_, 0) or die for [1, 0, 2, 5], [1, 0, 9, -3], [0, 1, 4, 1], [2, 0, 0, 0]'",
    "proc": "cat /proc/self/comm; ls /proc/$$/fd > /dev/null",
}


@pytest.fixture(scope="module", params=FILES)
def watching(request: pytest.FixtureRequest) -> Iterator[Watching]:
    try:
        made = Watching([request.param])
    except Unavailable as problem:
        pytest.skip(f"this machine refuses: {problem.message}")
    with made:
        yield made


def both(box: Sandbox, work: Path, watching: Watching, *command: str) -> tuple[Ran, Ran]:
    """The same run by each; the first is ordered, so that the second has nothing to add."""
    found = []
    for looks_on in (None, watching):
        box.reset()
        with folder(os.geteuid()) as into:
            seed = 0 if looks_on is None else None
            into.chmod(0o700)
            started = launch(work, *command)
            try:
                found.append(run(started, box, into, seed=seed, watching=looks_on))
            except Unavailable as problem:
                pytest.skip(f"this machine refuses: {problem.message}")
    return found[0], found[1]


def meaning(log: Log) -> dict[str, Counter[tuple[object, ...]]]:
    """By program: what its calls do to what, by name, so that numbers do not matter."""
    tree = traced(log, "/")
    told: dict[str, Counter[tuple[object, ...]]] = {}
    modes = log.objects["mode"].tolist()
    for call in calls(log):
        if call.name in SEEN_BY_STOPS | AS_OFTEN_AS_WOKEN or call.result in TO_BE_MADE_AGAIN:
            continue
        words = tree.tree.command(call.thread, call.when)
        told.setdefault(words[0] if words else "", Counter()).update(_told(call, modes))
    return told


def _told(call: Call, modes: list[int]) -> Iterator[tuple[object, ...]]:
    result = call.result if call.result < 0 else min(call.result, 0)
    yield call.name, result, tuple(f.name for f in call.found if not f.name.isdecimal())
    for micro in micros(call, lambda number: modes[number]):
        name = micro.name * (not micro.name.isdecimal())
        yield call.name, micro.kind, micro.sort, name, micro.lo, micro.hi


@pytest.mark.parametrize("name", SCRIPTS)
def test_both_tell_the_same(box: Sandbox, work: Path, watching: Watching, name: str) -> None:
    stopped, seen = both(box, work, watching, "sh", "-c", SCRIPTS[name])
    assert seen.log.ending.lost == 0
    assert seen.log.ending.status == stopped.log.ending.status
    assert seen.out == stopped.out
    one, other = meaning(stopped.log), meaning(seen.log)
    for program in one | other:
        assert one.get(program, Counter()) == other.get(program, Counter()), program


def test_every_call_is_seen_from_the_kernel(box: Sandbox, work: Path, watching: Watching) -> None:
    program = compiled(PROGRAMS / "every_call.c", work / "every_call")
    stopped, seen = both(box, work, watching, str(program))
    assert seen.log.ending.status == 0
    assert {call.name for call in calls(stopped.log)} - {
        call.name for call in calls(seen.log)
    } == set()


def test_texts_are_read_wherever_they_lie(box: Sandbox, work: Path, watching: Watching) -> None:
    """The programs in the kernel go to memory themselves, and ask it where they cannot."""
    program = compiled(PROGRAMS / "odd_texts.c", work / "odd_texts")
    stopped, seen = both(box, work, watching, str(program))
    assert seen.log.ending.status == stopped.log.ending.status == 0
    asked = [
        [(found.name, call.result) for call in calls(ran.log) for found in call.found[-1:]]
        for ran in (stopped, seen)
    ]
    # What memfd_secret has, where there is one, no tracer can read.
    assert asked[0] == [found for found in asked[1] if found[0] != "secret"]
    names = [name for name, _ in asked[1]]
    assert names.count("crosses") == 9
    assert {"end____8", "large", "untouched", "l" * 255} < set(names)


def test_what_is_left_of_a_path_may_be_as_long_as_what_was_gone(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """Such paths ended where they were cut: nobody was told of what they led to."""
    script = "mkdir ab; echo 1 > ab/abc; cat ab/abc; ln -s ab/ l; cat l/abc; cat ab//four"
    for ran in both(box, work, watching, "sh", "-c", script):
        ways = [
            [found.name for found in call.found]
            for call in calls(ran.log, "openat")
            if call.found and call.found[0].name in {"ab", "l"}
        ]
        assert ways == [["ab", "abc"], ["ab", "abc"], ["l", "ab", "abc"], ["ab", "four"]]


def test_lives_go_by_the_numbers_that_threads_have(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """Each is kept with its thread, which has another when it runs a program for its process."""
    program = compiled(PROGRAMS / "thread_runs.c", work / "thread_runs")
    script = "(exit 3); sh -c 'kill -9 $$'; exit 5"
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        started = launch(work, str(program), script)
        log = run(started, box, into, seed=None, watching=watching).log
    told = [event for event in events_of(log) if event.kind != EventKind.SIGNALLED]
    first = told[0].thread
    while told[0].kind != EventKind.RUNS or log.text(told[0].text).split("\0")[0] != "sh":
        told.pop(0)
    left, killed = (event.other for event in told if event.kind == EventKind.MADE)
    assert [(event.kind, event.thread, event.process) for event in told] == [
        (EventKind.RUNS, first, first),
        (EventKind.MADE, first, left),
        (EventKind.ENDED, left, left),
        (EventKind.MADE, first, killed),
        (EventKind.RUNS, killed, killed),
        (EventKind.ENDED, killed, killed),
        (EventKind.ENDED, first, first),
    ]
    ends = {event.thread: event for event in told if event.kind == EventKind.ENDED}
    assert [ends[thread].value for thread in (left, killed, first)] == [3 << 8, 9, 5 << 8]
    for call in calls(log):
        assert call.thread not in ends or call.when < ends[call.thread].when


def test_a_path_too_long_to_be_taken_is_counted_and_leads_nowhere(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """What is alike in all of its begin may still differ at its end."""
    deep = "/".join(["d" * 100] * 6)
    script = f"mkdir -p {deep}; cd {deep}; echo 1 > one; cd $OLDPWD; cat {deep}/one {deep}/other"
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        seen = run(launch(work, "sh", "-c", script), box, into, seed=None, watching=watching)
    names = {found.name for call in calls(seen.log) for found in call.found}
    assert {len(name) for name in names if name.startswith("ddd")} == {100}
    assert seen.log.ending.not_followed >= 2


def test_more_than_the_ring_holds_is_read_or_counted(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """Records that lie across the parts of the ring and across its end are whole."""
    blocks = 80_000  # two calls each, of 120 bytes: some 19 MB, in 16
    script = f"exec dd if=/dev/zero of=/dev/null bs=1 count={blocks} status=none"
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        seen = run(launch(work, "sh", "-c", script), box, into, seed=None, watching=watching)
    table = seen.log.calls
    copied = table[(table["a2"] == 1) & (table["number"] < 2)]  # reads and writes of one byte
    assert set(copied["result"].tolist()) == {1}
    assert len(set(copied["object"].tolist())) == 2
    assert len(copied) <= 2 * blocks <= len(copied) + seen.log.ending.lost


def test_more_threads_than_have_a_place_are_seen(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """There are 2,048 places; who has none is found in another way."""
    program = compiled(PROGRAMS / "crowd.c", work / "crowd")
    threads = 3000
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        command = launch(work, str(program), str(threads))
        seen = run(command, box, into, seed=None, watching=watching)
    asked = [call for call in calls(seen.log) if call.name == "access" and not call.found]
    assert (seen.log.ending.status, seen.log.ending.lost) == (0, 0)
    assert len({call.thread for call in asked}) == len(asked) == threads


def test_what_ended_before_a_call_began_did_not_overlap_it(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """By a pipe, one process says that its call is over before another makes its own."""
    script = "mkfifo p; (echo 1 > f; echo > p) & read x < p; echo 2 > f; wait"
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        seen = run(launch(work, "sh", "-c", script), box, into, seed=None, watching=watching)
    rows, table = calls(seen.log), seen.log.calls
    stores = [
        number
        for number, call in enumerate(rows)
        if call.name == "openat" and any(f.name == "f" for f in call.found)
    ]
    first, second = sorted(stores, key=lambda number: int(table["entered"][number]))
    assert table["entered"][first] < table["left"][first] < table["entered"][second]
    for thread in set(table["thread"].tolist()):
        own = table[table["thread"] == thread]
        own = own[own["index"].argsort()]
        assert (own["entered"] < own["left"]).all()
        assert (own["left"][:-1] < own["entered"][1:]).all()


def test_what_is_found_in_a_directory_is_what_is_opened_there(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """Also of files that are gone when the records are read: what was found stands in memory."""
    (work / "a").mkdir()
    for number in range(50):
        (work / "a" / f"f{number}").write_text("x", encoding="ascii")
    with folder(os.geteuid()) as into:
        into.chmod(0o700)
        command = launch(work, "tar", "cf", "t", "--remove-files", "a")
        seen = run(command, box, into, seed=None, watching=watching)
    found: dict[str, set[int]] = {}
    opened: dict[str, set[int]] = {}
    for call in calls(seen.log):
        last = call.found[-1] if call.found else None
        if last is None or not last.name.startswith("f") or call.result < 0:
            continue
        if call.name == "newfstatat":
            found.setdefault(last.name, set()).add(last.object)
        elif call.name == "openat":
            opened.setdefault(last.name, set()).add(call.second)
    assert len(found) == 50
    assert found == {name: opened[name] for name in found}


def test_calls_that_nobody_knows_are_counted_by_both(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """Also numbers that no kernel has."""
    script = "syscall($_, 0) for 444, 480, 999, 100000; POSIX::setsid()"
    by_stops, seen = both(box, work, watching, "perl", "-MPOSIX", "-e", script)
    counted = by_stops.log.ending.calls_not_modelled
    assert counted == seen.log.ending.calls_not_modelled
    assert counted == {"call 480": 1, "call 511 and above": 2, "setsid": 1}


def test_setuid_programs_and_tracers_are_left_alone(
    box: Sandbox, work: Path, watching: Watching
) -> None:
    """What is only looked at keeps its privileges, and may trace."""
    _, seen = both(box, work, watching, "sh", "-c", "grep NoNewPrivs /proc/self/status")
    assert seen.out.beginning.split() == [b"NoNewPrivs:", b"0"]


def test_who_may_not_is_told_so() -> None:
    def refused() -> str:
        with Sandbox(work=[str(work)]) as box, Watching() as made:
            into = work / "into"
            into.mkdir(mode=0o700)
            try:
                run(launch(work, "true"), box, into, watching=made)
            except Unavailable as problem:
                return f"{problem.message}; {problem.fix}"
        return ""

    if os.geteuid() != 0:
        pytest.skip("another user is needed")
    with folder(OTHER_USER) as work:
        told = as_each(OTHER_USER, refused)
    assert told.startswith("BPF cannot be used: ")
    assert "needs root" in told
    assert told.endswith("; --recorder ptrace")
