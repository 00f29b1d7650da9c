# SPDX-License-Identifier: Apache-2.0
"""Findings that were kept, as a person names them."""

from collections.abc import Sequence

from eitherway.errors import UsageError
from eitherway.model.finding import Finding


def some(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The same; it is refused that there are none."""
    if not findings:
        raise UsageError("nothing was found so far", fix="eitherway check -- ./program ARGS")
    return findings


def named(findings: Sequence[Finding], names: Sequence[str]) -> list[Finding]:
    """Those of these names, each once."""
    return [one(some(findings), name) for name in dict.fromkeys(names)]


def one(findings: Sequence[Finding], name: str) -> Finding:
    """The one whose id begins so."""
    matching = [finding for finding in findings if finding.id.startswith(name)] if name else []
    if len(matching) != 1:
        count = "several findings begin" if matching else "no finding begins"
        raise UsageError(f"{count} with '{name}'", fix="eitherway races")
    return matching[0]
