# SPDX-License-Identifier: Apache-2.0
"""Races of calls that were under way at the same time: which came first is not known.

Where every call stops, one is over before the next begins. Who only looks on knows when a call
began and when it was over, and not when in between it did what it does.
"""

from dataclasses import replace

from eitherway.model.race import OVERLAPPING, Race
from eitherway.model.words import Kind
from eitherway.worlds.processes.operations import NO_CALL
from eitherway.worlds.processes.traced import Traced


def marked(races: list[Race], traced: Traced) -> list[Race]:
    """The same races; those whose two calls overlapped say so."""
    return [
        replace(race, pattern=OVERLAPPING) if _overlap(race, traced) else race for race in races
    ]


def _overlap(race: Race, traced: Traced) -> bool:
    if race.kind is not Kind.LOAD_STORE:
        return False
    one, other = (int(traced.call[operation]) for operation in race.operations)
    if NO_CALL in (one, other):
        return False
    entered, left = traced.log.calls["entered"], traced.log.calls["left"]
    return bool(entered[one] < left[other] and entered[other] < left[one])
