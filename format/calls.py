# SPDX-License-Identifier: Apache-2.0
"""Reads system_calls.toml into values, and writes its C table, its Python table and its page."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("system_calls.toml")
ARGUMENTS = 6
TAKES = (
    "-", "descriptor", "second descriptor", "directory", "path", "link", "new path", "open flags",
    "at flags", "size", "position", "process", "signal", "number",
)  # fmt: skip
GIVES = ("nothing", "descriptor", "process", "two descriptors")
WAITS = ("never", "stream", "always", "time", "signal")
OWN, NOT_MODELLED = "own", "not_modelled"


class TableError(Exception):
    """system_calls.toml says something that cannot be."""


@dataclass(frozen=True, slots=True)
class Call:
    """One system call."""

    name: str
    x86_64: int
    aarch64: int
    takes: tuple[str, ...]
    gives: str
    waits: str
    fills: tuple[int, int] | None
    does: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """All calls: those with a meaning, and the numbers of the others by name."""

    calls: tuple[Call, ...]
    own: Mapping[str, int]
    not_modelled: Mapping[str, int]

    @property
    def last(self) -> int:
        """The largest number."""
        return max(
            *(call.x86_64 for call in self.calls), *self.own.values(), *self.not_modelled.values()
        )


def read(path: Path = SOURCE) -> Table:
    """The table, checked."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    own, not_modelled = data.pop(OWN), data.pop(NOT_MODELLED)
    table = Table(tuple(_call(name, body) for name, body in data.items()), own, not_modelled)
    for problem in _problems(table):
        raise TableError(problem)
    return table


def _call(name: str, body: Mapping[str, Any]) -> Call:
    fills = body.get("fills")
    return Call(
        name=name,
        x86_64=body["x86_64"],
        aarch64=body["aarch64"],
        takes=tuple(body.get("takes", ())),
        gives=body.get("gives", "nothing"),
        waits=body.get("waits", "never"),
        fills=None if fills is None else (fills[0], fills[1]),
        does=tuple(body["does"]),
    )


def _problems(table: Table) -> Iterator[str]:
    numbers = [call.x86_64 for call in table.calls]
    numbers += [*table.own.values(), *table.not_modelled.values()]
    if len(set(numbers)) != len(numbers):
        yield "two calls have one number"
    for call in table.calls:
        for what in call.takes:
            if what not in TAKES:
                yield f"{call.name} takes '{what}', which is nothing known"
        if call.gives not in GIVES or call.waits not in WAITS or len(call.takes) > ARGUMENTS:
            yield f"{call.name} gives, waits or takes what is not known"


_C_TOP = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* Written by format/generate.py from system_calls.toml: change that, then `make generate`. */
/* clang-format off */
#ifndef EITHERWAY_CALL_TABLE_H
#define EITHERWAY_CALL_TABLE_H
"""

_C_SHAPE = f"""
enum {{ FILLS_NOTHING = -2 }};

struct call_shape {{
  const char *name; /* NULL: not in the table */
  unsigned char takes[{ARGUMENTS}];
  unsigned char gives;
  unsigned char waits;
  signed char fills; /* argument, or -1: the result */
  unsigned char fills_bytes; /* 0: as many as the result says */
}};

#ifdef CALL_TABLE_ROWS
/* By the number on x86-64. */
static const struct call_shape call_shapes[] = {{"""


def to_c(table: Table) -> str:
    """The text of call_table.h."""
    words = (("TAKES", TAKES), ("GIVES", GIVES), ("WAITS", WAITS))
    enums = (f"enum {{ {', '.join(_word(name, word) for word in of)} }};" for name, of in words)
    rows = (f"  {_c_row(call)}," for call in sorted(table.calls, key=lambda call: call.x86_64))
    numbers = ", ".join(map(str, sorted(table.not_modelled.values())))
    others = [
        f"enum {{ LAST_KNOWN_CALL = {table.last} }};",
        f"static const unsigned short not_modelled[] = {{{numbers}}};",
    ]
    parts = [_C_TOP, *enums, _C_SHAPE, *rows, "};", "#endif", "", "#ifdef CALL_TABLE_OTHERS"]
    return "\n".join([*parts, *others, "#endif", "", "#endif", ""])


def _word(prefix: str, text: str) -> str:
    return f"{prefix}_{'NOTHING' if text == '-' else text.replace(' ', '_').upper()}"


def _c_row(call: Call) -> str:
    takes = ", ".join(_word("TAKES", what) for what in call.takes) or "0"
    argument, size = call.fills or (-2, 0)
    rest = f"{_word('GIVES', call.gives)}, {_word('WAITS', call.waits)}, {argument}, {size}"
    return f'[{call.x86_64}] = {{"{call.name}", {{{takes}}}, {rest}}}'


_PYTHON_TOP = '''\
# SPDX-License-Identifier: Apache-2.0
"""What system calls take and do.

Written by format/generate.py from format/system_calls.toml: change that, then run `make generate`.
"""

from typing import NamedTuple


class Shape(NamedTuple):
    """One system call."""

    name: str
    takes: tuple[str, ...]
    gives: str
    waits: str
    does: tuple[str, ...]


# By the number on x86-64.
CALLS: dict[int, Shape] = {'''


def to_python(table: Table) -> str:
    """The text of call_table.py."""
    lines = [_PYTHON_TOP]
    for call in sorted(table.calls, key=lambda call: call.x86_64):
        lines += [
            f"    {call.x86_64}: Shape(",
            f'        "{call.name}",',
            f"        {_texts(call.takes)},",
            f'        "{call.gives}",',
            f'        "{call.waits}",',
            *_long(call.does),
            "    ),",
        ]
    lines += ["}", "", "# The same calls by their numbers on aarch64.", _OTHERS]
    others = sorted((call.aarch64, call.x86_64) for call in table.calls if call.aarch64)
    lines += [f"    {aarch64}: {x86_64}," for aarch64, x86_64 in others]
    lines += ["}", "", "# Calls that can matter to others and are only counted.", _NAMES]
    by_number = sorted(table.not_modelled.items(), key=lambda pair: pair[1])
    lines += [f'    {number}: "{name}",' for name, number in by_number]
    return "\n".join([*lines, "}", ""])


_OTHERS = "ON_AARCH64: dict[int, int] = {"
_NAMES = "NOT_MODELLED: dict[int, str] = {"


def _texts(words: tuple[str, ...]) -> str:
    if len(words) == 1:
        return f'("{words[0]}",)'
    return "(" + ", ".join(f'"{word}"' for word in words) + ")"


def _long(words: tuple[str, ...]) -> list[str]:
    """On one line if it fits, else one word a line."""
    line = f"        {_texts(words)},"
    if len(line) <= _WIDTH:
        return [line]
    return ["        (", *(f'            "{word}",' for word in words), "        ),"]


_WIDTH = 100


def to_markdown(table: Table) -> str:
    """The table of docs/processes.md, and the calls that are not in it."""
    rows = (
        f"| `{call.name}` | {call.x86_64} | {call.aarch64 or ''} | {_waits(call)} "
        f"| {'; '.join(call.does)} |"
        for call in table.calls
    )
    heads = "| call | x86-64 | aarch64 | waits | does |\n|---|---|---|---|---|"
    others = [
        f"Only the process itself, or nobody, is concerned by: {_listed(table.own)}.",
        f"Counted, without a meaning: {_listed(table.not_modelled)}; and what is newer than these.",
    ]
    return "\n".join([heads, *rows, "", others[0], "", others[1]])


def _listed(names: Mapping[str, int]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _waits(call: Call) -> str:
    return "" if call.waits == "never" else call.waits
