# SPDX-License-Identifier: Apache-2.0
"""Keeps every older major version readable, one step per version.

A step turns what version n holds into what version n + 1 holds; a reader applies all steps from a
recording's version to its own and knows its own only. Whoever raises `major` in
format/recording.toml adds the step here and a sample of the old version to the corpus.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eitherway.recording import refusals
from eitherway.recording.layout import MAJOR

OLDEST = 1

Json = dict[str, Any]
Payload = tuple[int, int, bytes]  # block type, number of records, payload


@dataclass(frozen=True, slots=True)
class Step:
    """From one major version to the next."""

    manifest: Callable[[Json], Json]
    payload: Callable[[Payload], Payload]


STEPS: Mapping[int, Step] = {}  # by the version a step starts from; there is only version 1 so far


def steps_from(
    version: tuple[int, int],
    path: Path,
    *,
    tool: object = "?",
    steps: Mapping[int, Step] = STEPS,
    current: int = MAJOR,
) -> tuple[Step, ...]:
    """The steps from a recording's version to ours; newer ones are refused."""
    major, minor = version
    if major > current:
        raise refusals.newer(path, major, minor, tool)
    if major < OLDEST:
        raise refusals.never_was(path, major)
    return tuple(steps[number] for number in range(major, current))


def manifest(raw: Json, steps: tuple[Step, ...]) -> Json:
    """A manifest as our version writes it."""
    for step in steps:
        raw = step.manifest(raw)
    return raw


def payload(raw: Payload, steps: tuple[Step, ...]) -> Payload:
    """A block as our version writes it."""
    for step in steps:
        raw = step.payload(raw)
    return raw
