# SPDX-License-Identifier: Apache-2.0
"""What of a command is kept apart, how, and within which limits."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from eitherway.errors import Unavailable

VERSION = 1  # of the report; native/sandbox/report.c writes it


class Kind(StrEnum):
    """What can be isolated, each on its own."""

    FILES = "files"
    NETWORK = "network"
    PROCESSES = "processes"
    PRIVILEGES = "privileges"  # root inside has no power over the machine


ALL = frozenset(Kind)


class Way(StrEnum):
    """How it is."""

    OVERLAY_ROOT = "overlay-root"  # all of / in one piece, and each mount below it
    OVERLAY_TOPS = "overlay-tops"  # each directory that has no mounts below it
    NAMESPACE = "namespace"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class InForce:
    """One kind; `why` says why it is not better."""

    way: Way
    why: str = ""


@dataclass(frozen=True, slots=True)
class Isolation:
    """What is in force in a sandbox."""

    files: InForce
    network: InForce
    processes: InForce
    privileges: InForce
    read_only: int  # places that could only be shown
    unlimited: str = ""  # why processes are not limited, where they should be

    def of(self, kind: Kind) -> InForce:
        """What is in force for one kind."""
        found: InForce = getattr(self, kind.value)
        return found

    @property
    def missing(self) -> tuple[Kind, ...]:
        """The kinds that are not isolated."""
        return tuple(kind for kind in Kind if self.of(kind).way is Way.NONE)

    def __str__(self) -> str:
        """In the words that stand in a finding."""
        words = [f"{kind}: {self.of(kind).way}" for kind in Kind]
        words += ["number of processes: not limited"] if self.unlimited else []
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes. All but `processes` and `disk` hold for each process; None is no limit."""

    memory: int | None = None
    address_space: int | None = None
    cpu: int | None = None  # seconds
    file_size: int | None = None
    processes: int | None = None
    disk: int | None = None

    def options(self) -> list[str]:
        """As eitherway-sandbox takes them."""
        given = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [
            word
            for name, value in given
            if value is not None
            for word in (f"--{name.replace('_', '-')}", str(value))
        ]


@dataclass(frozen=True, slots=True)
class Report:
    """The line that comes for each sandbox.

    Descriptors come along: the one that doors need, with `scratch` that of the layers, namespaces.
    """

    isolation: Isolation
    init: int
    namespaces: int
    scratch: bool


def parse(line: bytes) -> Report:
    """Read the line; what the sandbox could not do is raised."""
    document = json.loads(line)
    if document.get("version") != VERSION:
        raise Unavailable(
            "eitherway-sandbox is of another version than this tool", fix="make setup"
        )
    if "error" in document:
        raise Unavailable(str(document["error"]), fix="eitherway doctor --all")
    kinds: dict[str, Any] = {kind.value: _in_force(document[kind.value]) for kind in Kind}
    return Report(
        isolation=Isolation(**kinds, read_only=document["read_only"]),
        init=document["init"],
        namespaces=document["namespaces"],
        scratch=document["scratch"],
    )


def _in_force(part: Mapping[str, Any]) -> InForce:
    return InForce(Way(part["isolation"]), part["why"])
