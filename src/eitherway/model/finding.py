# SPDX-License-Identifier: Apache-2.0
"""A finding: one distinct thing to tell the user, the same in every run, file and report.

`format/finding.schema.json` is the contract for its JSON form; `to_json` and `from_json` mirror it.
"""

from dataclasses import dataclass, field

from eitherway.model.trace import Place
from eitherway.model.words import Arm, Class, Kind, World


@dataclass(frozen=True, slots=True)
class Frame(Place):
    """A place on a stack; an inlined function has the frame it was inlined into behind it."""

    inlined: bool = False


@dataclass(frozen=True, slots=True)
class FoundOperation:
    """One side of a finding, in names instead of numbers."""

    actor: str
    op: str  # "read of size 4", "openat", "lock"
    object: str = ""  # what it touched: "heap block of 40 bytes", "file", "mutex"
    variable: str = ""  # its name when known: "balance", "queue.head", "/tmp/x"
    stack: tuple[Frame, ...] = ()  # innermost first
    locks: tuple[str, ...] = ()
    created: tuple[Frame, ...] = ()  # where the actor was created
    allocated: tuple[Frame, ...] = ()  # where the object was allocated
    value: str = ""

    @property
    def place(self) -> Frame:
        return self.stack[0] if self.stack else Frame()


@dataclass(frozen=True, slots=True)
class Confidence:
    """How much was tried: k = paths x schedules."""

    paths: int = 0
    schedules: int = 0
    arms: tuple[Arm, ...] = ()
    isolation: str = ""
    matching: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Who saw it: us, or a tool whose log was imported."""

    tool: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """When (RFC 3339, UTC) and how often."""

    first: str = ""
    last: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """See DESIGN "Contracts" in ARCHITECTURE.md for the meaning of each field."""

    world: World
    kind: Kind
    operations: tuple[FoundOperation, ...]
    id: str = ""  # filled by `identity.identified`
    klass: Class = Class.UNJUDGED
    reason: str = ""
    consequence: str = ""
    confidence: Confidence = field(default_factory=Confidence)
    explanation: tuple[str, ...] = ()
    replay: str = ""
    evidence: str = ""
    sources: tuple[Source, ...] = ()
    seen: Seen = field(default_factory=Seen)
