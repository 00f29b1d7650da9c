# SPDX-License-Identifier: Apache-2.0
"""Reports of other tools become findings.

The samples of ThreadSanitizer, Helgrind and DRD are what these tools wrote of programs/shop.cc;
those of Go and KCSAN are written after their documented formats.
"""

import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eitherway.errors import BadInput
from eitherway.findings.merge import merged
from eitherway.logs.mangled import variable_name
from eitherway.logs.reading import Log
from eitherway.model.finding import Finding
from eitherway.model.identity import headline
from eitherway.model.words import Kind, World

SAMPLES = Path(__file__).parent / "samples"
NAMES = sorted(path.name for path in SAMPLES.iterdir())
WHEN = "2031-05-01T12:00:00Z"


def log_of(data: bytes) -> tuple[Log, list[Finding]]:
    log = Log(io.BytesIO(data), "x.log", head=data[:4096], when=WHEN)
    return log, list(log.findings())


def read(name: str) -> list[Finding]:
    return log_of((SAMPLES / name).read_bytes())[1]


def told(name: str) -> set[str]:
    return {headline(finding) for finding in read(name)}


SHELF = "data-race on shelf: shop.cc:put / shop.cc:put"
BLOCK = "data-race on heap block: shop.cc:put / shop.cc:put"
GO = "bank.go:example.org/bank.deposit"
LEAK = "thread-leak on thread: shop.cc:main"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_thread_sanitizer(compiler: str) -> None:
    ring = "shop.cc:both / shop.cc:both / shop.cc:reverse / shop.cc:reverse"
    assert told(f"tsan-{compiler}.log") == {
        SHELF,
        BLOCK,
        LEAK,
        f"deadlock on mutex: {ring}",
        "lock-misuse on mutex: shop.cc:main / shop.cc:main",
    }


@pytest.mark.parametrize("form", ["log", "xml"])
def test_helgrind(form: str) -> None:
    found = told(f"helgrind.{form}")
    assert {SHELF, BLOCK, "lock-misuse on mutex: shop.cc:main"} <= found
    (ring,) = found - {SHELF, BLOCK, "lock-misuse on mutex: shop.cc:main"}
    assert ring.startswith("deadlock on ")
    assert {"shop.cc:both", "shop.cc:reverse"} <= set(ring.replace(":", " ", 1).split(" "))


@pytest.mark.parametrize("form", ["log", "xml"])
def test_drd_tells_one_side(form: str) -> None:
    assert told(f"drd.{form}") == {
        "data-race on global: shop.cc:put",
        "data-race on heap block: shop.cc:put",
        "lock-misuse on mutex: shop.cc:main",
    }


def test_go() -> None:
    first, second = read("go.log")
    assert headline(first) == f"data-race on memory: {GO} / {GO}"
    assert [op.actor for op in first.operations] == ["goroutine 7", "goroutine 8"]
    assert first.operations[0].op == "write"
    assert first.operations[0].created[0].line == 10
    assert [len(op.stack) for op in second.operations] == [0, 1]
    assert second.operations[0].op == "atomic read"


def test_kcsan() -> None:
    first, second = read("kcsan.log")
    assert first.world is World.KERNEL
    assert headline(first) == "data-race on memory: shelf_put / shelf_read"
    assert first.reason == "the value changed meanwhile: 0x000009ac -> 0x000009ad"
    assert first.operations[0].stack[1].module == "shop"
    (side,) = second.operations
    assert (side.actor, side.op) == ("interrupt on cpu 0", "atomic read of size 8")
    assert (side.place.file, side.place.line) == ("kernel/time/tick.c", 88)


def test_what_is_told_of_a_side_is_kept() -> None:
    (race,) = (one for one in read("tsan-clang.log") if headline(one) == SHELF)
    first, second = race.operations
    assert (first.actor, second.actor) == ("thread T1", "thread T2")
    assert (first.op, first.touched) == ("write of size 4", "global 'shop::shelf'")
    assert (first.place.file, first.place.line, first.place.column) == ("/src/shop/shop.cc", 14, 38)
    assert first.created_by == "main thread"
    assert [frame.function for frame in first.created][-1] == "main"
    assert race.sources[0].tool == "ThreadSanitizer"
    assert race.seen.last == WHEN


def test_locks_held_and_names_of_threads_are_kept() -> None:
    text = b"""WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 4 at 0x1 by thread T1 'worker' (mutexes: write M1, read M2):
    #0 f /a b/x.c:1:2 (x+0x10)

  Previous read of size 4 at 0x1 by main thread [failed to restore the stack]

  Mutex M1 (0x2) created at:
    #0 make /x.c:9 (x+0x20)
"""
    log, (race,) = log_of(text)
    (first, second) = race.operations
    assert (first.actor, first.stack) == ("main thread", ())
    assert (second.actor, second.locks) == ("thread T1 'worker'", ("mutex M1", "mutex M2"))
    assert (second.place.file, second.place.column) == ("/a b/x.c", 2)
    assert [lock.name for lock in race.locks] == ["mutex M1"]
    assert log.notes[-1] == "x.log: cut off, and read as far as they go: 1 of them"


# --- among other things


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith(".log")])
def test_lines_of_others_between_those_of_a_report_cost_nothing(name: str) -> None:
    lines = (SAMPLES / name).read_bytes().split(b"\n")
    noise = random.Random(7)  # noqa: S311  the same each time
    mixed: list[bytes] = []
    for line in lines:
        mixed += [line, b"progress: 50% \xff\xfe#" + bytes([noise.randrange(32, 127)])]
    assert {f.id for f in log_of(b"\n".join(mixed))[1]} == {f.id for f in read(name)}


@pytest.mark.parametrize("prefix", [b"2031-05-01T12:00:%02d.123Z ", b"%03d: ", b"[test %d] "])
def test_what_a_runner_puts_before_each_line_is_cut_off(prefix: bytes) -> None:
    for name in ("tsan-gcc.log", "go.log", "helgrind.log", "drd.log"):
        lines = (SAMPLES / name).read_bytes().split(b"\n")
        given = b"\n".join(prefix % (10 + n % 50) + line for n, line in enumerate(lines))
        assert {f.id for f in log_of(given)[1]} == {f.id for f in read(name)}


def test_several_processes_of_valgrind_in_one_log() -> None:
    lines = (SAMPLES / "helgrind.log").read_bytes().split(b"\n")
    pid = lines[0].split(b"==")[1]
    both = [one for line in lines for one in (line, line.replace(pid, b"777", 1))]
    findings = log_of(b"\n".join(both))[1]
    assert len(findings) == 2 * len(read("helgrind.log"))
    assert {f.id for f in findings} == {f.id for f in read("helgrind.log")}


@pytest.mark.parametrize("name", NAMES)
def test_a_log_that_is_cut_off_anywhere_gives_what_was_whole(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    whole = [finding.id for finding in read(name)]
    for end in range(0, len(data), max(1, len(data) // 60)):
        found = [finding.id for finding in log_of(data[:end])[1]]
        assert found[:-1] == whole[: max(0, len(found) - 1)]


def test_windows_line_ends_and_no_end_at_all() -> None:
    data = (SAMPLES / "tsan-gcc.log").read_bytes().replace(b"\n", b"\r\n")
    assert [f.id for f in log_of(data)[1]] == [f.id for f in read("tsan-gcc.log")]
    assert [f.id for f in log_of(data.rstrip())[1]] == [f.id for f in read("tsan-gcc.log")]


# --- what is none


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"hello\nworld\n", "has no report of ThreadSanitizer"),
        (b"\x7fELF\0\0\0\1", "is binary"),
        (b'<?xml version="1.0"?><valgrindoutput><tool>memcheck</tool>', "none of Helgrind or DRD"),
        (b'{"some": "json"}', "no report of"),
    ],
)
def test_what_has_no_report_is_a_problem_with_a_reason(data: bytes, words: str) -> None:
    log, findings = log_of(data)
    assert findings == []
    assert isinstance(log.problem, BadInput)
    assert words in log.problem.message


def test_a_title_alone_is_no_finding() -> None:
    log, findings = log_of(b"WARNING: ThreadSanitizer: data race (pid=1)\n")
    assert findings == []
    assert log.problem is None
    assert "x.log: not to be read, or about something else: 1 of them" in log.notes


def test_entities_are_not_expanded() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><valgrindoutput>&a;</valgrindoutput>'
    assert log_of(bomb)[0].problem is not None


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=150)
def test_a_damaged_log_is_read_without_harm(name: str, data: st.DataObject) -> None:
    lines = (SAMPLES / name).read_bytes().split(b"\n")
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(lines) - 1))
        lines[at] = data.draw(
            st.sampled_from([b"", lines[at][::-1], lines[at][:9], b"  #0 ", b"  (+0x)"])
            | st.binary(max_size=30)
        )
    merged(log_of(b"\n".join(lines))[1])


@given(st.text(alphabet="#0 x()+:/<>MT'\"=thread by at\n ", max_size=80))
def test_no_frame_breaks_a_reader(text: str) -> None:
    for begin in (
        "WARNING: ThreadSanitizer: data race\n  Write of size 1 at 0x1 by thread T1:\n    #0 ",
        "WARNING: DATA RACE\nRead at 0x1 by goroutine 1:\n  ",
        "BUG: KCSAN: data-race in f\nread to 0x1 of 4 bytes by task 1 on cpu 1:\n ",
        "==1== Possible data race during read of size 8 at 0x1 by thread #3\n==1==    at 0x1: ",
    ):
        log_of((begin + text).encode())


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN4shopL5shelfE", "shop::shelf"),
        ("_ZL5shelf", "shelf"),
        ("_ZZN4shop3putEiE7counter", "counter"),
        ("balance", "balance"),
        ("_Z", "_Z"),
        ("_ZN999999999x", "x"),
    ],
)
def test_names_of_variables_are_taken_out_of_symbols(symbol: str, name: str) -> None:
    assert variable_name(symbol) == name


def test_every_kind_of_report_is_known() -> None:
    titles = {
        "data race on vptr (ctor/dtor vs virtual call)": Kind.DATA_RACE,
        "heap-use-after-free": Kind.MEMORY_ERROR,
        "double lock of a mutex": Kind.LOCK_MISUSE,
        "signal-unsafe call inside of a signal": Kind.SIGNAL_MISUSE,
    }
    for title, kind in titles.items():
        access = "  Write of size 8 at 0x1 by thread T1:\n" if "mutex" not in title else ""
        access = "" if "signal" in title else access
        text = f"WARNING: ThreadSanitizer: {title} (pid=1)\n{access}    #0 f x.c:1 (x+0x1)\n"
        (found,) = log_of(text.encode())[1]
        assert found.kind is kind
