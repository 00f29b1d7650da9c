# SPDX-License-Identifier: Apache-2.0
"""Which open file a descriptor leads to, after forks, copies and new programs."""

from eitherway.worlds.processes.descriptors import Descriptors

O_CLOEXEC = 0o2000000


def test_a_fork_shares_open_files_until_both_have_closed_them() -> None:
    table = Descriptors()
    table.opened(1, 3, object_=7, flags=0)
    table.forked(1, 2, shared=False)
    assert table.handle(1, 3) is table.handle(2, 3)
    assert table.closed(1, 3) == []
    (gone,) = table.closed(2, 3)
    assert gone.object == 7


def test_two_opens_of_one_file_are_two() -> None:
    table = Descriptors()
    table.opened(1, 3, object_=7, flags=0)
    table.opened(1, 4, object_=7, flags=0)
    assert table.handle(1, 3) is not table.handle(1, 4)


def test_a_new_program_has_only_what_is_meant_for_it() -> None:
    table = Descriptors()
    table.opened(1, 3, object_=7, flags=O_CLOEXEC)
    table.opened(1, 4, object_=8, flags=O_CLOEXEC)
    table.set_cloexec(1, 4, cloexec=False)
    assert [handle.object for handle in table.executed(1)] == [7]
    assert table.handle(1, 4).object == 8


def test_a_copy_over_another_lets_that_go() -> None:
    table = Descriptors()
    table.opened(1, 3, object_=7, flags=0)
    table.opened(1, 4, object_=8, flags=0)
    assert [handle.object for handle in table.copied(1, 3, 4, cloexec=False)] == [8]
    assert table.handle(1, 4) is table.handle(1, 3)


def test_threads_have_one_table_and_the_last_one_lets_all_go() -> None:
    table = Descriptors()
    table.opened(1, 3, object_=7, flags=0)
    table.forked(1, 2, shared=True)
    table.opened(2, 4, object_=8, flags=0)
    assert table.handle(1, 4).object == 8
    assert table.ended(1) == []
    assert sorted(handle.object for handle in table.ended(2)) == [7, 8]


def test_many_are_closed_at_once() -> None:
    table = Descriptors()
    for number in range(3, 8):
        table.opened(1, number, object_=number, flags=0)
    assert sorted(handle.object for handle in table.close_range(1, 4, 6)) == [4, 5, 6]


def test_what_was_never_there_is_not_closed() -> None:
    table = Descriptors()
    assert table.closed(1, 3) == []
    assert table.ended(9) == []
