# SPDX-License-Identifier: Apache-2.0
"""What to say of programs and libraries whose places have no source line."""

from collections.abc import Iterable

from eitherway.model.finding import Finding
from eitherway.model.identity import own_frame
from eitherway.model.paths import base
from eitherway.model.words import World


def advice(findings: Iterable[Finding]) -> list[str]:
    """At most one note: which of them were built without debug information, and what to do."""
    places = (
        own_frame(operation.stack)
        for finding in findings
        if finding.world is World.THREADS
        for operation in finding.operations
    )
    modules = dict.fromkeys(
        base(place.module) for place in places if place.module and place.offset and not place.line
    )
    if not modules:
        return []
    return [
        f"built without -g: {', '.join(modules)}; functions and offsets are all that is known "
        "there: add -g for lines and the names of variables"
    ]
