# SPDX-License-Identifier: Apache-2.0
"""What earlier searches of the same program found: tried first by the next one.

A way means the same schedule only for the same build with the same arguments and input, so this is
what a file is named after; another build begins anew.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator

from eitherway.elf import build_id
from eitherway.find.ways import Batch, Way
from eitherway.recording.store import Store
from eitherway.worlds.threads.launch import Launch, program_of

_MOST = 64  # ways: the newest


class Known:
    """The ways that found something, newest first."""

    def __init__(self, launch: Launch, store: Store) -> None:
        self._store = store
        self._name = f"{_key(launch)}.json"
        self.ways: tuple[Way, ...] = tuple(_read(store.read_checked(self._name)))

    def batches(self) -> Iterator[Batch]:
        """Each alone."""
        for way in self.ways:
            yield Batch(way.scheduler, range(way.seed, way.seed + 1))

    def add(self, ways: Iterable[Way]) -> None:
        """Remember these, in front of the older ones."""
        all_of_them = tuple(dict.fromkeys([*ways, *self.ways]))[:_MOST]
        if all_of_them == self.ways:
            return
        self.ways = all_of_them
        told = {"ways": [[way.scheduler, way.seed] for way in self.ways]}
        self._store.write_checked(self._name, json.dumps(told).encode())


def _key(launch: Launch) -> str:
    program = program_of(launch)
    parts = [build_id(program) or _content(program), *launch.command[1:]]
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogateescape") + b"\0")
    digest.update(launch.stdin)
    return digest.hexdigest()[:32]


def _content(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(data: bytes | None) -> Iterator[Way]:
    """What cannot be read is nothing known: it is a help, and no evidence."""
    try:
        told = json.loads(data or b"{}").get("ways", [])
        for scheduler, seed in told:
            if isinstance(scheduler, str) and isinstance(seed, int) and 0 <= seed < 2**63:
                yield Way(scheduler, seed)
    except (ValueError, AttributeError, TypeError):
        return
