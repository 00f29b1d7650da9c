# SPDX-License-Identifier: Apache-2.0
"""Values without their repetitions.

`distinct` sorts: where most values are different, np.unique's table takes fifteen times as long.
`ranked` looks where a table is the shorter way: numbers of places, ranges and actors are small and
come again and again, and np.unique would sort them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]


def distinct(values: Values) -> Values:
    """Each once, sorted."""
    ordered = np.sort(values)
    return ordered[last_of_equal(ordered)]


def last_of_equal(ordered: Values) -> NDArray[np.bool_]:
    """Which are the last of those that equal them, in values that are sorted."""
    last = np.ones(len(ordered), dtype=bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return last


class Ranks(NamedTuple):
    """What np.unique gives, with the first row and the rank of each."""

    values: Values  # each once, sorted
    first: NDArray[np.int64]  # the first row of each
    rank: NDArray[np.int64]  # of each row, which of the values it has


def ranked(values: Values) -> Ranks:
    """The place of each value in the sorted list of those that are different."""
    if not _is_dense(values):
        distinct, first, rank = np.unique(values, return_index=True, return_inverse=True)
        return Ranks(distinct, first, rank.astype(np.int64, copy=False))
    rows = np.arange(len(values), dtype=np.int64)
    seen = np.full(int(values.max()) + 1, -1, dtype=np.int64)
    seen[values[::-1]] = rows[::-1]  # the last assignment stays, and that is the first row
    present = np.flatnonzero(seen >= 0)
    first = seen[present]
    seen[present] = rows[: len(present)]
    return Ranks(present.astype(values.dtype), first, seen[values])


def _is_dense(values: Values) -> bool:
    """Whether a table of all numbers up to the largest is not much longer than the values."""
    if not len(values) or not np.issubdtype(values.dtype, np.integer):
        return False
    return int(values.min()) >= 0 and int(values.max()) < 4 * len(values) + 1024
