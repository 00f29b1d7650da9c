# SPDX-License-Identifier: Apache-2.0
"""What a program of the corpus says of itself: the grammar of tests/programs/README.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eitherway.model.words import Kind

PROGRAMS = Path(__file__).parent.parent / "programs"

_LINE = re.compile(r"^// (EXPECT|MAY):(.*)$")
_MARKS = re.compile(r"// ([A-Z](?:, [A-Z])*)$")
_ENDING = re.compile(r"SIG[A-Z0-9]+|exit:[0-9]+")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_HEAP = "heap:"


class TruthError(ValueError):
    """A program that says something which is not in the grammar."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that is true of a program."""

    words: str  # as written
    kinds: frozenset[Kind]
    names: tuple[str, ...] = ()  # of the variables; none where it has no name
    heap: frozenset[int] = frozenset()  # lines that allocate it
    ending: str = ""  # of a failure: "SIGABRT", "exit:1"
    sites: tuple[frozenset[int], ...] = ()  # the lines of each mark


@dataclass(frozen=True, slots=True)
class Truth:
    """All that is true of a program: what must be told, and what may be told with it."""

    source: Path
    expected: tuple[Expectation, ...]
    allowed: tuple[Expectation, ...]

    @property
    def name(self) -> str:
        """Of the program."""
        return self.source.stem


def truths() -> list[Truth]:
    """The whole corpus, by name."""
    sources = [*PROGRAMS.glob("*.c"), *PROGRAMS.glob("*.cc")]
    return [truth_of(source) for source in sorted(sources)]


def truth_of(source: Path) -> Truth:
    """What the comments of one program say."""
    try:
        return _parsed(source, source.read_text(encoding="utf-8"))
    except TruthError as problem:
        raise TruthError(f"{source.name}: {problem}") from None


def _parsed(source: Path, text: str) -> Truth:
    lines = text.splitlines()
    marks = _marks(lines)
    said = [(match[1], match[2].strip()) for line in lines if (match := _LINE.match(line))]
    expected = [words for word, words in said if word == "EXPECT"]
    if not expected:
        raise TruthError("it says nothing: write '// EXPECT: nothing' if nothing is wrong with it")
    if "nothing" in expected:
        if len(expected) > 1:
            raise TruthError("it expects nothing and something")
        expected = []
    allowed = [_with_reason(words) for word, words in said if word == "MAY"]
    truth = Truth(
        source,
        tuple(_expectation(words, marks) for words in expected),
        tuple(_expectation(words, marks) for words in allowed),
    )
    _all_used(truth, marks)
    return truth


def _marks(lines: list[str]) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(lines, 1):
        if match := _MARKS.search(line):
            for mark in match[1].split(", "):
                found.setdefault(mark, set()).add(number)
    return {mark: frozenset(numbers) for mark, numbers in found.items()}


def _with_reason(words: str) -> str:
    """What may be told, without the reason that it must have."""
    told, comma, reason = words.partition(", ")
    if not comma or not reason.startswith(("because ", "for ")):
        raise TruthError(f"'{words}' has no reason: ', because ...'")
    return told


def _expectation(words: str, marks: dict[str, frozenset[int]]) -> Expectation:
    fields = words.split()
    if len(fields) < 2:
        raise TruthError(f"'{words}' is not KIND OBJECT MARK ...")
    kinds = frozenset(_kind(word) for word in fields[0].split("|"))
    sites = tuple(_site(mark, marks) for mark in fields[2:])
    thing = fields[1]
    if Kind.FAILURE in kinds:
        if not _ENDING.fullmatch(thing):
            raise TruthError(f"'{thing}' is no way to fail: SIGABRT, SIGSEGV, exit:1, ...")
        return Expectation(words, kinds, ending=thing, sites=sites)
    if thing.startswith(_HEAP):
        heap = _site(thing.removeprefix(_HEAP), marks)
        return Expectation(words, kinds, heap=heap, sites=sites)
    return Expectation(words, kinds, names=tuple(_names(thing)), sites=sites)


def _kind(word: str) -> Kind:
    try:
        return Kind(word)
    except ValueError:
        raise TruthError(f"'{word}' is no kind of finding") from None


def _site(mark: str, marks: dict[str, frozenset[int]]) -> frozenset[int]:
    if mark not in marks:
        raise TruthError(f"no line has the mark '// {mark}'")
    return marks[mark]


def _names(thing: str) -> Iterator[str]:
    if thing == "-":
        return
    for name in thing.split(","):
        if not _NAME.fullmatch(name):
            raise TruthError(f"'{name}' is no name of a variable")
        yield name


def _all_used(truth: Truth, marks: dict[str, frozenset[int]]) -> None:
    """A mark that nobody speaks of is an expectation that was forgotten."""
    told = (*truth.expected, *truth.allowed)
    spoken = {site for one in told for site in (*one.sites, one.heap)}
    for mark, lines in marks.items():
        if lines not in spoken:
            raise TruthError(f"nothing speaks of the lines with the mark '// {mark}'")
