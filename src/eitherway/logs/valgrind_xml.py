# SPDX-License-Identifier: Apache-2.0
"""Errors of Helgrind and DRD out of what `valgrind --xml=yes` writes, as it comes."""

from collections.abc import Iterator
from typing import BinaryIO, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from eitherway.logs.blocks import LONGEST, Tool
from eitherway.logs.frames import frame
from eitherway.logs.sections import Section
from eitherway.logs.valgrind import finding_in
from eitherway.model.finding import Finding, Frame

_AT_ONCE = 1 << 16
_LARGEST = 4 << 20  # bytes of one error: a real one has a few stacks
_ROOT = b"<valgrindoutput"
_TOOLS = {"helgrind": Tool.HELGRIND, "drd": Tool.DRD}


def is_xml(head: bytes) -> bool:
    """Whether a file begins so. Nothing is declared before the root: entities could not end."""
    before, found, _ = head.partition(_ROOT)
    return bool(found) and b"<!" not in before and before.lstrip()[:1] in (b"<", b"")


class ValgrindXml:
    """The errors of one file; `trouble` says where it could not be read any further."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.tool: Tool | None = None
        self.trouble = ""
        self.errors = 0
        self._held = 0  # bytes of what is not read yet
        self._created: dict[str, tuple[Frame, ...]] = {}

    def __iter__(self) -> Iterator[Finding | None]:
        """One for each error; None for one that is of another kind."""
        root: Element | None = None
        for event, element in self._events():
            root = element if root is None else root
            if event == "end" and element.tag in ("tool", "announcethread", "error"):
                yield from self._read(element)
                root.clear()  # what was read is not needed again
                self._held = 0

    def _events(self) -> Iterator[tuple[str, Element]]:
        parser: XMLPullParser[Element] = XMLPullParser(events=("start", "end"))
        try:
            while part := self._stream.read(_AT_ONCE):
                self._held += len(part)
                if self._held > _LARGEST:
                    self.trouble = f"what is told at once has more than {_LARGEST:,} bytes"
                    return
                parser.feed(part)
                yield from cast(Iterator[tuple[str, Element]], parser.read_events())
            parser.close()
        except ParseError as error:
            self.trouble = str(error)

    def _read(self, element: Element) -> Iterator[Finding | None]:
        if element.tag == "tool":
            self.tool = _TOOLS.get((element.text or "").strip())
        elif element.tag == "announcethread":
            number = element.findtext("hthreadid", "")
            if len(self._created) < LONGEST:
                self._created[f"thread #{number}"] = _stack(element.find("stack"))
        else:
            self.errors += 1
            yield finding_in(list(_sections(element)), self._created)


def _sections(error: Element) -> Iterator[Section]:
    section: Section | None = None
    for child in error:
        if child.tag in ("what", "auxwhat", "xwhat", "xauxwhat"):
            text = child.text if child.tag in ("what", "auxwhat") else child.findtext("text")
            if section is not None:
                yield section
            section = Section((text or "").strip())
        elif child.tag in ("stack", "allocation_context") and section is not None:
            section.stack.extend(_stack(child))
    if section is not None:
        yield section


def _stack(stack: Element | None) -> tuple[Frame, ...]:
    return () if stack is None else tuple(map(_frame, stack.iter("frame")))


def _frame(element: Element) -> Frame:
    file, folder = element.findtext("file", ""), element.findtext("dir", "")
    path = f"{folder}/{file}" if folder and file and not file.startswith("/") else file
    line = element.findtext("line", "")
    try:
        offset = int(element.findtext("ip", "0"), 16) & (2**64 - 1)
    except ValueError:
        offset = 0
    module = "" if path else element.findtext("obj", "")
    where = f"{path}:{line}" if path and line.isdecimal() else path
    return frame(element.findtext("fn", ""), where, module, offset if module else 0)
