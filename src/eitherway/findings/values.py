# SPDX-License-Identifier: Apache-2.0
"""What an access read or wrote, for people: small numbers as such, others in hexadecimal."""

_SMALL = 1 << 20
_KNOWN = 8  # bytes: of more there is only a hash


def value_words(value: int, size: int) -> str:
    """A value of so many bytes."""
    if size > _KNOWN:
        return f"hash {value:015x}"
    if value < _SMALL:
        return str(value)
    below = (1 << 8 * size) - value
    return f"{value:#x} ({-below})" if below <= _SMALL else f"{value:#x}"
