# SPDX-License-Identifier: Apache-2.0
"""What a finding says of the memory that is raced on, the locks, and who made them."""

import io
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.corpus.checked import build, checked

from eitherway.model.finding import Document, Finding
from eitherway.model.words import Kind
from eitherway.report.text import TextReport

PROGRAMS = Path(__file__).parent / "programs"
Check = Callable[[str], Finding]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("names") / "names"
    build(PROGRAMS / "names.c", path)
    return path


@pytest.fixture(scope="module")
def check(program: Path) -> Check:
    return lambda way: only(checked(program, "--schedules", "8", arguments=[way]))


def only(document: Document) -> Finding:
    assert not any("a bug in EitherWay" in note for note in document.summary.notes)
    (finding,) = document.findings
    assert finding.kind is Kind.DATA_RACE
    return finding


@pytest.mark.parametrize(
    ("way", "touched"),
    [
        ("field", "global 'queue.tail'"),
        ("inner", "global 'queues[1].inner.counts[2]'"),
        ("declared", "global 'declared.tail'"),  # what defines it says no type
        ("thread-local", "'own' in the thread-local storage of main thread"),
        ("stack", "'total' on the stack of main thread"),
        ("thread-stack", "'lent' on the stack of thread T2"),
        ("stack-field", "'lines[1].inner.counts[2]' on the stack of main thread"),
        ("inlined-field", "'mine.tail' on the stack of main thread"),
        ("heap", "heap block of 64 bytes"),
    ],
)
def test_memory_has_its_name(check: Check, way: str, touched: str) -> None:
    assert {side.touched for side in check(way).operations} == {touched}


def test_a_block_is_told_by_its_part_and_by_who_allocated_it(check: Check) -> None:
    for side in check("heap").operations:
        assert side.part == "bytes 12 to 15"
        assert side.allocated_by == "main thread"
        assert side.allocated[0].function == "on_heap"
        assert side.allocated[0].line == 66


def test_both_sides_are_told_with_stacks_locks_and_who_created_them(check: Check) -> None:
    finding = check("stack")
    main, thread = sorted(finding.operations, key=lambda side: side.actor)
    assert [frame.function for frame in main.stack] == ["race_on", "on_stack", "main"]
    assert main.locks == ("mutex 'made'",)
    assert [frame.function for frame in finding.locks[0].made] == ["main"]
    assert thread.created_by == "main thread"
    assert [frame.function for frame in thread.created] == ["race_on", "on_stack", "main"]
    assert thread.locks == ()


def test_nothing_of_the_runtime_is_in_a_stack(check: Check) -> None:
    _, thread = sorted(check("handler").operations, key=lambda side: side.actor)
    functions = [frame.function for frame in thread.stack]
    assert functions == ["on_signal", "<signal handler called>"]


def test_the_text_says_all_of_it(program: Path) -> None:
    document = checked(program, "--schedules", "8", arguments=["heap"])
    out = io.StringIO()
    TextReport().write(document.findings, document.summary, out)
    for words in (
        "at bytes 12 to 15 of heap block of 64 bytes by",
        "Location is heap block of 64 bytes allocated by main thread at:",
        "Mutex M1 (mutex 'made') created at:",
        "Thread T1 created by main thread at:",
    ):
        assert words in out.getvalue()


def test_an_id_is_of_the_variable(check: Check) -> None:
    assert check("stack").id == check("stack").id
    assert check("field").id != check("stack").id


def test_without_debug_information_functions_and_offsets_are_told(
    program: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "--strip-debug", "-o", bare, program], check=True)
    finding = only(checked(bare, "--schedules", "8", arguments=["field"]))
    assert {side.place.function for side in finding.operations} == {"race_on", "change"}
    assert {side.variable for side in finding.operations} == {"queue"}
    assert all(side.place.offset for side in finding.operations)


def test_without_symbols_modules_and_offsets_are_told(program: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", bare, program], check=True)
    document = checked(bare, "--schedules", "8", arguments=["field"])
    assert document.findings
    for finding in document.findings:
        assert all(side.place.module == str(bare) for side in finding.operations)
        assert {side.touched for side in finding.operations} == {"memory of bare"}
        assert all(side.part.startswith("bytes 0x") for side in finding.operations)
        assert all(side.place.offset for side in finding.operations)


def test_threads_have_the_names_that_they_were_given(tmp_path: Path) -> None:
    program = tmp_path / "named"
    build(PROGRAMS / "named_threads.cc", program)
    finding = only(checked(program, "--schedules", "8"))
    clerk, teller = sorted(finding.operations, key=lambda side: side.actor)
    assert clerk.actor == "thread T1 'clerk \\x1b of a lo'"  # the kernel keeps 15 bytes
    assert teller.actor == "thread T2 'teller'"
    assert {side.created_by for side in finding.operations} == {"main thread 'manager'"}
    assert clerk.stack[0].function == "bank::Account<int>::deposit(int)"
    assert clerk.stack[1].function == "bank::clerk(void*)"


def test_a_program_without_debug_information_is_told_what_it_lacks(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    build(PROGRAMS / "names.c", bare, "-g0")
    document = checked(bare, "--schedules", "8", arguments=["field"])
    assert only(document).operations[0].variable == "queue"
    assert [note for note in document.summary.notes if "-g" in note] == [
        "built without -g: bare; functions and offsets are all that is known there: add -g for "
        "lines and the names of variables"
    ]
    assert ":0 " not in only(document).consequence


def test_one_with_it_is_not(program: Path) -> None:
    document = checked(program, "--schedules", "8", arguments=["field"])
    assert not [note for note in document.summary.notes if "-g" in note]
