# SPDX-License-Identifier: Apache-2.0
"""Which ranges overlap, by *slots*: a range enters some and looks into some, so that x overlaps y
exactly if a slot that x looks into is one that y enters.

Where each range overlaps few others, it enters a slot of its own and looks into theirs. A whole
directory overlaps all its names, though, and listing pairs would take their square. There the ends
of the ranges cut the object into pieces, a binary tree stands on the pieces, and a range is covered
by O(log pieces) of its nodes. Two ranges overlap when a node of the one is a node of the other, or
lies above or below it. So each node has two slots: `own`, for ranges it covers a part of, and
`below`, for ranges with such a node deeper down.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eitherway.model.distinct import distinct
from eitherway.model.trace import Table

Positions = npt.NDArray[np.int64]
Slots = tuple[int, ...]
Memberships = tuple[Positions, Positions]  # pairs: a range, a slot of it

FEW = 16  # others that a range looks at one by one; a tree costs about as much


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Slots of each range, and the count of slots."""

    enters: list[Slots]
    looks: list[Slots]
    count: int


def components(ranges: Table) -> Positions:
    """A number for each range, the same for ranges that overlap, directly or through others."""
    return _components(*_pieces(ranges))


def overlaps(ranges: Table) -> Overlaps:
    """The slots of these ranges. Cost: n log n, all of it in numpy."""
    every_lo, every_hi = _pieces(ranges)
    distinct, row = np.unique(every_lo << 32 | every_hi, return_inverse=True)
    lo, hi = distinct >> 32, distinct & 0xFFFFFFFF
    crowded = _crowded(lo, hi)
    sparse, dense = np.flatnonzero(~crowded), np.flatnonzero(crowded)
    enters, looks = _by_pairs(lo[sparse], hi[sparse])
    tree_enters, tree_looks = _by_tree(lo[dense], hi[dense])
    names, slots = np.unique(np.r_[tree_enters[1], tree_looks[1]], return_inverse=True)
    entered, looked = np.split(slots + len(sparse), [len(tree_enters[1])])
    all_enters = np.r_[sparse[enters[0]], dense[tree_enters[0]]], np.r_[enters[1], entered]
    all_looks = np.r_[sparse[looks[0]], dense[tree_looks[0]]], np.r_[looks[1], looked]
    return Overlaps(
        enters=_listed(*all_enters, row),
        looks=_listed(*all_looks, row),
        count=len(sparse) + len(names),
    )


def _components(lo: Positions, hi: Positions) -> Positions:
    order = np.argsort(lo, kind="stable")
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = lo[order][1:] >= np.maximum.accumulate(hi[order])[:-1]
    component = np.empty(len(order), dtype=np.int64)
    component[order] = np.cumsum(begins) - 1
    return component


def _crowded(lo: Positions, hi: Positions) -> npt.NDArray[np.bool_]:
    """Which ranges are in a component where some range overlaps more than `FEW`."""
    met = np.searchsorted(np.sort(lo), hi, "left") - np.searchsorted(np.sort(hi), lo, "right")
    component = _components(lo, hi)
    crowded = np.zeros(len(lo), dtype=bool)
    crowded[component[met > FEW]] = True
    result: npt.NDArray[np.bool_] = crowded[component]
    return result


def _by_pairs(lo: Positions, hi: Positions) -> tuple[Memberships, Memberships]:
    """Enters and looks where each range has a slot of its own."""
    order = np.argsort(lo, kind="stable")
    position = np.arange(len(lo))
    behind = np.searchsorted(lo[order], hi[order], "left")  # of those that begin inside this one
    counts = behind - position - 1
    one = np.repeat(position, counts)
    other = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts) + one + 1
    mine, theirs = order[one], order[other]
    return (position, position), (np.r_[position, mine, theirs], np.r_[position, theirs, mine])


def _by_tree(lo: Positions, hi: Positions) -> tuple[Memberships, Memberships]:
    """Enters and looks, two slots for each node of the tree."""
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
    return enters, looks


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
    pairs = distinct(np.concatenate(owners) << (height + 1) | np.concatenate(nodes))
    return pairs >> (height + 1), pairs & ((2 << height) - 1)


def _listed(owner: Positions, slot: Positions, row: Positions) -> list[Slots]:
    """The slots of each row's owner as a tuple, which equal rows share."""
    order = np.argsort(owner, kind="stable")
    slots = slot[order].tolist()
    ends = np.cumsum(np.bincount(owner, minlength=int(row.max(initial=-1)) + 1)).tolist()
    listed = [tuple(slots[i:j]) for i, j in zip([0, *ends], ends, strict=False)]
    return [listed[i] for i in row.tolist()]
