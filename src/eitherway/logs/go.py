# SPDX-License-Identifier: Apache-2.0
"""Reports of Go's race detector, whose actors are goroutines."""

import re
from collections.abc import Iterator
from itertools import pairwise

from eitherway.logs.blocks import Block
from eitherway.logs.frames import go_frames
from eitherway.logs.sections import MOST
from eitherway.model.finding import Finding, FoundOperation, Frame
from eitherway.model.words import Kind, World

_ACCESS = re.compile(
    r"(?:Previous )?((?:atomic )?(?:read|write))(?: at 0x[0-9a-f]+)? by (.*?):$", re.IGNORECASE
)  # before Go 1.6 without the address
_MADE = re.compile(r"(Goroutine \d+) \(.*?\) created at:$")


def finding_of(block: Block) -> Finding | None:
    """What a block tells; None if neither side can be read."""
    parts = list(_parts(block.lines[1:]))
    created = {found[1].lower(): frames for head, frames in parts if (found := _MADE.match(head))}
    sides = [
        FoundOperation(
            actor=found[2],
            op=found[1].lower(),
            object="memory",
            stack=frames,
            created=created.get(found[2], ()),
        )
        for head, frames in parts
        if (found := _ACCESS.match(head))
    ]
    operations = tuple(reversed(sides))
    if not any(operation.stack for operation in operations):
        return None
    return Finding(World.THREADS, Kind.DATA_RACE, operations)


def _parts(lines: list[str]) -> Iterator[tuple[str, tuple[Frame, ...]]]:
    heads = [at for at, line in enumerate(lines) if _ACCESS.match(line) or _MADE.match(line)]
    for at, end in pairwise([*heads, len(lines)]):
        yield lines[at].strip(), go_frames(lines[at + 1 : end])[:MOST]
