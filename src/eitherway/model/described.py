# SPDX-License-Identifier: Apache-2.0
"""What a world knows of the object of an operation that its trace has no column for."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Described:
    """Empty: not known, and what the trace says stands."""

    object: str = ""
    variable: str = ""
    part: str = ""  # "bytes 8 to 11", where it has no name; with the field if its size tells
    allocator: str = ""  # the actor that made it


def with_field(part: str, field: str) -> str:
    """A part of a block that by its size is a structure."""
    return f"{part} ('{field}' by its size)" if field else part


def field_of(part: str) -> str:
    """The field that a part was told with; empty without one."""
    return found[1] if (found := _FIELD.search(part)) else ""


_FIELD = re.compile(r"\('(.+)' by its size\)$")

Describe = Callable[[int], Described]


def nothing(_operation: int) -> Described:
    """For worlds that know no more than their traces."""
    return Described()
