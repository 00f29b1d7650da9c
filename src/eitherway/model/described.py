# SPDX-License-Identifier: Apache-2.0
"""What a world knows of the object of an operation that its trace has no column for."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Described:
    """Empty: not known, and what the trace says stands."""

    object: str = ""
    variable: str = ""
    part: str = ""  # "bytes 8 to 11", where it has no name
    allocator: str = ""  # the actor that made it


Describe = Callable[[int], Described]


def nothing(_operation: int) -> Described:
    """For worlds that know no more than their traces."""
    return Described()
