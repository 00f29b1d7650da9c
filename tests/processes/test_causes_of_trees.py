# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause are one; what fails in another way, or elsewhere, is another."""

from dataclasses import replace

from eitherway.find.tree_causes import by_cause
from eitherway.model.finding import Finding, FoundOperation, Ordered
from eitherway.model.words import Class, Kind, World


def finding(
    id_: str,
    *operations: tuple[str, str, str],
    kind: Kind = Kind.LOAD_STORE,
    does: str = "fails",
) -> Finding:
    """Of operations as actor, call and file; of an entry where the file has a slash behind it."""
    return Finding(
        id=id_,
        world=World.PROCESSES,
        kind=kind,
        klass=Class.SPEC_VIOLATED,
        operations=tuple(
            FoundOperation(
                actor=actor,
                op=op,
                object="entry" if file.endswith("/") else "file",
                variable=file.rstrip("/"),
            )
            for actor, op, file in operations
        ),
        orders=(Ordered("one before the other", does), Ordered("the other way", "goes well")),
    )


RENAMES = finding("a", ("p", "rename", "h/"), ("q", "openat", "h/"))
MAKES = finding("b", ("p", "creat", "h.new"), ("q", "read", "h"))
OWNS = finding("c", ("p", "fchown", "h.new"), ("q", "openat", "h"))


def test_two_processes_that_meet_at_one_file_in_many_calls_are_told_once() -> None:
    (told,) = by_cause([MAKES, RENAMES, OWNS])
    assert told.id == "a"
    assert told.explanation[-1] == (
        "The same comes of 2 more races of these processes at the same files, and is not told "
        "again: creat/read, fchown/openat."
    )


def test_what_joins_two_groups_makes_them_one() -> None:
    other = finding("d", ("p", "stat", "k"), ("q", "write", "k"))
    both = finding("e", ("p", "link", "k"), ("q", "write", "h"))
    assert len(by_cause([RENAMES, other])) == 2
    (told,) = by_cause([RENAMES, other, both])
    assert "2 more races" in told.explanation[-1]


def test_a_check_that_is_betrayed_stands_for_its_pairs() -> None:
    three = [("q", "stat", "h/"), ("p", "rename", "h/"), ("q", "rename", "h/")]
    told = by_cause([RENAMES, finding("t", *three, kind=Kind.TOCTOU)])
    assert [each.id for each in told] == ["t"]


def test_other_processes_files_and_failures_are_other_findings() -> None:
    others = [
        finding("d", ("p", "rename", "k/"), ("q", "openat", "k/")),
        finding("e", ("p", "rename", "h/"), ("r", "openat", "h/")),
        finding("f", ("p", "rename", "h/"), ("q", "openat", "h/"), does="is killed"),
        replace(finding("g", ("p", "x", "h"), ("q", "y", "h")), klass=Class.OUTPUT_DIFFERS),
    ]
    told = by_cause([RENAMES, *others])
    assert [each.id for each in told] == ["a", "d", "e", "f", "g"]
    assert not any(each.explanation for each in told)


def test_what_has_no_name_is_not_taken_for_the_same() -> None:
    waits = [finding(id_, ("p", "exit_group", ""), ("q", "wait4", "")) for id_ in "ab"]
    assert len(by_cause(waits)) == 2
