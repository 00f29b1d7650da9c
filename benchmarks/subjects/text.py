# SPDX-License-Identifier: Apache-2.0
"""Made-up text for compressors, the same for everybody: words, some often and some hardly ever."""

import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.sources import CACHE

_WORDS = 5_000
_AT_ONCE = 100_000  # words


def text(size: int, run: int = 1) -> Path:
    """A file of so many letters, each so often; made once."""
    path = CACHE / "inputs" / f"{size}x{run}.txt"
    if not path.exists() or path.stat().st_size != size * run:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(bytes([letter]) * run for letter in _made(size)))
    return path


def _made(size: int) -> bytes:
    made = bytearray()
    for part in _parts():
        made += part
        if len(made) >= size:
            break
    return bytes(made[:size])


def _parts() -> Iterator[bytes]:
    source = random.Random(1)  # noqa: S311  nothing secret
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = [
        "".join(source.choices(letters, range(26, 0, -1), k=source.randint(2, 11)))
        for _ in range(_WORDS)
    ]
    weights = [1 / (rank + 1) for rank in range(_WORDS)]
    while True:
        yield (" ".join(source.choices(words, weights, k=_AT_ONCE)) + "\n").encode()
