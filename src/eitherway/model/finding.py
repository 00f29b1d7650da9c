# SPDX-License-Identifier: Apache-2.0
"""A finding: one distinct thing to tell the user, the same in every run, file and report.

`format/finding.schema.json` is the contract for its JSON form; `model/document.py` writes and reads
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from eitherway.model.history import History
from eitherway.model.place import Place
from eitherway.model.words import Arm, Class, Kind, World

MOST = 2**53  # the largest count: every whole number up to it is exact in every reader of JSON


@dataclass(frozen=True, slots=True)
class Frame(Place):
    """A place on a stack; an inlined function has the frame it was inlined into behind it."""

    inlined: bool = False


@dataclass(frozen=True, slots=True)
class FoundOperation:
    """One side of a finding, in names instead of numbers."""

    actor: str  # "thread T1 'worker'", "main thread", "process 'cc1' (pid 71)"
    op: str  # "read of size 4", "openat", "lock"
    object: str = ""  # what it touched: "heap block of 40 bytes", "file", "mutex"
    variable: str = ""  # its name when known: "balance", "queue.head", "/tmp/x"
    stack: tuple[Frame, ...] = ()  # innermost first, inlined functions spelled out
    locks: tuple[str, ...] = ()
    created: tuple[Frame, ...] = ()  # where the actor was created
    allocated: tuple[Frame, ...] = ()  # where the object was allocated; of a mutex: made
    value: str = ""
    part: str = ""  # of the object, where it has no name: "bytes 8 to 11"
    created_by: str = ""  # the actor that created this one
    allocated_by: str = ""  # the actor that allocated the object

    @property
    def place(self) -> Frame:
        """The innermost frame."""
        return self.stack[0] if self.stack else Frame()

    @property
    def touched(self) -> str:
        """The object with its name: "global 'balance'", "'total' on the stack of main thread"."""
        if not self.variable:
            return self.object
        name = f"'{self.variable}'"
        if self.object.startswith("stack of "):
            return f"{name} on the {self.object}"
        if self.object.startswith("thread-local storage of "):
            return f"{name} in the {self.object}"
        return f"{self.object} {name}" if self.object else name


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A lock that an actor of the finding held, by its name there."""

    name: str
    made: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a source file, as they were when it was found."""

    file: str
    first: int  # number of the first line
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How much was tried: k = paths x schedules."""

    paths: int = 0
    schedules: int = 0
    arms: tuple[Arm, ...] = ()
    isolation: str = ""
    matching: str = ""


@dataclass(frozen=True, slots=True)
class Ordered:
    """One of the two orders of the pair that decides, and what the program does with it."""

    order: str  # in words: who comes before whom
    does: str  # how it ends, and what goes wrong
    output: str = ""  # the last lines that it writes
    replay: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Who saw it: us, or a tool whose log was imported."""

    tool: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """When (RFC 3339, UTC, "Z") and how often."""

    first: str = ""
    last: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """See "finding" in docs/findings.md for the meaning of each field."""

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
    locks: tuple[HeldLock, ...] = ()  # that were held, of which it is known where they were made
    orders: tuple[Ordered, ...] = ()  # both that were run, the one that is worse first
    history: History = field(default_factory=History)
    code: tuple[Excerpt, ...] = ()  # around the places it names


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands behind a list of findings: how many, against which baseline, what was left out.

    Without a baseline every finding is new. `notes` are sentences on what was and was not looked
    at; they say what "nothing found" means.
    """

    findings: int = 0
    new: tuple[str, ...] = ()  # ids
    gone: tuple[str, ...] = ()  # ids of the baseline that were not seen this time
    suppressed: int = 0
    unused_suppressions: tuple[str, ...] = ()  # "FILE:LINE: race:x"
    classes: Mapping[Class, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()  # ids of the new findings that make the command fail


@dataclass(frozen=True, slots=True)
class Document:
    """What `--json` writes and `eitherway report` reads."""

    findings: tuple[Finding, ...] = ()
    summary: Summary = field(default_factory=Summary)
    tool: str = ""
    version: str = ""
