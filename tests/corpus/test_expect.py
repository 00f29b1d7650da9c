# SPDX-License-Identifier: Apache-2.0
"""What programs say of themselves is read as the page says; the rest is refused."""

from pathlib import Path

import pytest
from tests.corpus.expect import Truth, TruthError, truth_of, truths
from tests.corpus.told import Told, compared, fits

from eitherway.model.words import Kind


def truth(folder: Path, text: str) -> Truth:
    source = folder / "program.c"
    source.write_text(text, encoding="utf-8")
    return truth_of(source)


def test_the_corpus_is_large_and_its_programs_small() -> None:
    every = truths()
    assert len(every) >= 80
    assert len({one.name for one in every}) == len(every)
    assert all(len(one.source.read_text(encoding="utf-8").splitlines()) < 60 for one in every)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int main;", "it says nothing"),
        ("// EXPECT: nothing\n// EXPECT: hang -", "nothing and something"),
        ("// EXPECT: data-race", "is not KIND OBJECT MARK"),
        ("// EXPECT: mistake x A\nx; // A", "no kind of finding"),
        ("// EXPECT: data-race x A B\nx; // A", "no line has the mark '// B'"),
        ("// EXPECT: data-race x! A A\nx; // A", "no name of a variable"),
        ("// EXPECT: failure crash", "no way to fail"),
        ("// EXPECT: hang -\nx; // A", "nothing speaks of the lines with the mark '// A'"),
        ("// EXPECT: hang -\n// MAY: failure SIGSEGV", "has no reason"),
    ],
)
def test_what_is_not_in_the_grammar_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TruthError, match=words) as problem:
        truth(tmp_path, text)
    assert str(problem.value).startswith("program.c: ")


def test_marks_are_lines(tmp_path: Path) -> None:
    (one,) = truth(tmp_path, "// EXPECT: deadlock|hang a,b.c A B\na; // A\nb; // A, B").expected
    assert one.kinds == {Kind.DEADLOCK, Kind.HANG}
    assert one.names == ("a", "b.c")
    assert one.sites == (frozenset({2, 3}), frozenset({3}))


PAIR = "// EXPECT: data-race s.x A B\na; // A\nb; // B"


@pytest.mark.parametrize(
    ("told", "right"),
    [
        (Told(Kind.DATA_RACE, (2, 3), frozenset({"s.x"})), True),
        (Told(Kind.DATA_RACE, (3, 2), frozenset({"s"})), True),
        (Told(Kind.DATA_RACE, (2, 3)), True),
        (Told(Kind.DATA_RACE, (2, 3), frozenset({"s.y"})), False),
        (Told(Kind.DATA_RACE, (2, 2), frozenset({"s.x"})), False),
        (Told(Kind.DATA_RACE, (2, 0), frozenset({"s.x"})), False),
        (Told(Kind.DATA_RACE, (2, 3, 3), frozenset({"s.x"})), False),
        (Told(Kind.LOAD_STORE, (2, 3), frozenset({"s.x"})), False),
    ],
)
def test_a_race_is_two_lines_and_a_variable(tmp_path: Path, told: Told, right: bool) -> None:
    (expected,) = truth(tmp_path, PAIR).expected
    assert fits(expected, told) is right


def test_of_a_deadlock_every_mark_and_lock_must_be_there(tmp_path: Path) -> None:
    (expected,) = truth(tmp_path, "// EXPECT: deadlock a,b A B\na; // A\nb; // B").expected
    assert fits(expected, Told(Kind.DEADLOCK, (2, 9, 3), frozenset({"a", "b"})))
    assert not fits(expected, Told(Kind.DEADLOCK, (2, 9), frozenset({"a", "b"})))
    assert not fits(expected, Told(Kind.DEADLOCK, (2, 3), frozenset({"a"})))


def test_a_failure_is_how_it_ends(tmp_path: Path) -> None:
    (expected,) = truth(tmp_path, "// EXPECT: failure exit:1").expected
    assert fits(expected, Told(Kind.FAILURE, (), words="The program ends with exit status 1 in 3"))
    assert not fits(expected, Told(Kind.FAILURE, (), words="ends with exit status 12 in 3"))
    assert not fits(expected, Told(Kind.FAILURE, (), words="killed by SIGABRT"))


def test_a_block_is_known_by_who_allocated_it(tmp_path: Path) -> None:
    text = "// EXPECT: data-race heap:H A A\nx; // A\ny; // H"
    (expected,) = truth(tmp_path, text).expected
    assert fits(expected, Told(Kind.DATA_RACE, (2, 2), allocated=frozenset({3})))
    assert not fits(expected, Told(Kind.DATA_RACE, (2, 2), allocated=frozenset({2})))


def test_what_is_told_is_found_allowed_or_false(tmp_path: Path) -> None:
    both = truth(tmp_path, "// EXPECT: data-race x A A\n// MAY: hang -, because so\nx; // A")
    race = Told(Kind.DATA_RACE, (3, 3), frozenset({"x"}))
    assert compared(both, [race, Told(Kind.HANG, ())]).is_right
    assert compared(both, []).missed == both.expected
    assert compared(both, [race, race]).false == (race,)
    assert compared(both, [race, Told(Kind.DEADLOCK, ())]).false == (Told(Kind.DEADLOCK, ()),)
