# SPDX-License-Identifier: Apache-2.0
"""Suppression lines for findings that somebody has decided to live with.

ThreadSanitizer's syntax has one pattern a line and no "and". So the line is the narrowest that
takes the finding out, and what else of the list it takes is said above it.
"""

from collections.abc import Iterable, Iterator, Sequence

from eitherway.findings.suppressions import Suppression, Type, sieve
from eitherway.model.finding import Finding
from eitherway.model.identity import headline
from eitherway.model.names import in_library
from eitherway.model.text import printable
from eitherway.model.words import Kind

_TYPES = {
    Kind.DEADLOCK: (Type.DEADLOCK,),
    Kind.LOCK_MISUSE: (Type.MUTEX,),
    Kind.THREAD_LEAK: (Type.THREAD,),
    Kind.SIGNAL_MISUSE: (Type.SIGNAL,),
}
_OF_RACES = (Type.RACE_TOP, Type.RACE)


def written(marked: Iterable[Finding], every: Sequence[Finding]) -> str:
    """The text of a suppression file for these, of a list."""
    return "".join(line for finding in marked for line in _lines(finding, every))


def _lines(finding: Finding, every: Sequence[Finding]) -> Iterator[str]:
    yield f"# {finding.id} {printable(headline(finding))}\n"
    narrowest = min(
        ((len(sieve(every, [one]).suppressed), order, one) for order, one in _candidates(finding)),
        default=None,
        key=lambda found: found[:2],
    )
    if narrowest is None:
        yield "# cannot be suppressed: it happened, or has no name to be known by\n"
        return
    others = narrowest[0] - 1
    if others > 0:
        yield f"# takes out {others} more of this list\n"
    yield f"{narrowest[2].type.value}:{narrowest[2].pattern}\n"


def _candidates(finding: Finding) -> Iterator[tuple[int, Suppression]]:
    """Lines that take the finding out: by variable first, then by function."""
    order = 0
    for pattern in dict.fromkeys(_patterns(finding)):
        for type_ in _TYPES.get(finding.kind, _OF_RACES):
            line = Suppression(type_, pattern, "", 0)
            if sieve([finding], [line]).suppressed:
                order += 1
                yield order, line


def _patterns(finding: Finding) -> Iterator[str]:
    """Names as a whole; what a line of a file cannot hold is none."""
    names = [operation.variable for operation in finding.operations]
    for operation in finding.operations:
        names += [frame.function for frame in operation.stack if not in_library(frame)][:1]
    yield from (f"^{name}$" for name in names if name and name == printable(name).strip())
