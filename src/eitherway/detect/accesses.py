# SPDX-License-Identifier: Apache-2.0
"""The accesses of a trace that can matter to more than one actor, in columns."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eitherway.detect.overlap import components
from eitherway.model.distinct import ranked
from eitherway.model.names import in_library
from eitherway.model.trace import Table, Trace
from eitherway.model.words import ACCESSES, STORES, OpFlag, OpKind

Column = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Accesses:
    """One row per access; `range` is a row of `ranges`, not of the trace's table."""

    operation: Column
    actor: Column
    range: Column
    place: Column
    kind: Column
    stores: Mask
    atomic: Mask
    ranges: Table

    def __len__(self) -> int:
        """How many accesses."""
        return len(self.operation)


def shared_accesses(trace: Trace) -> Accesses:
    """Accesses to ranges that overlap, directly or not, with those of another actor and a store."""
    operation = np.flatnonzero(_is_one_of(trace.operations["kind"], ACCESSES))
    operation = operation[trace.operations["range"][operation] != 0]
    used, _, row = ranked(trace.operations["range"][operation])
    shared = _shared(trace, operation, components(trace.ranges[used])[row])
    return _columns(trace, operation[shared])


def _shared(trace: Trace, operation: Column, component: Column) -> Mask:
    """Which operations touch a component of several actors with a store among them."""
    actor = trace.operations["actor"][operation].astype(np.int64)
    count = int(component.max(initial=-1)) + 1
    one_actor = np.zeros(count, dtype=np.int64)
    one_actor[component] = actor
    several, stored = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    several[component[one_actor[component] != actor]] = True
    stored[component[_is_one_of(trace.operations["kind"][operation], STORES)]] = True
    result: Mask = (several & stored)[component]
    return result


def _columns(trace: Trace, operation: Column) -> Accesses:
    rows = trace.operations[operation]
    used, _, row = ranked(rows["range"])
    return Accesses(
        operation=operation,
        actor=rows["actor"].astype(np.int64),
        range=row,
        place=trace.stacks["place"][rows["stack"]].astype(np.int64),
        kind=rows["kind"].astype(np.int64),
        stores=_is_one_of(rows["kind"], STORES),
        atomic=(rows["flags"] & int(OpFlag.ATOMIC)) != 0,
        ranges=trace.ranges[used],
    )


def own_places(trace: Trace) -> Column:
    """Of each stack the place of the program's own code: libraries are stepped over, as ids do."""
    library = np.array([in_library(trace.place(index)) for index in range(len(trace.places))])
    place, caller = trace.stacks["place"], trace.stacks["caller"]
    at = np.arange(len(trace.stacks))
    while np.any(steps := library[place[at]] & (caller[at] != 0)):
        at = np.where(steps, caller[at], at)
    own: Column = place[at].astype(np.int64)
    return own


def _is_one_of(kind: Table, kinds: frozenset[OpKind]) -> Mask:
    """np.isin by table: kinds are bytes."""
    table = np.zeros(256, dtype=bool)
    table[[int(k) for k in kinds]] = True
    result: Mask = table[kind]
    return result


def numbered(*columns: npt.NDArray[np.generic]) -> tuple[Column, Column]:
    """A number for each distinct row of these columns: (number of each row, first row of each)."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    first = np.zeros(0, dtype=np.int64)
    for column in columns:  # numbers stay below the row count, so products stay below 2**63
        dense = ranked(column)
        _, first, number = ranked(number * max(1, len(dense.values)) + dense.rank)
    return number, first


def grouped(*columns: npt.NDArray[np.generic]) -> list[Column]:
    """The rows of each distinct combination in these columns, in order."""
    number, first = numbered(*columns)
    rows = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=len(first)))
    return np.split(rows, ends[:-1]) if len(rows) else []
