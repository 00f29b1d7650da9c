# SPDX-License-Identifier: Apache-2.0
"""A block as its sections: a headline, and the stack below it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from eitherway.model.finding import Frame

MOST = 256  # frames of a stack, as of our own
CRASHED = "the tool saw the crash, and not what it depends on"


@dataclass(slots=True)
class Section:
    """A line that is no frame, and the frames that follow it."""

    head: str
    stack: list[Frame] = field(default_factory=list)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """At most as many as a person is shown."""
        return tuple(self.stack[:MOST])


def sections(
    lines: Iterable[str],
    frame_of: Callable[[str], Frame | None],
    headline: re.Pattern[str],
) -> Iterator[Section]:
    """In order. What is neither a frame nor a headline is somebody else's output."""
    section: Section | None = None
    for line in lines:
        if headline.match(line):
            if section is not None:
                yield section
            section = Section(line.strip())
        elif section is not None and (frame := frame_of(line)) is not None:
            section.stack.append(frame)
    if section is not None:
        yield section
