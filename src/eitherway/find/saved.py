# SPDX-License-Identifier: Apache-2.0
"""The findings of all searches so far, in the store: each once, with the newest evidence."""

from collections.abc import Iterable
from pathlib import Path

from eitherway import __version__
from eitherway.errors import BadInput
from eitherway.findings.merge import merged
from eitherway.model.document import lines_of, read_document
from eitherway.model.finding import Document, Finding, Summary
from eitherway.model.shape import ShapeError
from eitherway.recording.store import CHECKED, Store

NAME = "findings.json"


def path_of(store: Store) -> Path:
    """Where they are, if there are any."""
    return store.root / CHECKED / NAME


def add(store: Store, findings: Iterable[Finding]) -> int:
    """Merge these into the others; how many there are then.

    What another version wrote and this one does not know is written anew.
    """
    try:
        others = known(store)
    except BadInput:
        others = ()
    return _write(store, merged([*others, *findings]))


def replace(store: Store, findings: Iterable[Finding]) -> int:
    """These in the place of those with their ids; how many there are then."""
    newer = {finding.id: finding for finding in findings}
    kept = [finding for finding in known(store) if finding.id not in newer]
    return _write(store, merged([*kept, *newer.values()]))


def _write(store: Store, everything: tuple[Finding, ...]) -> int:
    document = Document(everything, Summary(findings=len(everything)), "eitherway", __version__)
    store.write_checked(NAME, "".join(lines_of(document)).encode())
    return len(everything)


def known(store: Store) -> tuple[Finding, ...]:
    """All of them. Raises BadInput where they cannot be read: nothing else would say so."""
    data = store.read_checked(NAME)
    try:
        return read_document(data).findings if data else ()
    except ShapeError as problem:
        fix = "eitherway check -- ./program ARGS, which writes it anew"
        raise BadInput(f"{path_of(store)} is not a findings document: {problem}", fix=fix) from None
