# SPDX-License-Identifier: Apache-2.0
"""Sentences on causes, and of two outputs the part that differs."""

from eitherway.explain.sentences import differing, order, shortest, undecided
from eitherway.model.finding import FoundOperation, Frame


def test_from_a_little_before_the_first_line_that_differs() -> None:
    same = "".join(f"line {n}\n" for n in range(50)).encode()
    one, other = differing(same + b"good\n", same + b"bad\nworse\n")
    assert one.splitlines() == ["line 47", "line 48", "line 49", "good"]
    assert other.splitlines() == ["line 47", "line 48", "line 49", "bad", "worse"]


def test_output_that_is_no_text_is_shown_as_far_as_it_can_be() -> None:
    one, other = differing(b"\xff\n", b"")
    assert (one, other) == ("\ufffd", "")


def test_long_output_and_long_lines_are_cut() -> None:
    one, _ = differing(b"x" * 10_000 + b"\n" + b"y\n" * 100, b"")
    lines = one.splitlines()
    assert len(lines[0]) == 200
    assert len(lines) == 12


def test_who_comes_before_whom() -> None:
    write = FoundOperation(
        "thread T1", "write of size 4", "global", "x", (Frame("f", "/a/b.c", 7),), value="3"
    )
    free = FoundOperation("main thread", "free", "heap block of 8 bytes")
    assert order(write, free) == (
        "the write of size 4 (3) to global 'x' by thread T1 at b.c:7 comes before the free of heap "
        "block of 8 bytes by main thread"
    )


def test_an_operation_inside_a_library_is_told_by_the_line_that_called_it() -> None:
    stack = (
        Frame("std::vector<int>::push_back(int&&)", "/usr/include/c++/12/bits/stl_vector.h", 1294),
        Frame("put", "/a/shop.cc", 7),
    )
    write = FoundOperation("thread T1", "write of size 8", "global", "shelf", stack)
    assert "by thread T1 at shop.cc:7 comes before" in order(write, write)


def test_how_short_it_became() -> None:
    assert shortest(9, 3, 14, whole=True).startswith("Of 9 switches between threads, 3 are enough")
    assert shortest(9, 1, 14, whole=True).startswith("Of 9 switches between threads, 1 is enough")
    assert "no more time" in shortest(900, 30, 1, whole=False)
    assert shortest(1, 1, 1, whole=True).startswith("The one switch between threads is needed: 1")
    assert shortest(2, 2, 1, whole=True).startswith("All 2 switches between threads are needed")
    assert undecided(0, whole=True) != undecided(2, whole=True)
    assert "that met, none" in undecided(2, whole=True)
    assert "in the time that there was, none" in undecided(2, whole=False)
