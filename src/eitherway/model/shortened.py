# SPDX-License-Identifier: Apache-2.0
"""C++ names as people write them: `std::vector<std::string>`, without what nobody typed.

A demangled name spells out every default argument of a template of the standard library and the
inline namespaces that only versions of the library need. Those are left out, and nothing else: an
allocator or an order of the user's own stays. For reading only; what names are compared by is the
whole name (see `names`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from eitherway.model.names import LONGEST, hidden_operators, shown_operators

_VERSIONS = re.compile(r"\b(std::(?:chrono::|filesystem::)?)(?:__cxx11|__1|__ndk1|_V2)::")
_TAGS = re.compile(r"\[abi:\w+\]")
_SPLITS = re.compile(r"[<>,(){}]")
_CHARACTERS = {"char": "", "wchar_t": "w", "char8_t": "u8", "char16_t": "u16", "char32_t": "u32"}
_STREAMS = frozenset(
    f"{side}{stream}"
    for side in ("i", "o", "io", "")
    for stream in ("stream", "fstream", "stringstream")
) | {"streambuf", "filebuf", "stringbuf", "ios"}

Default = Callable[[list[str]], str]


def _of_first(template: str) -> Default:
    return lambda given: f"std::{template}<{given[0]}>"


def _pairs(given: list[str]) -> str:
    return f"std::allocator<std::pair<{given[0]} const, {given[1]}>>"


_ALLOCATED = {1: _of_first("allocator")}
_SORTED = {1: _of_first("less"), 2: _of_first("allocator")}
_HASHED = {1: _of_first("hash"), 2: _of_first("equal_to"), 3: _of_first("allocator")}
_MAPPED = {2: _of_first("less"), 3: _pairs}
_HASH_MAPPED = {2: _of_first("hash"), 3: _of_first("equal_to"), 4: _pairs}
_ADAPTED = {1: _of_first("deque")}
_TEXT = {1: _of_first("char_traits"), 2: _of_first("allocator")}
_DEFAULTS: dict[str, dict[int, Default]] = {
    **dict.fromkeys(("vector", "deque", "list", "forward_list"), _ALLOCATED),
    **dict.fromkeys(("set", "multiset"), _SORTED),
    **dict.fromkeys(("unordered_set", "unordered_multiset"), _HASHED),
    **dict.fromkeys(("map", "multimap"), _MAPPED),
    **dict.fromkeys(("unordered_map", "unordered_multimap"), _HASH_MAPPED),
    **dict.fromkeys(("stack", "queue"), _ADAPTED),
    "priority_queue": {1: _of_first("vector"), 2: _of_first("less")},
    "unique_ptr": {1: _of_first("default_delete")},
    "basic_string": _TEXT,
    "basic_string_view": {1: _of_first("char_traits")},
    **dict.fromkeys((f"basic_{stream}" for stream in _STREAMS), _TEXT),
}
_STANDARD = re.compile(r"(?<![\w:])std::(\w+)$")
_ITERATOR = re.compile(r"(?<![\w:])__gnu_cxx::__normal_iterator$")


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet: its sign, the arguments that ended, what is being read."""

    sign: str
    arguments: list[str] = field(default_factory=list[str])
    text: str = ""


@lru_cache(maxsize=1 << 14)
def shortened(name: str) -> str:
    """The name without the defaults of the standard library; any other text as it is."""
    if "std::" not in name or len(name) > LONGEST:
        return name
    text = _TAGS.sub("", _VERSIONS.sub(r"\1", hidden_operators(name)))
    opened = [_Open("")]
    end = 0
    for found in _SPLITS.finditer(text):
        opened[-1].text += text[end : found.start()]
        end = found.end()
        sign, top = found[0], opened[-1]
        if sign in "({<":
            opened.append(_Open(sign))
        elif sign == "," and top.sign == "<":
            top.arguments.append(top.text.strip())
            top.text = ""
        elif sign == ">" and top.sign == "<":
            opened.pop()
            before = opened[-1]
            before.text = _template(before.text, [*top.arguments, top.text.strip()])
        elif sign in ")}" and top.sign == {")": "(", "}": "{"}[sign]:
            opened.pop()
            opened[-1].text += f"{top.sign}{top.text}{sign}"
        elif sign in ",>":
            top.text += sign
        else:
            return name  # brackets that do not match: not a name that we know how to read
    if len(opened) > 1:
        return name
    return shown_operators(opened[0].text + text[end:])


def _template(name: str, given: list[str]) -> str:
    """The template with its arguments, without those that it would have by itself."""
    if _ITERATOR.search(name) and len(given) == 2 and "*" in given[0]:
        constant = "const_" if given[0].removesuffix("*").rstrip().endswith("const") else ""
        return f"{_ITERATOR.sub('', name)}{given[1]}::{constant}iterator"
    standard = _STANDARD.search(name)
    if standard is None:
        return f"{name}<{', '.join(given)}>"
    defaults = _DEFAULTS.get(standard[1], {})
    while (last := len(given) - 1) in defaults and given[last] == defaults[last](given):
        given = given[:-1]
    short = standard[1].removeprefix("basic_")
    if short != standard[1] and len(given) == 1 and given[0] in _CHARACTERS:
        return f"{name[: standard.start(1)]}{_CHARACTERS[given[0]]}{short}"
    return f"{name}<{', '.join(given)}>"
