# SPDX-License-Identifier: Apache-2.0
"""A program that is measured: how it is built, what it is given, whether its answer is right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from benchmarks.sources import Kit


class Size(Enum):
    """How much work."""

    FULL = auto()  # seconds bare
    SECOND = auto()  # one second bare, or little more
    PART = auto()  # so much less that a tool a hundred times slower ends in seconds
    SMALL = auto()  # can be done hundreds of times, with every access told


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to run. The folder is empty before each run, so that none finds another's files."""

    command: tuple[str, ...]
    folder: Path
    right: Callable[[bytes], bool]  # by its standard output
    environment: Mapping[str, str] = field(default_factory=dict)
    load: tuple[str, ...] = ()  # a command that runs beside it and must end with 0


class Subject(Protocol):
    """One program, one file."""

    @property
    def name(self) -> str:
        """As tables have it."""
        ...

    def build(self, kit: Kit) -> Path:
        """The program."""
        ...

    def job(self, program: Path, size: Size, folder: Path) -> Job:
        """What it is to do, with files in the folder."""
        ...
