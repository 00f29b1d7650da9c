# SPDX-License-Identifier: Apache-2.0
"""Which line of a shell script a process comes from, and where it works.

A shell does not say what line it is at. But the words of a command stand in its script, and so does
the name of a file that it is sent to: where one line has them, that is the one.
"""

import os
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from eitherway.worlds.processes.call_table import CALLS
from eitherway.worlds.processes.calls import call_of
from eitherway.worlds.processes.traced import Traced

Has = Callable[[str], bool]  # of a line: whether it may be the one
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|k|z|mk)?sh")
_LARGEST = 1 << 20  # bytes of a script
_FORKS = {"(", "&", "|", ")&"}  # in a line: words behind which a shell goes on as two
_TEXT = 2  # of `sh -c TEXT`
_MOVES = [number for number, call in CALLS.items() if call.name in ("chdir", "fchdir")]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a script."""

    script: str
    number: int
    text: str

    def __str__(self) -> str:
        """For people."""
        return f"line {self.number} of {self.script}: {self.text}"


class Scripts:
    """Of one run that was started in this directory."""

    def __init__(self, traced: Traced, directory: str) -> None:
        self._traced = traced
        self._directory = directory

    def line(self, call: int, path: str, *, writes: bool) -> Line | None:
        """Where the process of a call comes from; `path`: what the call is about."""
        tree = self._traced.tree
        row = self._traced.log.calls[call]
        thread, when = tree.lives[int(row["thread"])].process, int(row["entered"])
        wanted: list[str] = []
        at: int | None = thread
        while at is not None:
            words = tree.command(at, when)
            if script := self._script(words):
                which = self._among_alike(at, words, thread)
                sent = _sent(posixpath.basename(path), writes=writes, hidden=bool(wanted))
                ways = (which(script, has) for has in (*_started(wanted), sent))
                return next(filter(None, ways), None)
            wanted = list(words)
            at = tree.lives[at].parent
        return None

    def _among_alike(self, at: int, script: tuple[str, ...], thread: int) -> "_Which":
        """Lines that are alike start what is alike in their order, if there are as many of both."""
        tree, top = self._traced.tree, thread
        shell = at
        while (parent := tree.lives[shell].parent) is not None and tree.command(parent) == script:
            shell = tree.lives[parent].process
        while top != shell and (parent := tree.lives[top].parent) is not None:
            if tree.lives[parent].process == shell:
                break
            top = tree.lives[parent].process
        first = tree.first_command(top)
        alike = [each for each in tree.children(shell) if tree.first_command(each) == first]
        place = alike.index(top) if top in alike else 0
        return _Which(len(alike), place, forked=None if first else top != shell)

    def _script(self, words: tuple[str, ...]) -> tuple[str, list[str]] | None:
        if len(words) < _TEXT or not _SHELL.fullmatch(words[0]):
            return None
        if words[1] == "-c":
            lines = words[_TEXT].splitlines() if len(words) > _TEXT else []
            return (f"{words[0]} -c", lines) if len(lines) > 1 else None
        names = [word for word in words[1:] if not word.startswith("-")]
        file = Path(self._directory, names[0]) if names else None
        try:
            if file is None or file.stat().st_size > _LARGEST:
                return None
            return names[0], file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return None

    def directory(self, call: int) -> str:
        """Where the process works when it makes this call; nothing when that is not known."""
        tree, log = self._traced.tree, self._traced.log
        life = tree.lives[int(log.calls["thread"][call])]
        line = {life.thread, life.process}
        while life.parent is not None:
            life = tree.lives[life.parent]
            line |= {life.thread, life.process}
        at = self._directory
        for number in self._moves():
            if number < call and int(log.calls["thread"][number]) in line:
                at = self._went(number)
        return at

    def _moves(self) -> Iterator[int]:
        numbers = np.isin(self._traced.log.calls["number"], _MOVES)
        yield from map(int, np.flatnonzero(numbers))

    def _went(self, number: int) -> str:
        call = call_of(self._traced.log, number)
        first = int(self._traced.first[number])
        path = self._traced.describe(first + len(call.found) - 1).variable if call.found else ""
        return path if call.worked and os.path.isabs(path) else ""


@dataclass(frozen=True, slots=True)
class _Which:
    """Of lines that would all do."""

    count: int
    index: int
    forked: bool | None  # of a shell that runs nothing else: whether it is another's copy

    def __call__(self, script: tuple[str, list[str]], has: Has) -> Line | None:
        """The only one, or the one at its place among as many."""
        name, lines = script
        found = [
            Line(name, number, text.strip())
            for number, text in enumerate(lines, 1)
            if not text.lstrip().startswith("#") and has(text) and self._may_be(text)
        ]
        if len(found) == 1:
            return found[0]
        return found[self.index] if found and len(found) == self.count else None

    def _may_be(self, text: str) -> bool:
        return self.forked in (None, bool(_FORKS.intersection(_words(text))))


def _started(words: list[str]) -> Iterator[Has]:
    """Lines that have all of these words; of the program only its name is wanted."""
    if words:
        wanted = [posixpath.basename(words[0]), *words[1:]]
        yield lambda text: set(wanted) <= set(_words(text))
        yield lambda text: _mentions(text, wanted)


def _sent(name: str, *, writes: bool, hidden: bool) -> Has:
    """Lines that send something to the file, or take it from there.

    Where a command is `hidden`, its words do not stand there: a variable does.
    """

    def has(text: str) -> bool:
        words = ["", *map(posixpath.basename, _words(text))]
        sent = {before.startswith(">") for before, word in pairwise(words) if word == name}
        return bool(name) and writes in sent and ("$" in text or not hidden)

    return has


def _words(text: str) -> list[str]:
    """As a shell cuts them, operators among them; none of what goes on in the next line."""
    cut = shlex.shlex(text, posix=True, punctuation_chars=True)
    cut.whitespace_split = True
    try:
        return list(cut)
    except ValueError:
        return []


def _mentions(text: str, wanted: list[str]) -> bool:
    """What a shell puts in for a variable does not stand there."""
    program = re.search(rf"(?<![\w.$-]){re.escape(wanted[0])}(?![\w.-])", text)
    return bool(program) and all(word in text or "$" in text for word in wanted)
