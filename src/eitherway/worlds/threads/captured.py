# SPDX-License-Identifier: Apache-2.0
"""What a program wrote: all of it compared, only the beginning kept."""

import hashlib
from dataclasses import dataclass, field

KEPT = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Captured:
    """Equal when every byte was equal."""

    size: int = 0
    digest: str = hashlib.sha256(b"").hexdigest()
    beginning: bytes = field(default=b"", compare=False)

    def up_to(self, other: "Captured", cut: bool) -> "Captured":
        """The other, when these are `cut` and the one begins as the whole of the other."""
        shorter = min(len(self.beginning), len(other.beginning))
        same = self.beginning[:shorter] == other.beginning[:shorter]
        return other if cut and same else self


class Capture:
    """Takes output as it comes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0
        self._beginning = bytearray()

    def add(self, data: bytes) -> None:
        """The next part."""
        self._hash.update(data)
        self._size += len(data)
        self._beginning += data[: KEPT - len(self._beginning)]

    def captured(self) -> Captured:
        """All of it."""
        return Captured(self._size, self._hash.hexdigest(), bytes(self._beginning))
