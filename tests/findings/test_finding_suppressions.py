# SPDX-License-Identifier: Apache-2.0
"""Suppressions in ThreadSanitizer's syntax: what each line takes out, and what it must not."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eitherway.errors import BadInput
from eitherway.findings.suppressions import Glob, Type, defaults, parse, sieve
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World

DEPOSIT = Frame("bank::deposit(int)", "/src/bank.cc", 12, module="/src/a.out")
WORKER = Frame("worker", "/src/pool.cc", 30, module="/src/a.out")
AUDIT = Frame("audit", "/src/audit.cc", 5, module="/usr/lib/libaudit.so.1")
MAIN = Frame("main", "/src/main.cc", 80, module="/src/a.out")


def finding(kind: Kind = Kind.DATA_RACE, *, top: Frame = AUDIT) -> Finding:
    return Finding(
        World.THREADS,
        kind,
        (
            FoundOperation(
                "thread T1", "write", "global", "balance", (DEPOSIT, WORKER), (), (MAIN,)
            ),
            FoundOperation("thread T2", "read", "global", "balance", (top, AUDIT)),
        ),
    )


def takes(line: str, one: Finding | None = None) -> bool:
    return not sieve([one or finding()], parse(line, "f")).kept


@pytest.mark.parametrize(
    "pattern",
    [
        "deposit",
        "bank::deposit(int)",
        "^bank::deposit",
        "deposit(int)$",
        "^bank::*(int)$",
        "ba*dep*int",
        "worker",
        "^worker$",
        "pool.cc",
        "/src/*.cc$",
        "libaudit.so",
        "balance",
        "^balance$",
        "main.cc",  # where thread T1 was made
    ],
)
def test_a_race_line_matches_functions_files_modules_and_variables(pattern: str) -> None:
    assert takes(f"race:{pattern}")


@pytest.mark.parametrize(
    "pattern",
    ["^deposit", "bank$", "^work$", "Deposit", "dep*bank", "bank::.*", "deposit(long)", "a.outs"],
)
def test_a_race_line_matches_nothing_else(pattern: str) -> None:
    assert not takes(f"race:{pattern}")


@pytest.mark.parametrize("spelt", ["std::vector<int>::push_back", "std::allocator<int> >::push"])
def test_a_name_matches_as_reports_show_it_and_as_demanglers_spell_it(spelt: str) -> None:
    whole = Frame("std::vector<int, std::allocator<int> >::push_back(int const&)")
    assert takes(f"race:{spelt}", finding(top=whole))


def test_the_end_is_the_last_place_it_could_be() -> None:
    assert takes("race:a*e$", finding(top=Frame("banana_apple")))
    assert takes("race:pap$", finding(top=Frame("papap")))


def test_race_top_matches_innermost_frames_only() -> None:
    assert takes("race_top:deposit")
    assert takes("race_top:audit")
    assert not takes("race_top:worker")
    assert not takes("race_top:balance")


def test_called_from_lib_is_about_who_called_the_c_library() -> None:
    line = "called_from_lib:libaudit.so"
    assert takes(line, finding(top=Frame("memcpy", module="/lib/libc.so.6")))
    assert takes(line, finding(top=AUDIT))
    assert not takes(line, finding(top=MAIN))
    assert not takes("called_from_lib:audit.cc")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("deadlock:worker", Kind.DEADLOCK),
        ("mutex:worker", Kind.LOCK_MISUSE),
        ("race:worker", Kind.LOAD_STORE),
        ("race:worker", Kind.TOCTOU),
        ("race:worker", Kind.ATOMICITY),
    ],
)
def test_a_line_is_for_its_kinds(line: str, kind: Kind) -> None:
    assert takes(line, finding(kind))


@pytest.mark.parametrize("kind", [Kind.FAILURE, Kind.HANG, Kind.MEMORY_ERROR])
def test_what_happened_is_not_suppressed(kind: Kind) -> None:
    lines = "\n".join(f"{known.value}:worker" for known in Type)
    assert not takes(lines, finding(kind))


def test_kinds_are_not_mixed_up() -> None:
    assert not takes("race:worker", finding(Kind.DEADLOCK))
    assert not takes("deadlock:worker")
    assert not takes("mutex:worker")
    assert not takes("thread:worker")
    assert not takes("signal:worker")


def test_matches_are_counted_and_unused_lines_told() -> None:
    lines = parse("# ours\n\nrace:deposit\nrace:gone\n  race:worker  \n", "ours.supp")
    sieved = sieve([finding(), finding(Kind.DEADLOCK)], lines)
    assert (len(sieved.kept), len(sieved.suppressed)) == (1, 1)
    assert {str(line): count for line, count in sieved.matches.items()} == {
        "ours.supp:3: race:deposit": 1,
        "ours.supp:4: race:gone": 0,
        "ours.supp:5: race:worker": 1,
    }
    assert [str(line) for line in sieved.unused()] == ["ours.supp:4: race:gone"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("race", "f:1: 'race' is no suppression; a line is one of race:, race_top:,"),
        ("\n# x\nraces:foo", "f:3: 'races:foo' is no suppression"),
        ("race :foo", "f:1: 'race :foo' is no suppression"),
        ("leak:foo", "f:1: 'leak:foo' is no suppression"),
        ("race:", "f:1: 'race:' would match everything"),
        ("race:*", "f:1: 'race:*' would match everything"),
        ("race:^$", "would match everything"),
        ("\x1b:foo", r"f:1: '\x1b:foo' is no suppression"),
    ],
)
def test_a_broken_line_is_named(text: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text, "f")
    assert message in error.value.message


def as_expression(pattern: str) -> str:
    """The regular expression of a pattern: right, but slow on hostile ones."""
    start, end = pattern.startswith("^"), pattern.endswith("$")
    pieces = pattern[start : len(pattern) - end].split("*")
    return (r"\A" if start else "") + ".*".join(map(re.escape, pieces)) + (r"\Z" if end else "")


@given(st.text(alphabet="ab*^$.", max_size=9), st.text(alphabet="ab^$.", max_size=9))
@settings(max_examples=2000)
def test_a_pattern_means_what_its_expression_means(pattern: str, name: str) -> None:
    expected = re.search(as_expression(pattern), name, re.DOTALL) is not None
    assert Glob.of(pattern).is_in(name) == expected


def test_a_hostile_pattern_is_looked_for_once() -> None:
    """As an expression this has 10^40 ways to fail: it ends, or the test run does not."""
    assert not takes("race:" + "a*" * 30 + "b", finding(top=Frame("a" * 5000)))
    assert takes("race:" + "a*" * 30 + "b", finding(top=Frame("a" * 5000 + "b")))


def test_a_file_of_the_user_may_have_the_name_of_the_shipped_one() -> None:
    sieved = sieve([finding()], [*defaults(), *parse("race:gone", "default.supp")])
    assert [str(line) for line in sieved.unused()] == ["default.supp:1: race:gone"]


@given(st.text(alphabet="ab.+[(\\:", min_size=1, max_size=8), st.text(max_size=4))
def test_a_plain_pattern_is_a_part_of_the_name(part: str, rest: str) -> None:
    assert takes(f"race:{part}", finding(top=Frame(rest + part + rest)))


def of_stacks(*stacks: tuple[str, ...]) -> Finding:
    """A race with these functions, as ThreadSanitizer reported them for programs without a race."""
    return Finding(
        World.THREADS,
        Kind.DATA_RACE,
        tuple(
            FoundOperation("thread T1", "write", stack=tuple(map(Frame, functions)))
            for functions in stacks
        ),
    )


@pytest.mark.parametrize(
    "one",
    [
        of_stacks(
            ("My::~My()", "void std::__exception_ptr::__dest_thunk<My>(void*)",
             "std::__exception_ptr::exception_ptr::_M_release()"),
            ("operator()",),
        ),
        of_stacks(("My::~My()", "void std::__exception_ptr::__dest_thunk<My>(void*)", ""), ("f",)),
        of_stacks(("free", "tzset_internal", "w"), ("malloc", "__GI___strdup", "w")),
        of_stacks(
            ("std::ctype<char>::narrow(char, char) const", "f"),
            ("std::ctype<char>::narrow(char, char) const", "g"),
        ),
        of_stacks(
            ("std::_Sp_atomic<std::shared_ptr<int> >::load(std::memory_order) const", "f"),
            ("std::swap<int*>(int*&, int*&)", "std::_Sp_atomic<std::shared_ptr<int> >::store()"),
        ),
        of_stacks(
            ("_ZSt4swapIPiE", "std::_Sp_atomic<std::shared_ptr<int>>::swap(std::shared_ptr<int>&)"),
        ),
    ],
)  # fmt: skip
def test_the_shipped_lines_know_false_reports_of_the_libraries(one: Finding) -> None:
    assert not sieve([one], defaults()).kept


def test_the_shipped_lines_leave_programs_alone() -> None:
    races = [
        finding(),
        of_stacks(("My::~My()", "f"), ("My::use()", "g")),
        of_stacks(("std::vector<int>::push_back(int)", "f"), ("g",)),
        of_stacks(("std::__exception_ptr::exception_ptr::exception_ptr(void*)", "f"), ("g",)),
        of_stacks(("my_tzset_internal", "f"), ("g",)),
        of_stacks(("My::~My()", "std::_Sp_atomic<std::shared_ptr<My> >::store()"), ("My::use()",)),
    ]
    sieved = sieve(races, defaults())
    assert list(sieved.kept) == races
    assert sieved.unused() == []  # shipped lines are not the user's to clean up
