# SPDX-License-Identifier: Apache-2.0
"""What a program wrote: all of it compared, only the beginning kept."""

import hashlib
import zlib
from dataclasses import dataclass, field

import numpy as np

KEPT = 1 << 20  # bytes
_COUNTS = 256 * 8


@dataclass(frozen=True, slots=True)
class Captured:
    """Equal when every byte was equal."""

    size: int = 0
    digest: str = hashlib.sha256(b"").hexdigest()
    unordered: str = hashlib.sha256(bytes(_COUNTS)).hexdigest()  # how often each byte came
    beginning: bytes = field(default=b"", compare=False)
    crc: int = field(default=0, compare=False)  # as a survey tells it

    def up_to(self, other: "Captured", cut: bool) -> "Captured":
        """The other, when these are `cut` and the one begins as the whole of the other."""
        shorter = min(len(self.beginning), len(other.beginning))
        same = self.beginning[:shorter] == other.beginning[:shorter]
        return other if cut and same else self

    @property
    def lines(self) -> str:
        """The same for every order of the same lines; of much output, only for one order."""
        if self.size > len(self.beginning):
            return self.digest
        return lines_of(self.beginning)

    def seen(self, several: bool) -> str:
        """What is the same in every run that is; `several` may have written in any order."""
        return self.unordered if several else self.digest


def lines_of(data: bytes) -> str:
    """A digest that is the same for every order of lines."""
    return hashlib.sha256(b"\n".join(sorted(data.split(b"\n")))).hexdigest()


class Capture:
    """Takes output as it comes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._crc = 0
        self.size = 0
        self._counts = np.zeros(256, dtype="<u8")
        self._beginning = bytearray()

    def add(self, data: bytes) -> None:
        """The next part."""
        self._hash.update(data)
        self._crc = zlib.crc32(data, self._crc)
        self.size += len(data)
        self._counts += np.bincount(np.frombuffer(data, np.uint8), minlength=256).astype("<u8")
        self._beginning += data[: KEPT - len(self._beginning)]

    def captured(self) -> Captured:
        """All of it."""
        unordered = hashlib.sha256(self._counts.tobytes()).hexdigest()
        beginning = bytes(self._beginning)
        return Captured(self.size, self._hash.hexdigest(), unordered, beginning, self._crc)
