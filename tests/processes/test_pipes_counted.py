# SPDX-License-Identifier: Apache-2.0
"""Which writes a read could not do without."""

from eitherway.worlds.processes.pipes import Pipes

PIPE = (1, 0)


def test_each_byte_comes_from_one_write() -> None:
    pipes = Pipes()
    for operation in (10, 11, 12):
        pipes.write(PIPE, 4, operation)
    assert pipes.read(PIPE, 4) == [10]
    assert pipes.read(PIPE, 2) == [11]
    assert pipes.read(PIPE, 6) == [11, 12]


def test_pipes_do_not_mix() -> None:
    pipes = Pipes()
    pipes.write(PIPE, 4, 10)
    assert pipes.read((1, 1), 4) == []


def test_the_end_needs_all_that_let_go() -> None:
    pipes = Pipes()
    pipes.let_go(PIPE, 20)
    pipes.let_go(PIPE, 21)
    assert pipes.read(PIPE, 0) == [20, 21]


def test_what_is_there_to_read_came_with_the_first_write_that_is_left() -> None:
    pipes = Pipes()
    assert pipes.ready(PIPE) == []
    pipes.write(PIPE, 2, 10)
    pipes.write(PIPE, 2, 11)
    assert pipes.ready(PIPE) == [10]
    pipes.read(PIPE, 3)
    assert pipes.ready(PIPE) == [11]
    pipes.read(PIPE, 1)
    assert pipes.ready(PIPE) == []
    pipes.let_go(PIPE, 12)
    assert pipes.ready(PIPE) == [12]


def test_what_is_set_anew_forgets_what_was_given() -> None:
    pipes = Pipes()
    pipes.write(PIPE, 1, 10)
    pipes.afresh(PIPE)
    pipes.write(PIPE, 1, 11)
    assert pipes.read(PIPE, 1) == [11]
