# SPDX-License-Identifier: Apache-2.0
"""Reports of the kernel's concurrency sanitizer, as dmesg and syzbot show them."""

import re

from eitherway.logs.blocks import Block
from eitherway.logs.frames import kernel_frame
from eitherway.logs.sections import Section, sections
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World

_ACCESS = re.compile(
    r"(?:race at unknown origin, with )?(assert no (?:writes|accesses)|read-write|read|write)"
    r"(?: \((.*?)\))? to 0x[0-9a-f]+ of (\d+) bytes by (.*?):?$"
)
_HEADLINE = re.compile(rf"{_ACCESS.pattern}|value changed: |Reported by |BUG: KCSAN: ")
_TITLE = re.compile(r"BUG: KCSAN: (?:data-race|assert: race) in ")
_VALUE = re.compile(r"value changed: (.*)")


def finding_of(block: Block) -> Finding | None:
    """What a block tells; where only one access was caught, one side."""
    title = _TITLE.match(block.lines[0])
    parts = [
        part for part in sections(block.lines, kernel_frame, _HEADLINE) if _ACCESS.match(part.head)
    ]
    if title is None or not any(part.stack for part in parts):
        return None
    changed = next((found[1] for line in block.lines if (found := _VALUE.search(line))), "")
    return Finding(
        World.KERNEL,
        Kind.DATA_RACE,
        tuple(_side(part) for part in parts[:2]),
        reason=f"the value changed meanwhile: {changed}" if changed else "",
    )


def _side(part: Section) -> FoundOperation:
    found = _ACCESS.match(part.head)
    assert found is not None  # noqa: S101  chosen by this
    atomic = "atomic " if "marked" in (found[2] or "") else ""
    op = {"read-write": "update"}.get(found[1], found[1])
    frames: tuple[Frame, ...] = part.frames
    return FoundOperation(
        actor=found[4], op=f"{atomic}{op} of size {found[3]}", object="memory", stack=frames
    )
