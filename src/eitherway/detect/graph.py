# SPDX-License-Identifier: Apache-2.0
"""Strongly connected parts of a directed graph (Tarjan), without recursion."""

from collections.abc import Iterable, Iterator

Arc = tuple[int, int]


def inside_cycles(arcs: Iterable[Arc]) -> set[Arc]:
    """The arcs that lie on some cycle. Cost: linear in the arcs."""
    successors: dict[int, list[int]] = {}
    for source, target in arcs:
        successors.setdefault(source, []).append(target)
    part = _parts(successors)
    return {
        (source, target)
        for source, targets in successors.items()
        for target in targets
        if part[source] == part.get(target)
    }


def _parts(successors: dict[int, list[int]]) -> dict[int, int]:
    """For each node, a node that stands for its strongly connected part."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    part: dict[int, int] = {}
    open_nodes: list[int] = []
    for root in successors:
        walk: list[tuple[int, Iterator[int]]] = []
        if root not in index:
            walk.append(_enter(root, successors, index, low, open_nodes))
        while walk:
            node, rest = walk[-1]
            target = next(rest, None)
            if target is None:
                walk.pop()
                _leave(node, index, low, open_nodes, part)
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
            elif target not in index:
                walk.append(_enter(target, successors, index, low, open_nodes))
            elif target not in part:
                low[node] = min(low[node], index[target])
    return part


def _enter(
    node: int,
    successors: dict[int, list[int]],
    index: dict[int, int],
    low: dict[int, int],
    open_nodes: list[int],
) -> tuple[int, Iterator[int]]:
    index[node] = low[node] = len(index)
    open_nodes.append(node)
    return node, iter(successors.get(node, ()))


def _leave(
    node: int,
    index: dict[int, int],
    low: dict[int, int],
    open_nodes: list[int],
    part: dict[int, int],
) -> None:
    """Closes the part that `node` is the first entered of, if it is."""
    if low[node] != index[node]:
        return
    while node not in part:
        part[open_nodes.pop()] = node
