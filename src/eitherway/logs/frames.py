# SPDX-License-Identifier: Apache-2.0
"""Stack frames as each tool writes them; None where a line is none."""

import re

from eitherway.model.finding import Frame

_HEX = 16
_BUILD_ID = re.compile(r" \(BuildId: [0-9a-f]*\)$")
_MODULE = re.compile(r" \(([^()]*)\+0x([0-9a-f]+)\)$")
_NUMBERED = re.compile(r"\s*#\d+ ")
_PLACE = re.compile(r"(.*?)(?::(\d+))?(?::(\d+))?$")
_LARGEST = 2**32 - 1
_UNKNOWN = frozenset({"", "<null>", "??", "???", "(null)"})


def sanitizer_frame(line: str) -> Frame | None:
    """`    #0 f(int) /a/b.c:12:3 (module+0x12ab) (BuildId: 0f)`."""
    numbered = _NUMBERED.match(line)
    if numbered is None:
        return None
    rest = _BUILD_ID.sub("", line[numbered.end() :].rstrip())
    module, offset = "", 0
    if found := _MODULE.search(rest):
        module, offset = found[1], int(found[2][:_HEX], _HEX)
        rest = rest[: found.start()]
    absolute = rest.find(" /")
    function, _, where = (
        (rest[:absolute], "", rest[absolute + 1 :]) if absolute > 0 else rest.rpartition(" ")
    )
    return frame(function or where, where if function else "", module, offset)


def frame(function: str, where: str, module: str = "", offset: int = 0) -> Frame:
    """From the words of a tool; what it does not know is empty."""
    file, line, column = "", 0, 0
    found = _PLACE.match(where)
    if found and found[1] not in _UNKNOWN:
        file = found[1]
        line, column = (_number(found[index]) for index in (2, 3))
    known = "" if function in _UNKNOWN else function
    return Frame(known, file, line, column, "" if module in _UNKNOWN else module, offset)


def _number(text: str | None) -> int:
    digits = (text or "0")[:12]
    return min(int(digits), _LARGEST)


_VALGRIND = re.compile(r"\s*(?:at|by) 0x([0-9A-Fa-f]+): (.*)")


def valgrind_frame(line: str) -> Frame | None:
    """`   by 0x1091BC: f(int) (b.c:12)`, or `(in /lib/x.so)`."""
    found = _VALGRIND.match(line)
    if found is None:
        return None
    words = found[2].rstrip()
    at = words.rfind(" (") if words.endswith(")") else -1
    function, where = (words[:at], words[at + 2 : -1]) if at >= 0 else (words, "")
    if where.startswith("in "):
        return frame(function, "", where[3:], int(found[1][-_HEX:], _HEX))
    if at >= 0 and ":" not in where:  # parameters, no place
        return frame(words, "")
    return frame(function, where)


_GO_FUNCTION = re.compile(r"  (\S.*?)\(\)$|  (\S[^()]*)\(.*\)$")
_GO_PLACE = re.compile(r"      (\S.*):(\d+)(?: \+0x([0-9a-f]+))?$")


def go_frames(lines: list[str]) -> tuple[Frame, ...]:
    """Two lines each: the function, and its place behind more spaces."""
    found: list[Frame] = []
    function = ""
    for line in lines:
        if place := _GO_PLACE.match(line):
            found.append(frame(function, f"{place[1]}:{place[2]}"))
            function = ""
        elif named := _GO_FUNCTION.match(line):
            function = named[1] or named[2]
    return tuple(found)


_KERNEL = re.compile(
    r"\s+([\w.$]+)(?:\+0x([0-9a-f]+)/0x[0-9a-f]+)?(?: \[(\w+)\])?"
    r"(?: \(?([^\s()]+:\d+)(?: \(discriminator \d+\))?\)?)?( \[inline\])?(?: (\w+))?$"
)


def kernel_frame(line: str) -> Frame | None:
    """` f+0x12/0x34 [module] fs/f.c:12`; of an inlined function the offset is missing.

    Or ` f (fs/f.c:12 (discriminator 3)) module`, as the kernel's decode_stacktrace.sh has it.
    """
    found = _KERNEL.match(line.rstrip())
    if found is None or not (found[2] or found[4]):
        return None
    offset = int(found[2][:_HEX], _HEX) if found[2] else 0
    module = found[3] or found[6] or ""
    made = frame(found[1], found[4] or "", module, offset if module else 0)
    return Frame(
        made.function, made.file, made.line, made.column, made.module, made.offset, bool(found[5])
    )
