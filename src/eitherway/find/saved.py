# SPDX-License-Identifier: Apache-2.0
"""The findings of all searches so far, in the store: each once, with the newest evidence."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

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


class Held(NamedTuple):
    """What is kept until more is known of it, and what there was of the same before."""

    ids: frozenset[str] = frozenset()
    before: tuple[Finding, ...] = ()


NOTHING_HELD = Held()


def hold(store: Store, findings: Collection[Finding]) -> Held:
    """Keep these for now: whoever is killed while they are judged has them still."""
    ids = frozenset(finding.id for finding in findings)
    before = tuple(finding for finding in _readable(store) if finding.id in ids)
    if findings:
        add(store, findings)
    return Held(ids, before)


def add(store: Store, findings: Iterable[Finding], held: Held = NOTHING_HELD) -> int:
    """Merge these into the others, in place of what was held; how many there are then.

    What another version wrote and this one does not know is written anew.
    """
    others = (finding for finding in _readable(store) if finding.id not in held.ids)
    return _write(store, merged([*others, *held.before, *findings]))


def _readable(store: Store) -> tuple[Finding, ...]:
    try:
        return known(store)
    except BadInput:
        return ()


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
