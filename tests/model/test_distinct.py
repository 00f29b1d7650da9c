# SPDX-License-Identifier: Apache-2.0
"""Values without their repetitions."""

import numpy as np
import pytest

from eitherway.model.distinct import distinct, last_of_equal, ranked


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("different", [1, 30, 10**12])
def test_each_is_there_once(count: int, different: int) -> None:
    values = np.random.default_rng(count).integers(0, different, count)
    assert distinct(values).tolist() == sorted(set(values.tolist()))


def test_the_last_of_equal_ones() -> None:
    assert last_of_equal(np.array([1, 1, 2, 5, 5, 5])).tolist() == [0, 1, 1, 0, 0, 1]
    assert last_of_equal(np.array([], dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("different", [1, 30, 10**12])
def test_ranks_are_those_of_unique(count: int, different: int, dtype: type[np.generic]) -> None:
    """By a table where numbers are small, and where they are not."""
    values = np.random.default_rng(count).integers(0, different, count).astype(dtype)
    below_zero = values - 1 if np.issubdtype(dtype, np.signedinteger) else values
    for asked in (values, below_zero):
        expected = np.unique(asked, return_index=True, return_inverse=True)
        for told, known in zip(ranked(asked), expected, strict=True):
            assert told.tolist() == known.tolist()
        assert ranked(asked).values.dtype == dtype
