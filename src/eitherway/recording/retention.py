# SPDX-License-Identifier: Apache-2.0
"""How many recordings a store keeps, and how large they may be together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from eitherway.errors import UsageError
from eitherway.recording.refusals import shown

COUNT = "EITHERWAY_KEEP"
BYTES = "EITHERWAY_KEEP_BYTES"

_COUNT = re.compile(r"\d{1,9}", re.ASCII)
_BYTES = re.compile(r"(\d{1,15})([KMGT]?)", re.ASCII)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, slots=True)
class Retention:
    """The newest so many, as long as they are not larger than this; the latest in any case."""

    count: int = 50
    size: int = 4 << 30  # bytes

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Self:
        """As EITHERWAY_KEEP and EITHERWAY_KEEP_BYTES say, where they are set."""
        keep = cls()
        if text := environment.get(COUNT):
            keep = replace(keep, count=_count(text))
        if text := environment.get(BYTES):
            keep = replace(keep, size=_bytes(text))
        return keep

    def allows(self, count: int, size: int) -> bool:
        """Whether so many recordings of so many bytes may be there."""
        return count <= self.count and size <= self.size

    def told(self, removed: Sequence[str]) -> str:
        """What went, and how to keep more."""
        what = f"{len(removed)} older recordings" if len(removed) > 1 else removed[0]
        limits = f"{COUNT}={self.count}, {BYTES}={self.size}"
        return f"removed {what}: the store keeps the newest ({limits})"


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise UsageError(f"{COUNT}={shown(text)} is not a number of recordings, like 50")
    return int(text)


def _bytes(text: str) -> int:
    found = _BYTES.fullmatch(text)
    if found is None:
        raise UsageError(f"{BYTES}={shown(text)} is not a size, like 500M or 4G")
    return int(found[1]) * _UNITS[found[2]]
