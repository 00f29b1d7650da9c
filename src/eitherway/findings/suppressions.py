# SPDX-License-Identifier: Apache-2.0
"""Suppression files in ThreadSanitizer's syntax: `TYPE:PATTERN`, one per line.

A pattern is looked for anywhere in a function, file, module or variable name; `*` stands for any
text, `^` at its beginning and `$` at its end tie it to the ends of the name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib import resources

from eitherway.errors import BadInput
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.names import in_c_runtime
from eitherway.model.shortened import shortened
from eitherway.model.text import printable
from eitherway.model.words import Kind

DEFAULTS = "default.supp"


class Type(StrEnum):
    """What a line suppresses."""

    RACE = "race"
    RACE_TOP = "race_top"
    CALLED_FROM_LIB = "called_from_lib"
    MUTEX = "mutex"
    THREAD = "thread"
    DEADLOCK = "deadlock"
    SIGNAL = "signal"


_RACES = frozenset(
    {
        Kind.DATA_RACE,
        Kind.LOAD_STORE,
        Kind.WAIT_WAKEUPS,
        Kind.WAKEUP_WAITS,
        Kind.TOCTOU,
        Kind.ATOMICITY,
        Kind.LOST_WAKEUP,
    }
)
# Thread leaks and unsafe signal handlers come out of logs of other tools alone.
# Failures and hangs are not suppressed by any: they say what happened, not what might be a race.
_KINDS: dict[Type, frozenset[Kind]] = {
    Type.RACE: _RACES,
    Type.RACE_TOP: _RACES,
    Type.CALLED_FROM_LIB: _RACES,
    Type.MUTEX: frozenset({Kind.LOCK_MISUSE}),
    Type.THREAD: frozenset({Kind.THREAD_LEAK}),
    Type.DEADLOCK: frozenset({Kind.DEADLOCK}),
    Type.SIGNAL: frozenset({Kind.SIGNAL_MISUSE}),
}


@dataclass(frozen=True, slots=True)
class Suppression:
    """One line of a file."""

    type: Type
    pattern: str
    file: str
    line: int
    shipped: bool = False  # with the tool: not the user's to clean up

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.type.value}:{self.pattern}"


@dataclass(frozen=True, slots=True)
class Sieved:
    """What suppressions left, what they took, and how often each of them matched."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    matches: dict[Suppression, int]

    def unused(self) -> list[Suppression]:
        """The lines that matched nothing, shipped ones aside."""
        return [s for s, count in self.matches.items() if not count and not s.shipped]


def parse(text: str, name: str) -> list[Suppression]:
    """The suppressions in this text; `name` is the file it came from."""
    lines = ((number, line.strip()) for number, line in enumerate(text.split("\n"), start=1))
    return [_line(line, name, number) for number, line in lines if line and line[0] != "#"]


def defaults() -> list[Suppression]:
    """What ships with the tool for the libraries that every program stands on."""
    file = resources.files("eitherway.findings") / DEFAULTS
    lines = parse(file.read_text(encoding="utf-8"), DEFAULTS)
    return [replace(line, shipped=True) for line in lines]


def sieve(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> Sieved:
    """Take out what a suppression matches; all that match are counted, not only the first."""
    matcher = _Matcher(suppressions)
    kept: list[Finding] = []
    taken: list[Finding] = []
    matches = Counter(dict.fromkeys(suppressions, 0))
    for finding in findings:
        found = matcher.matching(finding)
        matches.update(found)
        (taken if found else kept).append(finding)
    return Sieved(tuple(kept), tuple(taken), dict(matches))


def _line(line: str, name: str, number: int) -> Suppression:
    word, colon, pattern = line.partition(":")
    where = f"{name}:{number}"
    if not colon or word not in [known.value for known in Type]:
        types = ", ".join(f"{known.value}:" for known in Type)
        raise BadInput(
            f"{where}: '{printable(line)[:60]}' is no suppression; a line is one of {types}"
        )
    if not pattern.strip("^$*"):
        raise BadInput(f"{where}: '{printable(line)[:60]}' would match everything; name something")
    return Suppression(Type(word), pattern, name, number)


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern taken apart: all but `*`, a first `^` and a last `$` is literal.

    The pieces between `*` are looked for one after the other, each at the first place behind the
    one before: nothing is tried twice, whatever the pattern.
    """

    pieces: tuple[str, ...]
    at_start: bool
    at_end: bool

    @classmethod
    def of(cls, pattern: str) -> "Glob":
        """The pattern of a suppression line."""
        start, end = pattern.startswith("^"), pattern.endswith("$")
        return cls(tuple(pattern[start : len(pattern) - end].split("*")), start, end)

    def is_in(self, name: str) -> bool:
        """Whether the name has it."""
        position, pieces = 0, list(self.pieces)
        limit = len(name)
        if self.at_end:
            last = pieces.pop()
            limit -= len(last)
            if not name.endswith(last) or (self.at_start and not pieces and limit):
                return False
        if self.at_start and pieces:
            position = len(pieces[0])
            if not name.startswith(pieces.pop(0)) or position > limit:
                return False
        for piece in pieces:
            found = name.find(piece, position, limit)
            if found < 0:
                return False
            position = found + len(piece)
        return True


class _Matcher:
    """Matches findings against suppressions; each distinct name is looked at once per type.

    Names repeat over stacks, patterns over names: thousands of findings come down to a few hundred
    searches.
    """

    def __init__(self, suppressions: Sequence[Suppression]) -> None:
        self._by_type: dict[Type, list[tuple[Suppression, Glob]]] = {}
        for suppression in suppressions:
            pattern = Glob.of(suppression.pattern)
            self._by_type.setdefault(suppression.type, []).append((suppression, pattern))
        self._named = cache(self._search)

    def matching(self, finding: Finding) -> set[Suppression]:
        """All suppressions that match the finding."""
        found: set[Suppression] = set()
        for type_ in self._by_type:
            if finding.kind in _KINDS[type_]:
                for name in _names(finding, type_):
                    found.update(self._named(type_, name))
        return found

    def _search(self, type_: Type, name: str) -> tuple[Suppression, ...]:
        return tuple(s for s, pattern in self._by_type[type_] if pattern.is_in(name))


def _names(finding: Finding, type_: Type) -> Iterator[str]:
    """The names of a finding that a suppression of this type is looked for in."""
    for operation in finding.operations:
        if type_ is Type.CALLED_FROM_LIB:
            yield from _calling_module(operation)
        elif type_ is Type.RACE_TOP:
            for frame in operation.stack[:1]:
                yield from _frame_names(frame)
        else:
            for frame in (*operation.stack, *operation.created):
                yield from _frame_names(frame)
            yield from filter(None, (operation.variable,))


def _frame_names(frame: Frame) -> Iterator[str]:
    return filter(None, (frame.function, shortened(frame.function), frame.file, frame.module))


def _calling_module(operation: FoundOperation) -> Iterator[str]:
    """The module that made the access, or called the C library function that did."""
    caller = next((frame for frame in operation.stack if not in_c_runtime(frame)), None)
    if caller is not None and caller.module:
        yield caller.module
