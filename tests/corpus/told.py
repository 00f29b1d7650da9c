# SPDX-License-Identifier: Apache-2.0
"""What a tool tells of a program, and what of it was expected; the same for every tool."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import PurePath

from tests.corpus.expect import Expectation, Truth

from eitherway.model.finding import Finding, Frame
from eitherway.model.names import bare, portable_variable
from eitherway.model.words import Kind


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that was told, reduced to what can be compared."""

    kind: Kind
    lines: tuple[int, ...]  # of each side, in the program's own file; 0 where it is not in it
    names: frozenset[str] = frozenset()
    allocated: frozenset[int] = frozenset()
    words: str = ""  # on how the program ends

    def __str__(self) -> str:
        """For people who look for the reason."""
        about = ",".join(sorted(self.names)) or "-"
        at = " ".join(map(str, self.lines))
        return f"{self.kind} {about} at {at}" + (f" ({self.words})" if self.words else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was told, against what is true."""

    found: tuple[Expectation, ...]
    missed: tuple[Expectation, ...]
    false: tuple[Told, ...]

    @property
    def is_right(self) -> bool:
        """All of it, and nothing else."""
        return not self.missed and not self.false


def told_of(finding: Finding, source: PurePath) -> Told:
    """A finding of ours."""
    functions = frozenset(bare(f.function) for op in finding.operations for f in op.stack) - {""}
    names = {portable_variable(op.variable, functions) for op in finding.operations} - {""}
    made = {line_in(op.allocated, source) for op in finding.operations} - {0}
    return Told(
        finding.kind,
        tuple(line_in(op.stack, source) for op in finding.operations),
        frozenset(names),
        frozenset(made),
        finding.consequence if finding.kind is Kind.FAILURE else "",
    )


def line_in(stack: Iterable[Frame], source: PurePath) -> int:
    """Of the innermost frame in the program's own file."""
    return next((f.line for f in stack if PurePath(f.file).name == source.name), 0)


def compared(truth: Truth, told: Iterable[Told]) -> Comparison:
    """Each thing that is expected takes one that was told; what has a name comes first."""
    open_still = list(truth.expected)
    found: list[Expectation] = []
    false: list[Told] = []
    for one in sorted(told, key=lambda one: not one.names):
        taken = next((e for e in open_still if fits(e, one)), None)
        if taken is not None:
            open_still.remove(taken)
            found.append(taken)
        elif not any(fits(allowed, one) for allowed in truth.allowed):
            false.append(one)
    return Comparison(tuple(found), tuple(open_still), tuple(false))


def fits(expected: Expectation, told: Told) -> bool:
    """Whether this is what was expected, by the rules of tests/programs/README.md."""
    return (
        told.kind in expected.kinds
        and _ends(expected.ending, told.words)
        and _is_named(expected, told)
        and (_is_pair if told.kind is Kind.DATA_RACE else _is_among)(expected.sites, told.lines)
    )


def _ends(ending: str, words: str) -> bool:
    wanted = ending.replace("exit:", "exit status ")
    return re.search(rf"\b{wanted}\b", words) is not None if ending else True


def _is_named(expected: Expectation, told: Told) -> bool:
    if expected.heap:
        return not told.allocated or bool(expected.heap & told.allocated)
    if not expected.names or not told.names:
        return True
    return all(any(_same(name, one) for one in told.names) for name in expected.names)


def _same(expected: str, told: str) -> bool:
    """Of two names with fields, one may say less."""
    return all(
        one == other for one, other in zip(expected.split("."), told.split("."), strict=False)
    )


def _is_pair(sites: Sequence[frozenset[int]], lines: Sequence[int]) -> bool:
    return any(
        all(line in site for line, site in zip(order, sites, strict=True))
        for order in permutations(lines)
        if len(order) == len(sites)
    )


def _is_among(sites: Sequence[frozenset[int]], lines: Sequence[int]) -> bool:
    return all(site.intersection(lines) for site in sites)
