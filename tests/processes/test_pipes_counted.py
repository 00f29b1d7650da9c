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
