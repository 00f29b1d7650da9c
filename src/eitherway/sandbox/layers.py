# SPDX-License-Identifier: Apache-2.0
"""The layers that take up what a sandbox writes, seen from outside.

They lie on a tmpfs that only descriptors lead to. native/sandbox/tree.c says what is where.
"""

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum


class What(StrEnum):
    """How one directory got into the tree."""

    UPPER = "upper"  # changes of an overlay
    MIRROR = "mirror"  # a directory made by hand: changes lie among the rest
    READ_ONLY = "read-only"
    LEFT_OUT = "left-out"


@dataclass(frozen=True, slots=True)
class Layer:
    """One record of the list."""

    what: What
    number: int
    path: str

    @property
    def place(self) -> str:
        """Its directory, relative to that of all layers."""
        return f"{self.what}/{self.number}"


Mark = tuple[int, ...]


class Layers:
    """All layers of one sandbox; keeps them alive until closed."""

    def __init__(self, directory: int) -> None:
        """Take over the descriptor of the directory that holds them all."""
        self._stack = ExitStack()
        self._stack.callback(os.close, directory)
        self.directory = directory
        self.list = _read_list(directory)
        written = [layer for layer in self.list if layer.what in (What.UPPER, What.MIRROR)]
        self.written = [(layer, self._open(layer.place)) for layer in written]
        self._clean = self._marks()

    def _open(self, place: str) -> int:
        # A directory that the caller may not read outside has a layer that it may not read.
        descriptor = os.open(place, os.O_PATH | os.O_DIRECTORY, dir_fd=self.directory)
        self._stack.callback(os.close, descriptor)
        return descriptor

    def dirty(self) -> bool:
        """Whether anything was written, even if it is as before again.

        Every change below an upper directory needs an entry in it, and none was there at the start.
        """
        return self._marks() != self._clean

    def is_changed(self, layer: Layer) -> bool:
        """Whether anything was written in one of them."""
        index = next(i for i, (known, _) in enumerate(self.written) if known == layer)
        return self._marks()[index] != self._clean[index]

    def size(self) -> int:
        """Bytes of all that was written."""
        now = os.statvfs(self.directory)
        return (now.f_blocks - now.f_bfree) * now.f_frsize

    def _marks(self) -> list[Mark]:
        return [_mark(descriptor) for _, descriptor in self.written]

    def close(self) -> None:
        """Let them go; with the sandbox gone too, what was written is freed."""
        self._stack.close()


def _mark(descriptor: int) -> Mark:
    # The size of a directory on a tmpfs counts its entries; where clocks are coarse, times do not
    # tell a change from the start it followed at once.
    now = os.fstat(descriptor)
    return (
        now.st_mode, now.st_uid, now.st_gid, now.st_size, now.st_nlink, now.st_mtime_ns,
        now.st_ctime_ns,
    )  # fmt: skip


def _read_list(directory: int) -> list[Layer]:
    descriptor = os.open("layers", os.O_RDONLY, dir_fd=directory)
    with os.fdopen(descriptor, "rb") as file:
        records = file.read().split(b"\0")[:-1]
    return list(_parse(records))


def _parse(records: Iterable[bytes]) -> Iterable[Layer]:
    for record in records:
        what, number, path = os.fsdecode(record).split(" ", 2)
        yield Layer(What(what), int(number), path)
