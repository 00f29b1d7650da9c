# SPDX-License-Identifier: Apache-2.0
"""Layouts in which reports are met, by version of the tool and by what was done to the log.

All samples are made up after reports that people have published.
"""

import pytest
from tests.logs.test_logs_read import SAMPLES, log_of, read

from eitherway.model.finding import Finding
from eitherway.model.identity import headline
from eitherway.model.words import Kind
from eitherway.report.words import title


def only(text: str) -> Finding:
    (found,) = log_of(text.encode())[1]
    return found


def test_go_before_it_told_addresses() -> None:
    found = only(
        """==================
WARNING: DATA RACE
Read by goroutine 12:
  example.org/mill.func·001()
      /src/mill/mill.go:64 +0xa3

Previous write by main goroutine:
  example.org/mill.(*Wheel).Turn()
      C:/src/mill/wheel.go:65
+0x6c

Goroutine 12 (finished) created at:
  main.main()
      _testmain.go:40 +0x20
==================
"""
    )
    turn, read_ = found.operations
    assert (turn.actor, turn.op, turn.place.line) == ("main goroutine", "write", 65)
    assert (read_.actor, read_.created[0].function) == ("goroutine 12", "main.main")


def test_kcsan_that_checks_an_assertion() -> None:
    found = only(
        """BUG: KCSAN: assert: race in wheel_stop / wheel_turn

write (marked) to 0xffff888000000010 of 4 bytes by interrupt on cpu 1:
 wheel_start drivers/mill/mill.h:20 [inline]
 wheel_turn+0x53/0xe0 drivers/mill/turn.c:71

assert no writes (scoped) to 0xffff888000000010 of 4 bytes by task 105 on cpu 3:
 wheel_stop+0x83/0x170 drivers/mill/stop.c:77
==================================================================
"""
    )
    assert [op.op for op in found.operations] == [
        "atomic write of size 4",
        "assert no writes of size 4",
    ]
    assert headline(found) == "data-race on memory: mill.h:wheel_start / stop.c:wheel_stop"


def test_kcsan_of_reordered_accesses_and_decoded_stacks() -> None:
    found = only(
        """[  99.999999][ T20] BUG: KCSAN: data-race in wheel_stop / wheel_turn
[  99.999999][ T20]
[ 100.000000][ T20] read-write to 0xc0000000 of 1 bytes by task 20 on cpu 1:
[ 100.000000][ T20]  wheel_turn (drivers/mill/turn.c:71 (discriminator 3)) mill
[ 100.000000][ T20]
[ 100.000001][ T20] write (reordered) to 0xc0000000 of 1 bytes by task 14 on cpu 5:
[ 100.000001][ T20]  wheel_stop (drivers/mill/stop.c:77)
[ 100.000001][ T20]   |
[ 100.000001][ T20]   +-> reordered to: wheel_stop+0x41/0x4e
[ 100.000001][ T20]
[ 100.000001][ T20] 2 locks held by mill/20:
[ 100.000001][ T20]  #0: ffff88 (&mill->lock){+.+.}-{0:0}, at: wheel_turn+0x3b3/0x940
[ 100.000002][ T20] ==================================================================
"""
    )
    turn, stop = found.operations
    assert (turn.op, turn.place.module) == ("update of size 1", "mill")
    assert (turn.place.file, turn.place.line) == ("drivers/mill/turn.c", 71)
    assert [frame.function for frame in stop.stack] == ["wheel_stop"]


def test_kcsan_without_stacks_tells_nothing_that_could_be_known_again() -> None:
    text = b"""BUG: KCSAN: data-race in f / g

read to 0xc0000000 of 8 bytes by task 4 on cpu 1:

write to 0xc0000000 of 8 bytes by task 5 on cpu 2:
==================================================================
"""
    log, findings = log_of(text)
    assert findings == []
    assert "x.log: not to be read, or about something else: 1 of them" in log.notes


_CRASH = """ThreadSanitizer:DEADLYSIGNAL
==41==ERROR: ThreadSanitizer: SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T42)
==41==The signal is caused by a WRITE memory access.
==41==Hint: address points to the zero page.
    #0 turn /src/mill.c:27 (mill+0x282d)
    #1 start_thread nptl/pthread_create.c:442 (libc.so.6+0x891f4)

ThreadSanitizer can not provide additional info.
SUMMARY: ThreadSanitizer: SEGV /src/mill.c:27 in turn
==41==ABORTING
"""
_VALGRIND_CRASH = """==41== Helgrind, a thread error detector
==41==
==41== Process terminating with default action of signal 11 (SIGSEGV)
==41==  Access not within mapped region at address 0x0
==41==    at 0x109586: turn (mill.c:27)
==41==    by 0x490F1F4: start_thread (pthread_create.c:442)
==41==  If you believe this happened as a result of a stack
==41==  overflow in your program's main thread (unlikely but
==41==
"""


def test_a_crash_is_the_same_whichever_tool_saw_it() -> None:
    first, second = only(_CRASH), only(_VALGRIND_CRASH)
    assert first.kind is Kind.FAILURE
    assert headline(first) == "failure: mill.c:turn"
    assert first.id == second.id
    assert "not what it depends on" in first.reason
    assert "0x" not in first.operations[0].op
    assert title(first) == "crash"  # and not one that is known to depend on an order


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: ThreadSanitizer: unexpected memory mapping 0x1-0x2",
        "FATAL: ThreadSanitizer CHECK failed: tsan_rtl.cc:48 (0x0, 0x0)",
        'ThreadSanitizer: CHECK failed: tsan_rtl.cpp:48 "((1)) != (0)" (0x0, 0x0) (tid=9)',
    ],
)
def test_a_tool_that_gave_up_is_no_log_without_sign_of_it(line: str) -> None:
    log, findings = log_of(line.encode())
    assert findings == []
    assert log.problem is None
    assert log.notes[-1] == "x.log: not to be read, or about something else: 1 of them"


@pytest.mark.parametrize(
    ("words", "op"),
    [
        ("Thread #1's call to pthread_mutex_lock failed", "call to pthread_mutex_lock failed"),
        ("Thread #1: Exiting thread still holds 1 lock", "Exiting thread still holds 1 lock"),
        ("The object at address 0x10c140 is not a mutex.", "The object is not a mutex"),
        ("Not a reader-writer lock", "Not a reader-writer lock"),
        ("Mutex not locked: mutex 0x10c140, recursion count 0, owner 0.", "Mutex not locked"),
        (
            "Thread #9: pthread_cond_{signal,broadcast}: dubious: associated lock is not held",
            "pthread_cond_{signal,broadcast}: dubious: associated lock is not held",
        ),
    ],
)
def test_every_misuse_that_valgrind_tells_is_one(words: str, op: str) -> None:
    found = only(
        f"""==7== drd, a thread error detector
==7== Command: ./mill
==7==
==7== Thread 2:
==7== {words}
==7==    with error code 22 (EINVAL: Invalid argument)
==7==    at 0x48: pthread_mutex_lock@* (in /usr/libexec/valgrind/vgpreload_drd-amd64-linux.so)
==7==    by 0x10: turn (mill.c:37)
==7==
==7== ERROR SUMMARY: 1 errors from 1 contexts (suppressed: 0 from 0)
"""
    )
    assert headline(found) == "lock-misuse on mutex: mill.c:turn"
    assert found.operations[0].op == op


def test_helgrind_that_was_told_to_be_quiet() -> None:
    """`valgrind -q` does not say which tool it is; and a paste may have lost its indents."""
    found = only(
        """==5== Thread #2: Exiting thread still holds 1 lock
==5== at 0x10: turn (mill.c:37)
==5== by 0x20: main (mill.c:50)
==5==
"""
    )
    assert found.sources[0].tool == "Helgrind"
    assert [frame.line for frame in found.operations[0].stack] == [37, 50]


def test_functions_of_valgrind_itself_are_not_the_programs() -> None:
    """Where it has debug information, its own functions have names and lines."""
    found = only(
        """==5== Helgrind, a thread error detector
==5==
==5== Thread #1 unlocked an invalid lock at 0x4935620
==5==    at 0x10: mutex_unlock_WRK (hg_intercepts.c:1179)
==5==    by 0x30: turn (mill.c:37)
==5==    by 0x490F1F4: start_thread (pthread_create.c:442)
==5==    by 0x498EB4F: clone (clone.S:100)
==5==
"""
    )
    assert headline(found) == "lock-misuse on mutex: mill.c:turn"


def test_an_error_of_valgrind_that_is_none_of_threads_is_counted() -> None:
    log, findings = log_of(b"==5== drd, a\n==5== Jump to the invalid address\n==5==    at 0x1: ?\n")
    assert findings == []
    assert "x.log: not to be read, or about something else: 1 of them" in log.notes


@pytest.mark.parametrize("name", ["tsan-gcc.log", "tsan-clang.log", "go.log"])
def test_colours_and_spaces_at_the_ends_cost_nothing(name: str) -> None:
    lines = (SAMPLES / name).read_bytes().split(b"\n")
    drawn = b"\n".join(b"\x1b[1m\x1b[31m" + line + b"\x1b[0m\x1b[K   " for line in lines)
    assert [f.id for f in log_of(drawn)[1]] == [f.id for f in read(name)]


def test_thread_sanitizer_of_a_mac_and_of_long_ago() -> None:
    found = only(
        """WARNING: ThreadSanitizer: Swift access race (pid=443)
  Modifying access of Swift variable at 0x7b08 by thread T4:
    #0 turn Mill.swift:19 (mill:x86_64+0x1000)
    #1 malloc <null>:3 (libclang_rt.tsan_osx_dynamic.dylib:x86_64h+0x5)

  Previous read-only access of Swift variable at 0x7b08 by main thread:
    #0 main Mill.swift:9 (mill:x86_64+0x1183)

  Thread T4 (tid=101, running) created at:
    #0 main Mill.swift:8 (mill:x86_64+0x1100)
SUMMARY: ThreadSanitizer: Swift access race Mill.swift:19 in turn
"""
    )
    reads, writes = found.operations
    assert (reads.op, writes.op) == ("read-only access", "modifying access")
    assert (writes.stack[1].file, writes.created[0].line) == ("", 8)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\x1f\x8b\x08\0", "zcat x.log | eitherway report -"),
        ("WARNING: ThreadSanitizer".encode("utf-16"), "iconv -f UTF-16"),
    ],
)
def test_what_can_be_made_a_log_is_told_with_the_command(head: bytes, words: str) -> None:
    problem = log_of(head)[0].problem
    assert problem is not None
    assert words in problem.fix


# --- what somebody could send

_LONG = 60_000
_RACE = "WARNING: ThreadSanitizer: data race\n  Write of size 4 at 0x1 by thread T1"


@pytest.mark.parametrize(
    "text",
    [
        _RACE + " (mutexes: ) [failed ]" * 2500 + "x\n    #0 f x.c:1\n",
        _RACE + ":\n    #0 f x.c:1\n  Thread T1 '" + "' (tid=) created by" * 3000,
        _RACE + ":\n    #0 f" + " (+0x1)" * 8000,
        _RACE + ":\n    #0 f" + ":1" * _LONG,
        "BUG: KCSAN: data-race in f\nread to 0x1 of 4 bytes by t:\n" + " f" * 30_000,
        "WARNING: DATA RACE\nRead at 0x1 by goroutine 1:\n  f" + "(" * _LONG,
        "==1== Helgrind, a\n" + "==1==x" * 10_000 + "\n" + "=1=" * 20_000,
    ],
)
def test_no_line_takes_long(text: str) -> None:
    """A pattern that tries every way to read a line would need hours for one of these."""
    log_of(text.encode())


def test_processes_without_end_do_not_fill_the_memory() -> None:
    error = "==%d== Possible data race during read of size 8 at 0x1 by thread #1\n"
    error += "==%d==    at 0x1: f (x.c:1)\n"
    log, findings = log_of("".join(error % (n, n) for n in range(1, 1501)).encode())
    assert len(findings) == 1500
    assert "x.log: cut off, and read as far as they go: 1,500 of them" in log.notes


@pytest.mark.parametrize("part", [b"<frame><fn>f</fn></frame>", b"no element at all "])
def test_an_error_without_end_does_not_fill_the_memory(part: bytes) -> None:
    begin = b"<?xml version='1.0'?><valgrindoutput><tool>drd</tool><error><stack>"
    log, findings = log_of(begin + part * 400_000)
    assert findings == []
    assert "more than" in log.notes[-1]


def test_entities_hidden_behind_an_instruction_are_not_expanded() -> None:
    text = (
        b"<?x <valgrindoutput?><!DOCTYPE a [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
        b"<valgrindoutput><tool>drd</tool><error><what>Mutex &a;</what><stack><frame>"
        b"<fn>f</fn></frame></stack></error></valgrindoutput>"
    )
    log, findings = log_of(text)
    assert findings == []
    assert "only up to a point" in log.notes[-1]
