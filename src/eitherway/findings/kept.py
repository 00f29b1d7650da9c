# SPDX-License-Identifier: Apache-2.0
"""One list over time: what all runs so far have found, in a file that the next run adds to."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from eitherway.errors import Unavailable, UsageError
from eitherway.findings.agreeing import agreed, wholes
from eitherway.findings.document import load
from eitherway.findings.merge import merged
from eitherway.model.finding import Finding


@dataclass(frozen=True, slots=True)
class Grown:
    """A list after this time's findings have come to it."""

    findings: tuple[Finding, ...]
    known: frozenset[str]  # ids that are not new to it
    quiet: tuple[str, ...]  # ids that were known, and were not seen this time


@contextmanager
def held(path: str) -> Iterator[tuple[Finding, ...]]:
    """The list in this file, none where there is no file yet; nobody else changes it meanwhile.

    The folder is what is locked: a file that is renamed into place is another one each time.
    """
    try:
        folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield load(path).findings if os.path.lexists(path) else ()
    except BlockingIOError as error:
        raise Unavailable(f"{path} cannot be locked: {error.strerror}") from None
    finally:
        os.close(folder)


def grown(before: Iterable[Finding], now: Iterable[Finding]) -> Grown:
    """The list with this time's findings in it."""
    old = {finding.id: finding for finding in merged(before)}
    every = merged([*old.values(), *merged(now)])
    moved = wholes(every)  # one that was known may be told better now
    findings = agreed(every)
    counts = {finding.id: finding.seen.count for finding in findings}
    quiet = tuple(one for one, was in old.items() if counts.get(one) == was.seen.count)
    return Grown(findings, frozenset(moved.get(one, one) for one in old), quiet)
