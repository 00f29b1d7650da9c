# SPDX-License-Identifier: Apache-2.0
"""Builds the probe from the sources at hand, asks it, and holds what a run of doctor gave."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parent.parent.parent
PROBE_SOURCES = sorted((ROOT / "native" / "probe").glob("*.c"))
UNDER = Path(__file__).parent / "under.py"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes", "-Werror")


def build_probe(target: Path, *flags: str, sources: tuple[Path, ...] = ()) -> Path:
    """Compile eitherway-probe with any further sources and flags."""
    target.parent.mkdir(parents=True, exist_ok=True)
    base = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fPIE", "-pie", *WARNINGS]
    files = [str(path) for path in (*PROBE_SOURCES, *sources)]
    subprocess.run([*base, *flags, *files, "-o", str(target)], check=True)
    return target


def ask(program: Path, name: str) -> str:
    """The one line that the probe prints."""
    ran = subprocess.run(
        [str(program), name], capture_output=True, text=True, check=True, timeout=300
    )
    assert ran.stderr == ""
    assert ran.stdout.count("\n") == 1
    return ran.stdout.rstrip("\n")


@dataclass(frozen=True)
class Doctor:
    """One run of `eitherway doctor --json FILE`."""

    status: int
    output: str
    errors: str
    document: dict[str, Any]

    def row(self, name: str) -> dict[str, Any]:
        (row,) = (row for row in self.document["capabilities"] if row["name"] == name)
        return dict(row)

    def role(self, world: str, name: str) -> dict[str, Any]:
        (state,) = (state for state in self.document["worlds"] if state["world"] == world)
        (role,) = (role for role in state["roles"] if role["role"] == name)
        return dict(role)

    def verdict(self, world: str) -> str:
        (state,) = (state for state in self.document["worlds"] if state["world"] == world)
        return str(state["verdict"])


class RunDoctor(Protocol):
    """What the fixture of that name gives."""

    def __call__(
        self,
        *arguments: str,
        filter_name: str = ...,
        nobody: bool = ...,
        environ: Mapping[str, str] = ...,
    ) -> Doctor: ...
