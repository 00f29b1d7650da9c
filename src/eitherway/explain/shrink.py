# SPDX-License-Identifier: Apache-2.0
"""Leaves out of a sequence what is not needed for something to hold: delta debugging.

Large parts are tried first, so most of what is not needed goes in few trials; what is left at the
end is minimal in that no single item can go.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Holds = Callable[[list[Item]], bool]
Joined = Callable[[list[Item], int], list[Item] | None]  # without the item after this, or None


def shrunk(items: Sequence[Item], holds: Holds[Item], joined: Joined[Item]) -> list[Item]:
    """The items that are needed; `joined` makes one of two that are alike, where there are.

    `holds` is asked of the whole sequence first by whoever calls: that is taken for granted.
    """
    kept = list(items)
    while True:
        shorter = _joining(_leaving_out(kept, holds), holds, joined)
        if len(shorter) == len(kept):
            return shorter
        kept = shorter


def _leaving_out(items: list[Item], holds: Holds[Item]) -> list[Item]:
    kept = items
    for size in _halves(len(items)):
        at = len(kept)  # from the end: behind what is looked for, nothing is needed
        while at > 0:
            shorter = kept[: max(0, at - size)] + kept[at:]
            at = min(at - size, len(kept))
            if len(shorter) < len(kept) and holds(shorter):
                kept = shorter
    return kept


def _halves(length: int) -> Iterator[int]:
    while length > 0:
        yield length
        length = length // 2


def _joining(items: list[Item], holds: Holds[Item], joined: Joined[Item]) -> list[Item]:
    kept, at = items, 0
    while at < len(kept):
        shorter = joined(kept, at)
        if shorter is not None and holds(shorter):
            kept = shorter
        else:
            at += 1
    return kept
