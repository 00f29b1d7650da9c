# SPDX-License-Identifier: Apache-2.0
"""Which ranges overlap, without listing the pairs: a whole directory overlaps all its names.

The ends of all ranges cut the objects into pieces; a binary tree stands on the pieces, and a range
is covered by O(log pieces) of its nodes. Two ranges overlap when a node of the one is a node of the
other, or lies above or below it. So each node has two *slots*: `own`, for ranges it covers a part
of, and `below`, for ranges with such a node deeper down. A range *enters* some slots and *looks
into* some, so that x overlaps y exactly if a slot that x looks into is one that y enters.

A range that equals or misses all others enters one slot and looks into one.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eitherway.model.trace import Table

Positions = npt.NDArray[np.int64]
Slots = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Slots of each range, and the count of slots."""

    enters: list[Slots]
    looks: list[Slots]
    count: int


def components(ranges: Table) -> Positions:
    """A number for each range, the same for ranges that overlap, directly or through others."""
    lo, hi = _pieces(ranges)
    order = np.argsort(lo, kind="stable")
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = lo[order][1:] >= np.maximum.accumulate(hi[order])[:-1]
    component = np.empty(len(order), dtype=np.int64)
    component[order] = np.cumsum(begins) - 1
    return component


def overlaps(ranges: Table) -> Overlaps:
    """The slots of these ranges. Cost: n log n, all of it in numpy."""
    lo, hi = _pieces(ranges)
    height = int(hi.max(initial=1)).bit_length()
    owner, node = _cover(lo, hi, 1 << height)
    covering = np.zeros(2 << height, dtype=bool)
    covering[node] = True
    below_owner, below_node = _ancestors(owner, node, covering, height)
    inhabited = np.zeros(2 << height, dtype=bool)
    inhabited[below_node] = True
    deeper = inhabited[node]
    enters = (np.r_[owner, below_owner], np.r_[2 * node, 2 * below_node + 1])
    looks = (
        np.r_[owner, below_owner, owner[deeper]],
        np.r_[2 * node, 2 * below_node, 2 * node[deeper] + 1],
    )
    names, dense = np.unique(np.r_[enters[1], looks[1]], return_inverse=True)
    entered, looked = np.split(dense, [len(enters[1])])
    return Overlaps(
        enters=_listed(enters[0], entered, len(ranges)),
        looks=_listed(looks[0], looked, len(ranges)),
        count=len(names),
    )


def _pieces(ranges: Table) -> tuple[Positions, Positions]:
    """Each range as [first piece, behind its last piece); objects share no piece."""
    objects = np.r_[ranges["object"], ranges["object"]]
    ends = np.r_[ranges["lo"], ranges["hi"]]
    order = np.lexsort((ends, objects))
    begins = np.zeros(len(order), dtype=bool)
    begins[1:] = (objects[order][1:] != objects[order][:-1]) | (ends[order][1:] != ends[order][:-1])
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.cumsum(begins)
    return rank[: len(ranges)], rank[len(ranges) :]


def _cover(lo: Positions, hi: Positions, leaves: int) -> tuple[Positions, Positions]:
    """The tree nodes whose leaves are just those of each range: pairs (range, node)."""
    left, right, owner = lo + leaves, hi + leaves, np.arange(len(lo))
    found: list[tuple[Positions, Positions]] = []
    while len(owner):
        odd_left, odd_right = (left & 1) == 1, (right & 1) == 1
        found.append((owner[odd_left], left[odd_left]))
        found.append((owner[odd_right], right[odd_right] - 1))
        left, right = (left + 1) >> 1, right >> 1
        inside = left < right
        left, right, owner = left[inside], right[inside], owner[inside]
    nothing = np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([nothing, *(owners for owners, _ in found)]),
        np.concatenate([nothing, *(nodes for _, nodes in found)]),
    )


def _ancestors(
    owner: Positions, node: Positions, covering: npt.NDArray[np.bool_], height: int
) -> tuple[Positions, Positions]:
    """Pairs (range, node above one of its own) for the nodes that cover some range."""
    owners, nodes = [owner[:0]], [node[:0]]
    for _ in range(height):
        node = node >> 1
        useful = covering[node]
        owners.append(owner[useful])
        nodes.append(node[useful])
    pairs = np.unique(np.concatenate(owners) << (height + 1) | np.concatenate(nodes))
    return pairs >> (height + 1), pairs & ((2 << height) - 1)


def _listed(owner: Positions, slot: Positions, count: int) -> list[Slots]:
    """The slots of each range as a tuple."""
    order = np.argsort(owner, kind="stable")
    slots = slot[order].tolist()
    ends = np.cumsum(np.bincount(owner, minlength=count)).tolist()
    return [tuple(slots[i:j]) for i, j in zip([0, *ends], ends, strict=False)]
