# SPDX-License-Identifier: Apache-2.0
"""Who is who: threads, the processes they belong to, who made them and what they run."""

import shlex
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from eitherway.worlds.processes.log import EventKind, Log

# Of what made a process: what it has in common with another, and whether that one waits for it.
CLONE_FS, CLONE_FILES, CLONE_VFORK = 0x200, 0x400, 0x4000
_LONGEST = 60  # characters of a command line that a person is shown


class Event(NamedTuple):
    """A row of the table of events."""

    when: int
    value: int
    thread: int
    kind: int
    other: int
    text: int
    process: int


def events_of(log: Log) -> Iterator[Event]:
    """In the order in which they happened."""
    names = list(Event._fields)
    columns = (log.events[name].tolist() for name in names)
    yield from map(Event._make, zip(*columns, strict=True))


class Run(NamedTuple):
    """A program that a process runs from some moment on."""

    when: int
    words: tuple[str, ...]
    file: int  # object


@dataclass(slots=True)
class Life:
    """One thread."""

    thread: int
    process: int
    parent: int | None = None  # thread
    status: int | None = None  # as wait tells it, once it has ended
    directory: int = 0  # the thread that first had the working directory which this one has too
    runs: list[Run] = field(default_factory=list)

    @property
    def is_process(self) -> bool:
        """Whether it is the first thread of its process."""
        return self.thread == self.process


class Tree:
    """The lives of one run, by thread number."""

    def __init__(self, log: Log) -> None:
        self.lives: dict[int, Life] = {}
        for event in events_of(log):
            self._take(log, event)
        had = Counter(life.directory for life in self.lives.values() if life.is_process)
        self.shared_directories = {first for first, count in had.items() if count > 1}
        self._children: dict[int, list[int]] = {}
        for life in self.lives.values():
            if life.is_process and life.parent is not None:
                self._children.setdefault(self.lives[life.parent].process, []).append(life.thread)

    def _take(self, log: Log, event: Event) -> None:
        first = Life(event.thread, event.thread, directory=event.thread)
        life = self.lives.setdefault(event.thread, first)
        if event.kind == EventKind.MADE:
            runs = self._process(life).runs[-1:]
            shares = event.process != event.other or event.value & CLONE_FS
            self.lives[event.other] = Life(
                event.other,
                event.process,
                event.thread,
                directory=life.directory if shares else event.other,
                runs=runs,
            )
        elif event.kind == EventKind.RUNS:
            words = log.text(event.text).rstrip("\0").split("\0")
            life.runs.append(Run(event.when, tuple(words), event.other))
        elif event.kind == EventKind.ENDED:
            life.status = event.value

    def _process(self, life: Life) -> Life:
        return self.lives.get(life.process, life)

    def command(self, thread: int, when: int | None = None) -> tuple[str, ...]:
        """What the thread's process ran then, or in the end, by the words it was started with."""
        runs = self._process(self.lives[thread]).runs
        if not runs:
            return ()
        if when is None:
            return runs[-1].words
        return runs[max(bisect_right(runs, when, key=lambda run: run.when) - 1, 0)].words

    def first_command(self, thread: int) -> tuple[str, ...]:
        """What it ran first that it did not have from its parent; none when it ran nothing else."""
        life = self.lives[thread]
        own = life.runs if life.parent is None else life.runs[1:]
        return own[0].words if own else ()

    def children(self, process: int) -> list[int]:
        """The processes that it made."""
        return self._children.get(process, [])

    def title(self, thread: int) -> str:
        """Its command line, for people."""
        return short(self.command(thread))


def short(words: tuple[str, ...]) -> str:
    """A command line as one would type it, on one line and not too long."""
    text = " ".join(shlex.join(words).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
