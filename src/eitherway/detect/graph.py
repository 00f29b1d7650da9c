# SPDX-License-Identifier: Apache-2.0
"""Strongly connected parts of a directed graph (Tarjan), without recursion, on columns."""

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]


def parts(source: Column, target: Column, nodes: int) -> Column:
    """For each node, a node that stands for its strongly connected part. Cost: linear."""
    by_source = np.argsort(source, kind="stable")
    starts = np.searchsorted(source[by_source], np.arange(nodes + 1))
    walk = _Walk(starts, target[by_source], nodes)
    for root in np.flatnonzero(np.diff(starts)).tolist():
        walk.visit(root)
    result: Column = np.where(walk.part < 0, np.arange(nodes), walk.part)
    return result


class _Walk:
    """Depth first. Views of columns, since lists of numbers would take four times the memory."""

    def __init__(self, starts: Column, targets: Column, nodes: int) -> None:
        self.part = np.full(nodes, -1, dtype=np.int64)
        self._part = self.part.data
        self._targets, self._end = targets.data, starts[1:].data
        self._next = starts[:-1].copy().data  # arc of each node
        self._index = np.full(nodes, -1, dtype=np.int64).data
        self._low = np.zeros(nodes, dtype=np.int64).data
        self._entered = 0
        self._open: list[int] = []

    def visit(self, root: int) -> None:
        """Finds the parts of all that can be reached."""
        path = [root] if self._index[root] < 0 else []
        while path:
            node = path[-1]
            if self._index[node] < 0:
                self._enter(node)
            below = self._below(node)
            if below is not None:
                path.append(below)
                continue
            path.pop()
            self._leave(node)
            if path:
                self._low[path[-1]] = min(self._low[path[-1]], self._low[node])

    def _enter(self, node: int) -> None:
        self._index[node] = self._low[node] = self._entered
        self._entered += 1
        self._open.append(node)

    def _below(self, node: int) -> int | None:
        """The next target that was not entered yet; `_low` takes in those that are open."""
        for arc in range(self._next[node], self._end[node]):
            target = self._targets[arc]
            if self._index[target] < 0:
                self._next[node] = arc + 1
                return target
            if self._part[target] < 0:
                self._low[node] = min(self._low[node], self._index[target])
        self._next[node] = self._end[node]
        return None

    def _leave(self, node: int) -> None:
        """Closes the part that `node` is the first entered of, if it is."""
        if self._low[node] == self._index[node]:
            while self._part[node] < 0:
                self._part[self._open.pop()] = node
