# SPDX-License-Identifier: Apache-2.0
"""A survey as the document that `eitherway doctor --json` writes."""

from typing import Any

from eitherway import __version__
from eitherway.machine.capability import Capability
from eitherway.machine.roles import Chosen
from eitherway.machine.survey import Survey, WorldState

Json = dict[str, Any]


def document(survey: Survey) -> Json:
    """The whole table, whatever was asked for."""
    host = survey.host
    return {
        "tool": {"name": "eitherway", "version": __version__},
        "host": {
            "system": host.system,
            "kernel": host.kernel,
            "architecture": host.architecture,
            "cpus": host.cpus,
            "root": host.root,
            "seccomp_filter": host.filtered,
            "container": host.container or None,
            "container_signs": list(host.signs),
        },
        "worlds": [_world(state) for state in survey.worlds],
        "capabilities": [_capability(row) for row in survey.capabilities],
    }


def _world(state: WorldState) -> Json:
    return {
        "world": state.world,
        "verdict": state.verdict,
        "built": state.built,
        "roles": [_role(chosen) for chosen in state.chosen],
    }


def _role(chosen: Chosen) -> Json:
    return {
        "role": chosen.role.name,
        "grade": chosen.grade,
        "in_force": chosen.in_force,
        "lost": chosen.lost,
        "lacking": list(chosen.lacking),
        "required": chosen.role.required,
        "extra": chosen.role.extra,
    }


def _capability(row: Capability) -> Json:
    return {
        "name": row.name,
        "worlds": list(row.worlds),
        "purpose": row.purpose,
        "state": row.seen.state,
        "detail": row.seen.detail,
        "error": row.seen.error,
        "missing": row.missing,
        "fix": row.command,
        "lost": row.lost,
    }
