# SPDX-License-Identifier: Apache-2.0
"""Whether a run in which all sleep is that of a server: it waits for who comes, and nobody does."""

import signal
from collections.abc import Iterator

import numpy as np

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.log import CallFlag, Log
from eitherway.worlds.processes.tree import Tree

_LISTEN, _FUTEX = (
    next(number for number, call in CALLS.items() if call.name == name)
    for name in ("listen", "futex")
)
_EXITS = [number for number, call in CALLS.items() if call.name in ("exit", "exit_group")]
_ACCEPTS = {number for number, call in CALLS.items() if "wait listener" in call.does}
_POLLS = {number for number, call in CALLS.items() if "load readiness" in call.does}
# A parent that waits for those who serve, and who is told by a signal what to do.
_BESIDE = {n for n, call in CALLS.items() if "wait child" in call.does or call.waits == "signal"}


def serves(log: Log) -> bool:
    """Who waits at a pipe, a connection or a lock waits for others of the run: then it does not."""
    tree, rows = Tree(log), log.calls
    never = rows[(rows["flags"] & CallFlag.NEVER_RETURNED != 0) & ~np.isin(rows["number"], _EXITS)]
    threads = zip(never["thread"].tolist(), never["number"].tolist(), strict=True)
    asleep = [(thread, number) for thread, number in threads if not _is_over(tree, thread)]
    listeners = {tree.lives[t].process for t in rows["thread"][rows["number"] == _LISTEN].tolist()}

    def is_server(thread: int) -> bool:
        return not listeners.isdisjoint(_line(tree, thread))

    def is_served(thread: int, call: int) -> bool:
        return call in _BESIDE or (call in _ACCEPTS | _POLLS | {_FUTEX} and is_server(thread))

    return all(is_served(*each) for each in asleep) and any(
        call in _ACCEPTS | _POLLS for _, call in asleep
    )


def _is_over(tree: Tree, thread: int) -> bool:
    """Whether its process ended by itself, or by another's signal: we end them by SIGKILL."""
    status = tree.lives[tree.lives[thread].process].status
    return status not in (None, signal.SIGKILL)


def _line(tree: Tree, thread: int) -> Iterator[int]:
    """The process of a thread, and those that it comes of."""
    at: int | None = thread
    while at is not None:
        life = tree.lives[at]
        yield life.process
        at = tree.lives.get(life.process, life).parent
