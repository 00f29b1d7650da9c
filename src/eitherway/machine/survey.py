# SPDX-License-Identifier: Apache-2.0
"""Runs every probe at once and draws the conclusions for each world."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from eitherway.installed import native
from eitherway.machine.capability import Capability, Seen, State
from eitherway.machine.definitions import DEFINITIONS, Definition
from eitherway.machine.fixes import commands, mend
from eitherway.machine.host import Host, read_host
from eitherway.machine.native import ask
from eitherway.machine.roles import ROLES, Chosen, Grade, choose
from eitherway.model.words import World

# Probes wait more than they compute; all at once would starve the ones with a limit.
AT_ONCE = 8

BUILT: frozenset[World] = frozenset({World.THREADS, World.PROCESSES})
"""The worlds in which this version runs programs. A world joins in the commit that ships it."""


class Verdict(StrEnum):
    """What a world can do on this machine."""

    READY = "ready"
    FALLBACKS = "works with fallbacks"
    CANNOT = "cannot work"


@dataclass(frozen=True, slots=True)
class WorldState:
    """A world on this machine; `built` says whether this version of EitherWay uses it."""

    world: World
    verdict: Verdict
    built: bool
    chosen: tuple[Chosen, ...]

    def to_name(self) -> tuple[Chosen, ...]:
        """The jobs that explain the verdict: those that forbid it, or those done by a fallback."""
        if self.verdict is Verdict.CANNOT:
            return tuple(c for c in self.chosen if c.blocks)
        return tuple(c for c in self.chosen if c.grade is not Grade.BEST and not c.role.extra)


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything that `eitherway doctor` tells."""

    host: Host
    capabilities: tuple[Capability, ...]
    worlds: tuple[WorldState, ...]

    def capability(self, name: str) -> Capability:
        """The row of that name."""
        return next(row for row in self.capabilities if row.name == name)

    def world(self, world: World) -> WorldState:
        """The state of that world."""
        return next(state for state in self.worlds if state.world is world)


def survey() -> Survey:
    """Probe this machine; `Unavailable` when the probe program is not installed."""
    return conclude(read_host(), probe_all(native("bin/eitherway-probe")))


def probe_all(program: Path) -> dict[str, Seen]:
    """What each probe saw, by name."""
    probes = {d.name: d.probe or partial(ask, program, d.name) for d in DEFINITIONS}
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        answers = pool.map(_guarded, probes.values())
        return dict(zip(probes, answers, strict=True))


def _guarded(probe: Callable[[], Seen]) -> Seen:
    """One probe that fails in a way nobody thought of must not hide what the others saw."""
    try:
        return probe()
    except Exception as problem:
        return Seen(State.UNKNOWN, f"the probe failed: {type(problem).__name__}: {problem}"[:160])


def conclude(host: Host, seen: Mapping[str, Seen]) -> Survey:
    """The table and the verdicts that follow from the answers."""
    rows = tuple(_row(definition, seen[definition.name], host) for definition in DEFINITIONS)
    return Survey(host, rows, tuple(_state(world, seen) for world in World))


def _row(definition: Definition, seen: Seen, host: Host) -> Capability:
    missing, fix = mend(definition, seen, host)
    return Capability(
        name=definition.name,
        worlds=definition.worlds,
        purpose=definition.purpose,
        seen=seen,
        missing=missing,
        fix=fix,
        command="; ".join(commands([fix], host)),
        lost="" if seen.state is State.YES else definition.lost,
    )


def _state(world: World, seen: Mapping[str, Seen]) -> WorldState:
    chosen = tuple(choose(role, seen) for role in ROLES if role.world is world)
    if any(c.blocks for c in chosen):
        verdict = Verdict.CANNOT
    elif any(c.grade is not Grade.BEST and not c.role.extra for c in chosen):
        verdict = Verdict.FALLBACKS
    else:
        verdict = Verdict.READY
    return WorldState(world, verdict, world in BUILT, chosen)
