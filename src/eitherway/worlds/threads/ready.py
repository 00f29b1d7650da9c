# SPDX-License-Identifier: Apache-2.0
"""When a server is ready for its driver: one condition a class, and none disturbs the server."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from eitherway.errors import UsageError
from eitherway.sandbox.processes import descendants
from eitherway.worlds.threads.target import Target

_LISTENING = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}  # states; udp only knows bound
_LAST_PORT = 65535


class Ready(Protocol):
    """A condition."""

    def holds(self, target: Target) -> bool:
        """Whether the run has come so far; asked every few milliseconds."""


@dataclass(frozen=True, slots=True)
class Idle:
    """All threads wait, at least one of them for the outside."""

    def holds(self, target: Target) -> bool:
        """The runtime counts it."""
        return target.waits() > 0

    def __str__(self) -> str:
        return "wait for the outside"


@dataclass(frozen=True, slots=True)
class Port:
    """A socket of the program listens on a port, as the kernel's tables tell: nobody connects."""

    number: int

    def holds(self, target: Target) -> bool:
        """In the network that the program sees, which may be a sandbox's own."""
        process = target.process
        if not process:
            return False
        wanted = {f"socket:[{inode}]" for inode in self._inodes(process)}
        return bool(wanted) and any(link in wanted for link in _open_files(process))

    def _inodes(self, process: int) -> Iterator[str]:
        for table, state in _LISTENING.items():
            with suppress(OSError):
                text = Path(f"/proc/{process}/net/{table}").read_text(encoding="ascii")
                for row in map(str.split, text.splitlines()[1:]):
                    port = int(row[1].rpartition(":")[2], 16)
                    if port == self.number and row[3] == state:
                        yield row[9]

    def __str__(self) -> str:
        return f"listen on port {self.number}"


@dataclass(frozen=True, slots=True)
class Output:
    """Something it wrote matches, in the first megabyte of standard output or standard error."""

    pattern: re.Pattern[bytes]

    def holds(self, target: Target) -> bool:
        """Searched in what came so far."""
        return any(self.pattern.search(stream.beginning) for stream in target.written())

    def __str__(self) -> str:
        return f"write '{os.fsdecode(self.pattern.pattern)}'"


@dataclass(frozen=True, slots=True)
class File:
    """A file is there."""

    path: str

    def holds(self, target: Target) -> bool:
        """As the program sees it, which may be in a sandbox."""
        return bool(target.process) and os.path.lexists(f"/proc/{target.process}/root{self.path}")

    def __str__(self) -> str:
        return f"make {self.path}"


def _open_files(process: int) -> Iterator[str]:
    """What the descriptors of the program and its children lead to."""
    for number in descendants(process):
        folder = f"/proc/{number}/fd"
        with suppress(OSError):
            for name in os.listdir(folder):
                with suppress(OSError):
                    yield os.readlink(f"{folder}/{name}")


def parse(text: str) -> Ready:
    """As a person writes it: idle, port:N, output:REGEX or file:PATH."""
    kind, _, value = text.partition(":")
    if text == "idle":
        return Idle()
    if kind == "port" and value.isascii() and value.isdigit() and 0 < int(value) <= _LAST_PORT:
        return Port(int(value))
    if kind == "output" and value:
        return Output(_pattern(value))
    if kind == "file" and value:
        return File(os.path.abspath(value))
    raise UsageError(f"'{text}' is no condition: idle, port:1-65535, output:REGEX or file:PATH")


def _pattern(value: str) -> re.Pattern[bytes]:
    try:
        return re.compile(os.fsencode(value), re.MULTILINE)
    except re.error as problem:
        raise UsageError(f"'{value}' is no regular expression: {problem}") from None
