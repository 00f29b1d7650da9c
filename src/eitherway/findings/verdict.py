# SPDX-License-Identifier: Apache-2.0
"""The exit code that a list of findings deserves."""

from collections.abc import Collection, Iterable

from eitherway.errors import Exit, UsageError
from eitherway.model.finding import Finding
from eitherway.model.words import Class

FAILING = frozenset({Class.SPEC_VIOLATED, Class.OUTPUT_DIFFERS, Class.UNJUDGED})


def exit_code(
    new: Iterable[Class], *, fail_on: Collection[Class] = FAILING, found: int = Exit.FOUND
) -> int:
    """From the classes of the new findings: `found` if one fails, 2 if one is inconclusive, else 0.

    A class named in `fail_on` fails; an inconclusive finding that does not is still no success.
    """
    classes = set(new)
    if classes & set(fail_on):
        return found
    return Exit.INCONCLUSIVE if Class.INCONCLUSIVE in classes else Exit.OK


def failing(
    findings: Iterable[Finding], new: Collection[str], fail_on: Collection[Class]
) -> tuple[str, ...]:
    """The ids of those that make a command fail."""
    return tuple(f.id for f in findings if f.id in new and f.klass in fail_on)


def parse_fail_on(text: str) -> frozenset[Class]:
    """`CLASS,CLASS`, or `none`."""
    words = [word.strip() for word in text.split(",")]
    if words == ["none"]:
        return frozenset()
    known = {klass.value: klass for klass in Class}
    for word in words:
        if word not in known:
            raise UsageError(
                f"--fail-on: there is no class '{word}'; classes: {', '.join(known)}, none"
            )
    return frozenset(known[word] for word in words)
