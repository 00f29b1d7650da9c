# SPDX-License-Identifier: Apache-2.0
"""A place in the code, as findings and traces name it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the code: a source line when known, else a module and an offset into it."""

    function: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    module: str = ""
    offset: int = 0
