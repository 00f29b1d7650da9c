# SPDX-License-Identifier: Apache-2.0
"""Names of C++ variables out of the symbols that Valgrind prints for them."""

import re

_PART = re.compile(r"L?(\d+)")
_BEGINS = re.compile(r"_ZN?[KVR]*(?=L?\d)")


def variable_name(symbol: str) -> str:
    """`shop::shelf` of `_ZN4shopL5shelfE`; what is not like that stays as it is."""
    local = symbol.rpartition("E")[2] if symbol.startswith("_ZZ") else ""
    if local:
        return "::".join(_parts(local)) or symbol
    begins = _BEGINS.match(symbol)
    return "::".join(_parts(symbol[begins.end() :])) if begins else symbol


def _parts(text: str) -> list[str]:
    """Names with their lengths before them."""
    parts: list[str] = []
    while found := _PART.match(text):
        end = found.end() + int(found[1][:6])
        parts.append(text[found.end() : end])
        text = text[end:]
    return parts
