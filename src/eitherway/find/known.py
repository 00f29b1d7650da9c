# SPDX-License-Identifier: Apache-2.0
"""What earlier searches of the same program found: their runs are done first by the next one.

A recorded run is the same again only for the same build with the same arguments and input, so this
is what a file is named after; another build begins anew. Shared places belong to a build, whatever
its arguments are.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator

from eitherway.elf import build_id
from eitherway.errors import Problem
from eitherway.recording.read import Recording
from eitherway.recording.store import Store
from eitherway.worlds.threads.guide import PLACES_ROOM
from eitherway.worlds.threads.launch import Launch, program_of
from eitherway.worlds.threads.places import NOWHERE, Places
from eitherway.worlds.threads.recorded import load
from eitherway.worlds.threads.run import Ran

_MOST = 32  # the newest


class Known:
    """Recordings that show something, newest first."""

    def __init__(self, launch: Launch, store: Store) -> None:
        self._store = store
        self._name = f"{_key(launch)}.json"
        self.names: tuple[str, ...] = tuple(_read(store.read_checked(self._name)))
        self._places = f"{_build(launch)[:32]}.places"
        self.places = _places(store.read_checked(self._places))

    def runs(self) -> Iterator[Ran]:
        """Those that are still there; what was removed to make room is no longer known."""
        for name in self.names:
            try:
                with Recording.open(self._store.find(name)) as recording:
                    ran = load(recording).ran
            except Problem:
                continue
            yield ran

    def add(self, names: Iterable[str]) -> None:
        """Remember these, in front of the older ones."""
        everything = tuple(dict.fromkeys([*names, *self.names]))[:_MOST]
        if everything != self.names:
            self.names = everything
            told = {"recordings": list(self.names)}
            self._store.write_checked(self._name, json.dumps(told).encode())

    def add_places(self, places: Places) -> None:
        """Remember these too."""
        if places.numbers - self.places.numbers:
            self.places |= places
            self._store.write_checked(self._places, self.places.name.encode())


def _build(launch: Launch) -> str:
    program = program_of(launch)
    return build_id(program) or _content(program)


def _places(data: bytes | None) -> Places:
    try:
        found = Places.named((data or b"").decode())
    except ValueError:
        return NOWHERE
    return found if len(found) <= PLACES_ROOM else NOWHERE


def _key(launch: Launch) -> str:
    parts = [_build(launch), *launch.command[1:]]
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogateescape") + b"\0")
    digest.update(launch.stdin)
    return digest.hexdigest()[:32]


def _content(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(data: bytes | None) -> Iterator[str]:
    """What cannot be read is nothing known: it is a help, and no evidence."""
    try:
        names = json.loads(data or b"{}").get("recordings", [])
    except (ValueError, AttributeError):
        return
    if isinstance(names, list):
        yield from (name for name in names if isinstance(name, str) and name.isascii())
