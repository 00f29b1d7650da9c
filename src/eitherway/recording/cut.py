# SPDX-License-Identifier: Apache-2.0
"""Makes what is left of a broken-off trace fit together.

Writers put what an operation needs before the operation, edges and values included. So what a
killed recorder left only has too much of the rest, and the operations at its end lose nothing that
orders them. Where streams were lost as well, operations end at the first that points to nothing.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eitherway.model.trace import NO_OPERATION, OBJECT, PLACE, RANGE, STACK, Table


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a trace before anything is known about them."""

    strings: tuple[str, ...]
    actors: Table
    objects: Table
    ranges: Table
    places: Table
    stacks: Table
    operations: Table
    edges: Table
    values: Table | None


def cut(tables: Tables) -> Tables:
    """The longest part that is a trace."""
    strings = tables.strings or ("",)
    names = len(strings)
    places = _upto(
        _first_row(tables.places, (0, 0, 0, 0, 0, 0), PLACE),
        {"function": names, "file": names, "module": names},
    )
    stacks = _upto(_first_row(tables.stacks, (0, 0), STACK), {"place": len(places)})
    objects = _upto(
        _first_row(tables.objects, (0, 0, 0), OBJECT),
        {"kind": names, "name": names, "stack": len(stacks)},
    )
    ranges = _upto(_first_row(tables.ranges, (0, 0, 1), RANGE), {"object": len(objects)})
    actors = _upto(tables.actors, {"name": names})
    reach = {"actor": len(actors), "range": len(ranges), "stack": len(stacks)}
    operations = _upto(tables.operations, reach)
    if tables.values is not None:
        operations = operations[: len(tables.values)]
    return replace(
        tables,
        strings=strings,
        actors=_rooted(actors, len(operations)),
        objects=objects,
        ranges=ranges,
        places=places,
        stacks=stacks,
        operations=operations,
        edges=_inside(tables.edges, len(operations)),
        values=None if tables.values is None else tables.values[: len(operations)],
    )


def _first_row(table: Table, row: tuple[int, ...], dtype: npt.DTypeLike) -> Table:
    """Row 0, not known, is there also when nothing was written yet."""
    return table if len(table) else np.array([row], dtype=dtype)


def _upto(table: Table, reach: dict[str, int]) -> Table:
    """The rows before the first one that points past what is there."""
    wrong = np.zeros(len(table), dtype=bool)
    for column, end in reach.items():
        wrong |= table[column] >= end
    return table[: int(np.argmax(wrong))] if wrong.any() else table


def _rooted(actors: Table, operations: int) -> Table:
    """Actors whose parent or first cause was lost have none."""
    rooted: Table = actors.copy()
    lost = rooted["parent"] >= len(rooted)
    rooted["parent"][lost] = np.flatnonzero(lost)
    rooted["started_by"][rooted["started_by"] >= operations] = NO_OPERATION
    rooted.flags.writeable = False
    return rooted


def _inside(edges: Table, operations: int) -> Table:
    inside: Table = edges[(edges["source"] < operations) & (edges["target"] < operations)]
    return inside
