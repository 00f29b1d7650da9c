# SPDX-License-Identifier: Apache-2.0
"""Errors of Helgrind and DRD, from their text or from the same words in their XML.

DRD tells one access and, of the other side, where a thread was before and after it: that is no
access, so such a finding has one side.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eitherway.logs.blocks import Block
from eitherway.logs.frames import valgrind_frame
from eitherway.logs.mangled import variable_name
from eitherway.logs.sections import CRASHED, Section, sections
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World

_HEADLINE = re.compile(r"(?!\s*(?:at|by) 0x)\s*\S")  # every line is the tool's own
_AT = "0x[0-9A-Fa-f]+"
_RACE = re.compile(
    r"(?:Possible data race during|This conflicts with a previous) (read|write) of size (\d+)"
    r".*? by (thread #\d+)"
)
_DRD_RACE = re.compile(rf"Conflicting (load|store) by (thread \d+) at {_AT} size (\d+)")
_HELD = re.compile(r"Locks held: \d+, at address(?:es)? (.*)")
_SYMBOL = re.compile(rf'Address {_AT} is \d+ bytes inside data symbol "(.*)"')
_VARIABLE = re.compile(rf'Location {_AT} is \d+ bytes inside (?:global|local) var "(.*?)"')
_HEAP = re.compile(rf"Address {_AT} is \d+ bytes inside a block of size ([\d,]+) (?:alloc|free)'d")
_DRD_HEAP = re.compile(rf"Address {_AT} is at offset \d+ from {_AT}\.")
_DRD_SECTION = re.compile(r"Allocation context: (?:BSS|[Dd]ata) section")
_ON_STACK = re.compile(rf"Address {_AT} is on (thread #\d+)'s stack")
_ORDER = re.compile(rf'(Thread #\d+): lock order "({_AT}) before {_AT}" violated')
_ACQUIRED = re.compile(rf".*\bacquisition of lock at ({_AT})")
_SEEN_LOCK = re.compile(rf"Lock at ({_AT}) was first observed")
_MISUSE = re.compile(
    r"(?:(Thread #\d+)(?:: |'s | ))?"
    r"(.*(?:lock|mutex|condition variable|semaphore|barrier|\bpthread_|\bsem_).*)",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"(?: at(?: address)?)? 0x[0-9a-fA-F]+|: (?:mutex|rwlock|cond|semaphore|barrier) 0x.*"
)
_CRASH = re.compile(
    r"Process terminating with default action of .*\((SIG(?:SEGV|BUS|ABRT|FPE|ILL))\)"
)
_WORDS = {"load": "read", "store": "write"}


def finding_of(block: Block) -> Finding | None:
    """From the lines of a text."""
    parts = list(sections(block.lines, valgrind_frame, _HEADLINE))
    created = {
        f"thread #{number}": tuple(filter(None, map(valgrind_frame, lines)))
        for number, lines in block.created.items()
    }
    return finding_in(parts, created)


def finding_in(
    parts: Sequence[Section], created: Mapping[str, tuple[Frame, ...]]
) -> Finding | None:
    """From headlines with the stacks below them."""
    if not parts:
        return None
    if _RACE.match(parts[0].head) or _DRD_RACE.match(parts[0].head):
        return _race(parts, created)
    if _ORDER.match(parts[0].head):
        return _deadlock(parts)
    if found := _CRASH.match(parts[0].head):
        return _done(parts, Kind.FAILURE, FoundOperation("a thread", found[1], ""), CRASHED)
    if found := _MISUSE.match(parts[0].head):
        op = _WHICH.sub("", found[2]).rstrip(".")
        side = FoundOperation((found[1] or "a thread").lower(), op, "mutex")
        return _done(parts, Kind.LOCK_MISUSE, side)
    return None


def _race(parts: Sequence[Section], created: Mapping[str, tuple[Frame, ...]]) -> Finding | None:
    sides: list[FoundOperation] = []
    object_, variable, allocated = _touched(parts)
    locks: tuple[str, ...] = ()
    words = actor = ""
    for part in parts:
        if found := _RACE.match(part.head):
            words, actor, locks = f"{found[1]} of size {found[2]}", found[3], ()
        elif found := _DRD_RACE.match(part.head):
            words, actor, locks = f"{_WORDS[found[1]]} of size {found[3]}", found[2], ()
        elif found := _HELD.match(part.head):
            locks = tuple(f"lock at {lock}" for lock in found[1].split())
        if words and part.stack:
            side = FoundOperation(
                actor=actor,
                op=words,
                object=object_,
                variable=variable,
                stack=part.frames,
                locks=locks,
                created=created.get(actor, ()),
                allocated=allocated,
            )
            sides.append(side)
            words = ""
    return Finding(World.THREADS, Kind.DATA_RACE, tuple(reversed(sides))) if sides else None


_Touched = tuple[str, str, tuple[Frame, ...]]  # the object, its name, where it was allocated

_LOCATIONS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Section], _Touched]], ...] = (
    (_SYMBOL, lambda found, _: ("global", variable_name(found[1]), ())),
    (_VARIABLE, lambda found, _: ("global", found[1], ())),
    (_HEAP, lambda found, part: (f"heap block of {_digits(found[1])} bytes", "", part.frames)),
    (_DRD_HEAP, lambda _, part: ("heap block", "", part.frames)),
    (_DRD_SECTION, lambda _found, _part: ("global", "", ())),
    (_ON_STACK, lambda found, _: (f"stack of {found[1]}", "", ())),
)


def _touched(parts: Sequence[Section]) -> _Touched:
    for part in parts:
        for pattern, tell in _LOCATIONS:
            if found := pattern.match(part.head):
                return tell(found, part)
    return "memory", "", ()


def _digits(number: str) -> str:
    return number.replace(",", "")


def _deadlock(parts: Sequence[Section]) -> Finding | None:
    """Two actors, of whom one is known; each takes one lock and then the other.

    XML has only the second of what that one takes, right below the headline.
    """
    names = _lock_names(parts)
    first = _ORDER.match(parts[0].head)
    actor = first[1].lower() if first else "a thread"
    acquired = [(found[1], part.frames) for part in parts if (found := _ACQUIRED.match(part.head))]
    if first and parts[0].stack:
        acquired.insert(0, (first[2], parts[0].frames))
    own = 1 if parts[0].stack else 2
    operations = tuple(
        FoundOperation(
            actor=actor if number < own else "another thread",
            op="lock",
            object="mutex",
            variable=names.get(lock.lower(), ""),
            stack=frames,
        )
        for number, (lock, frames) in enumerate(acquired)
        if frames
    )
    return Finding(World.THREADS, Kind.DEADLOCK, operations) if operations else None


def _lock_names(parts: Sequence[Section]) -> dict[str, str]:
    names: dict[str, str] = {}
    lock = ""
    for part in parts:
        if found := _SEEN_LOCK.match(part.head):
            lock = found[1].lower()
        elif lock and (found := _SYMBOL.match(part.head)):
            names[lock] = variable_name(found[1])
    return names


def _done(
    parts: Sequence[Section], kind: Kind, side: FoundOperation, reason: str = ""
) -> Finding | None:
    """What one thread did, at the first place that is told of it."""
    stack = next((part.frames for part in parts if part.stack), ())
    if not stack:
        return None
    return Finding(World.THREADS, kind, (replace(side, stack=stack),), reason=reason)
